"""The step of the machine that carries a batch at a provider."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.batching import batching
from functions.composition.work import run
from functions.observability import count_step, logger, publishing
from functions.steps import StepReferences, step_output
from touchstone.clock import Deadline


class ProviderBatchReferences(StepReferences):
    """The tenant's batch at a provider that a step is about."""

    named_by = "provider_batch_id"

    provider_batch_id: str


@publishing
def advance(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """ADVANCE: carries a batch on, and says when to go on again.

    Questions that it puts back into the line are left to the next drain.
    """
    from touchstone.operations.provider_batches import advancing

    references = ProviderBatchReferences.model_validate(event)
    logger.append_keys(**references.logged)
    deadline = Deadline.after(context.get_remaining_time_in_millis() / 1000)
    progress = run(advancing.advance(batching(references.tenant), references.provider_batch_id, deadline=deadline))
    count_step("ProviderBatch", progress.state, progress.reason)
    return step_output(progress)
