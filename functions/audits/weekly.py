"""WEEKLY: begins the audits that are made again each week."""

from collections.abc import Mapping
from typing import Any

from functions.composition.audits import weekly
from functions.observability import measure, note, publishing


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Begin what is due."""
    begun = weekly().run()
    note("weekly audits", begun=begun.restarted)
    measure("Stuck", begun.stuck)
    return {"begun": begun.restarted, "stuck": begun.stuck}
