"""The drain of deferred evaluations: one step, as far as the budget and the time admit."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.work import drain, run
from functions.observability import count_evaluation, logger, note, publishing
from functions.pauses import seconds_until
from touchstone.clock import Deadline


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Work off the backlog, and say whether to go on and from when."""
    owner = str(event["execution_id"])
    logger.append_keys(correlation_id=owner)
    deadline = Deadline.after(context.get_remaining_time_in_millis() / 1000)
    drained = run(drain().run(owner=owner, deadline=deadline))
    for outcome in drained.outcomes:
        count_evaluation(outcome)
    note("drained", finished=drained.finished, put_back=drained.put_back)
    return {"state": drained.state, "wait_seconds": seconds_until(drained.until), "finished": drained.finished}
