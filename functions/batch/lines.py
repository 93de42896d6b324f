"""The second step of a batch: the lines of one chunk."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.work import bulk_evaluations, line_work, run
from functions.observability import count_verdict, logger, publishing
from touchstone.clock import Deadline
from touchstone.operations.chunks import Chunk

RESERVE_SECONDS = 60.0
"""Left of the function's time for storing what was done."""


@cache
def load_checks() -> None:
    """Load the mathematics once a process, by a proof that needs it.

    The first lines' checks would otherwise spend their seconds on that, and a judge be paid for what they can prove.
    """
    from touchstone.checks import prove_answer

    prove_answer("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 3")


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do the chunk's lines; what they came to is in the table and the bucket."""
    chunk = Chunk.model_validate(event)
    load_checks()
    logger.append_keys(tenant=chunk.tenant, correlation_id=chunk.batch_id)
    deadline = Deadline.after(context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS)
    try:
        batch = run(line_work(chunk.tenant, ended=count_verdict).run(chunk, deadline=deadline))
    finally:
        bulk_evaluations().start()
    return {"done": batch.done, "failed": batch.failed}
