"""PURGE: removes records whose retention is over, once a day; see `touchstone.operations.purging`."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.work import purging
from functions.observability import measure, note, publishing
from touchstone.clock import Deadline

RESERVE_SECONDS = 60.0
"""The part of the function's time that is kept free for finishing the removal of the current record."""


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Purge until the function's time is nearly used up. Return the counts of what was removed."""
    remaining = context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS
    purged = purging().run(deadline=Deadline.after(remaining))
    measure("Stuck", purged.stuck)
    note("purged", stuck=purged.stuck, whole=purged.whole, files=purged.files, removed=dict(purged.removed))
    return {
        "removed": dict(purged.removed),
        "files": purged.files,
        "stuck": purged.stuck,
        "whole": purged.whole,
    }
