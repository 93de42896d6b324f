"""The finalists of a contest made ready to be compared: read once, and kept for all dimensions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.checked import NotScored
from touchstone.operations.deferral import GivenUp, Postponed
from touchstone.operations.tasks.desk import Progress, TaskDesk
from touchstone.operations.tasks.trying import follow_up, with_judge
from touchstone.oracle.entries import Entry, EntryRead, read_entry
from touchstone.oracle.model import DimensionScore
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task, TaskState
from touchstone.oracle.unjudged import Unjudged

INTERRUPTED = "Each try to read it was interrupted before there was a result."


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalistsRead:
    """Those that can be compared, in the order in which they came, and those that nobody could read, and why."""

    ready: tuple[str, ...]
    unreadable: Mapping[str, Unjudged]


async def read_finalists(
    desk: TaskDesk,
    task: Task,
    finalists: Sequence[Submission],
    *,
    judge: Callable[[], Judge],
    deadline: Deadline,
    during: frozenset[TaskState],
    overdue: bool = False,
) -> FinalistsRead | Progress:
    """Read each finalist that is not read yet; `waiting` where one is to be tried again.

    `deadline` is that of all together: what was read by then is kept, section by section. `during` are the states of
    the task in which this may happen. One that can be shown whole needs no judge. `overdue`: a want of a key, a quota
    or money is waited for no more; tries that count end by themselves.
    """
    ready: list[str] = []
    unreadable: dict[str, Unjudged] = {}
    for finalist in finalists:
        match await _read(desk, task, finalist, judge=judge, deadline=deadline, during=during, overdue=overdue):
            case None:
                ready.append(finalist.id)
            case Unjudged() as why:
                unreadable[finalist.id] = why
            case Progress() as waiting:
                return waiting
    return FinalistsRead(ready=tuple(ready), unreadable=unreadable)


def begin_round(desk: TaskDesk, task: Task, finalists: Sequence[str], *, round_id: str) -> Progress:
    """Put down that these are to be compared on every dimension: `comparing`."""
    dimensions = tuple(dimension.id for dimension in task.dimensions)
    desk.comparisons.begin_round(
        tenant=desk.tenant, task_id=task.id, round_id=round_id, dimensions=dimensions, finalists=finalists
    )
    return Progress(state="comparing", dimensions=dimensions)


def entry_of(desk: TaskDesk, task_id: str, submission_id: str, scores: Sequence[DimensionScore] | None = None) -> Entry:
    """A finalist as it was read. `scores`: its own where they are not those any more that it was read with.

    Raises `NotFoundError` for one that was not read, or was forgotten since.
    """
    entry = Entry.model_validate_json(desk.scratch.get_text(tenant=desk.tenant, key=_key(desk, task_id, submission_id)))
    return entry if scores is None else entry.model_copy(update={"individual": tuple(scores)})


def _key(desk: TaskDesk, task_id: str, submission_id: str) -> str:
    return f"{desk.tenant}/tasks/{task_id}/{submission_id}.json"


async def _read(
    desk: TaskDesk,
    task: Task,
    finalist: Submission,
    *,
    judge: Callable[[], Judge],
    deadline: Deadline,
    during: frozenset[TaskState],
    overdue: bool,
) -> Unjudged | Progress | None:
    """None where a finalist is read, else why it cannot be, or until when to wait for another try."""
    if desk.scratch.exists(tenant=desk.tenant, key=_key(desk, task.id, finalist.id)):
        return None
    finalist, ours = desk.judgements.begin(finalist.ref, at=finalist.state, during=during)
    if not ours:
        if finalist.attempts.held(desk.clock()):
            return Progress(state="waiting", until=finalist.attempts.not_before)
        return finalist.failure or Unjudged(stage="reading", reason="timed_out", details=(INTERRUPTED,))
    scores = () if finalist.individual is None else finalist.individual.dimension_scores

    async def read(one: Judge) -> EntryRead | NotScored:
        return await read_entry(
            finalist.id,
            desk.submissions.text(finalist),
            scores,
            brief=task.request.brief,
            dimensions=task.dimensions,
            judge=one,
            deadline=deadline,
            passages=finalist.passages,
            use_cache=finalist.attempts.tries == 1,
        )

    tried = await with_judge(desk, judge, read)
    found = tried.found
    if isinstance(found, EntryRead):
        desk.scratch.put_text(
            tenant=desk.tenant, key=_key(desk, task.id, finalist.id), text=found.entry.model_dump_json()
        )
        return None
    why = Unjudged.of("reading", found)
    match follow_up(found, tries=finalist.attempts.tries, provider=tried.provider, now=desk.clock()):
        case GivenUp():
            return why
        case Postponed(counted=False) if overdue:
            return why
        case Postponed(until=until, counted=counted):
            desk.judgements.put_back(
                finalist.ref, why=why, until=until, counted=counted, spends=found.spends, during=during
            )
            return Progress(state="waiting", until=until, reason=why.reason)
