"""The trace of a record as a tenant's admin may see it."""

from functions.composition import stores
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.tracing import TraceView
from touchstone.records.traces import NONE_KEPT, is_traced
from touchstone.references import Reference

OPEN = (
    "What judges were asked for a submission is told once its task is closed: until then nobody but its author reads "
    "what was found of it."
)


def trace_of(tenant: str, record_id: str, cursor: str | None) -> TraceView:
    """A page of what was asked for a record.

    Raises `NotFoundError` where nothing is kept, and `ConflictError` for a submission to a task that is not closed.
    """
    task_id, of_task, _ = record_id.partition(".")
    if of_task and is_traced(record_id):
        task = stores.tasks().find(Reference(tenant, "task", task_id))
        if task is None:
            raise NotFoundError(NONE_KEPT)
        if task.closed_at is None:
            raise ConflictError(OPEN)
    return stores.traces().read(tenant=tenant, record_id=record_id, cursor=cursor)
