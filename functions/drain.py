"""The drain of deferred evaluations: it gathers those for batches, and asks the others as the budget admits."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.composition.batching import gathering
from functions.composition.stores import leave_quotas
from functions.composition.work import drain, run
from functions.observability import count_evaluation, log_fault, logger, note, publishing
from functions.steps import seconds_until
from touchstone.clock import Deadline


def _gather(owner: str, deadline: Deadline) -> Exception | None:
    """Put the evaluations that wait for a batch into one.

    An error is returned, not raised: it must not stop the evaluations that go by no batch.
    """
    try:
        gathered = run(gathering().run(owner=owner, deadline=deadline))
    except Exception as error:  # noqa: BLE001 - raised when the drain has done what it can
        log_fault("What waits for a batch could not be gathered", error)
        return error
    if gathered.batches or gathered.at_once:
        note("gathered", batches=gathered.batches, questions=gathered.questions, at_once=gathered.at_once)
    return None


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Work off the backlog. Say whether the machine goes on, and after how many seconds."""
    owner = str(event["execution_id"])
    logger.append_keys(correlation_id=owner)
    deadline = Deadline.after(context.get_remaining_time_in_millis() / 1000)
    shard = int(event.get("shard", 0))
    try:
        fault = _gather(owner, deadline) if shard == 0 else None
        drained = run(drain(shard).run(owner=owner, deadline=deadline))
    finally:
        leave_quotas()
    for outcome in drained.outcomes:
        count_evaluation(outcome)
    note("drained", finished=drained.finished, put_back=drained.put_back)
    if fault is not None and drained.state != "continue":
        raise fault
    return {"state": drained.state, "wait_seconds": seconds_until(drained.until), "finished": drained.finished}
