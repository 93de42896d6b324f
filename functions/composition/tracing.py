"""The trace of a record, the calls to judges for it, as a tenant's admin may see it."""

from collections.abc import Iterator

from functions.composition import stores
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.tracing import TraceView
from touchstone.records.traces import NONE_KEPT, is_traced
from touchstone.records.ulids import is_ulid
from touchstone.references import Reference

OPEN = (
    "What judges were asked for a submission is told once its task is closed: until then nobody but its author reads "
    "what was found of it."
)


def trace_of(tenant: str, record_id: str, cursor: str | None) -> TraceView:
    """A page of the calls to judges for a record; it has no calls if no judge was asked because checks decided.

    Raises `NotFoundError` if nothing is kept, and `ConflictError` for a submission to a task that is not closed.
    """
    task_id, of_task, _ = record_id.partition(".")
    if of_task and is_traced(record_id):
        task = stores.tasks().find(Reference(tenant, "task", task_id))
        if task is None:
            raise NotFoundError(NONE_KEPT)
        if task.closed_at is None:
            raise ConflictError(OPEN)
    try:
        return stores.traces().read(tenant=tenant, record_id=record_id, cursor=cursor)
    except NotFoundError:
        if not is_ulid(record_id) or not any(_asked_nobody(tenant, record_id)):
            raise
        return TraceView(id=record_id, calls=(), cursor=None)


def _asked_nobody(tenant: str, record_id: str) -> Iterator[bool]:
    """For each kind that has a record of this id and can do without judges: whether the record asked none.

    Nothing is yielded if no such kind has a record of this id.
    """
    answer = stores.answers().find(Reference(tenant, "answer", record_id))
    if answer is not None:
        yield not answer.spends
    measurement = stores.measurements().find(Reference(tenant, "measurement", record_id))
    if measurement is not None:
        yield not any(measurement.spends())
    quiz = stores.quizzes().find(Reference(tenant, "quiz", record_id))
    if quiz is not None:
        yield not quiz.spends
    experiment = stores.experiments().find(Reference(tenant, "experiment", record_id))
    if experiment is not None and experiment.plan is not None:
        yield experiment.plan.estimate.calls[1] == 0
