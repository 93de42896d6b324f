"""The preparation of a contest's finalists for comparison: each is read once, and kept for all dimensions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, follow_up, with_judge
from touchstone.operations.tasks.context import TaskContext, TaskProgress
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.entries import FinalistEntry, ReadEntry, read_entry, whole_entry
from touchstone.oracle.model import DimensionScore, Unjudged
from touchstone.oracle.passages import Passage
from touchstone.oracle.submission import Submission, paid, put_back
from touchstone.oracle.task import Task, TaskState

INTERRUPTED = "Each try to read it was interrupted before there was a result."


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalistsRead:
    """The ids of the finalists that can be compared, in the given order, and why others cannot be read, by their id."""

    ready: tuple[str, ...]
    unreadable: Mapping[str, Unjudged]


async def read_finalists(
    context: TaskContext,
    task: Task,
    finalists: Sequence[Submission],
    *,
    judge: Callable[[], Judge],
    deadline: Deadline,
    during: frozenset[TaskState],
    overdue: bool = False,
    opinion: Challenge | None = None,
) -> FinalistsRead | TaskProgress:
    """Read each finalist that is not read yet. The progress is `waiting` if a finalist is to be tried again.

    `deadline` is for all finalists together: what was read by then is kept, section by section. `during` are the states
    of the task in which reading is allowed. A finalist whose text can be shown whole needs no judge. If `overdue`, a
    missing key, quota or budget is not waited for any more; other tries end by their own limit. `opinion` is a
    challenge: its submission is read for this challenge only, with the scores of the second opinion.
    """
    ready: list[str] = []
    unreadable: dict[str, Unjudged] = {}
    reading = _Reading(
        context=context, task=task, judge=judge, deadline=deadline, during=during, overdue=overdue, opinion=opinion
    )
    for finalist in finalists:
        match await _read(reading, finalist):
            case None:
                ready.append(finalist.id)
            case Unjudged() as why:
                unreadable[finalist.id] = why
            case TaskProgress() as waiting:
                return waiting
    return FinalistsRead(ready=tuple(ready), unreadable=unreadable)


def begin_round(context: TaskContext, task: Task, finalists: Sequence[str], *, round_id: str) -> TaskProgress:
    """Store that the finalists are to be compared on every dimension: `comparing`."""
    dimensions = tuple(dimension.id for dimension in task.dimensions)
    context.comparisons.begin_round(task.ref, round_id=round_id, dimensions=dimensions, finalists=finalists)
    return TaskProgress(state="comparing", dimensions=dimensions)


def entry_of(
    context: TaskContext,
    task_id: str,
    submission_id: str,
    *,
    scores: Sequence[DimensionScore] | None = None,
    opinion: Challenge | None = None,
) -> FinalistEntry:
    """A finalist as it was read. `scores` replace the scores with which it was read, if they have changed since.

    `opinion` as in `read_finalists`. Raises `NotFoundError` if the finalist was not read, or its text was deleted
    since.
    """
    text = context.scratch.get_text(tenant=context.tenant, key=_key(context, task_id, submission_id, opinion))
    entry = FinalistEntry.model_validate_json(text)
    return entry if scores is None else entry.model_copy(update={"individual": tuple(scores)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """The arguments of `read_finalists` that are the same for all finalists."""

    context: TaskContext
    task: Task
    judge: Callable[[], Judge]
    deadline: Deadline
    during: frozenset[TaskState]
    overdue: bool
    opinion: Challenge | None


def _key(context: TaskContext, task_id: str, submission_id: str, opinion: Challenge | None) -> str:
    name = submission_id
    if opinion is not None and opinion.submission_id == submission_id:
        name = f"{opinion.id}-{submission_id}"
    return f"{context.tenant}/tasks/{task_id}/{name}.json"


def _known(reading: _Reading, finalist: Submission) -> tuple[tuple[DimensionScore, ...], tuple[Passage, ...]]:
    """A finalist's individual scores, and its passages that address the grader, from the opinion that counts."""
    opinion = reading.opinion
    if opinion is not None and opinion.scoring is not None and opinion.submission_id == finalist.id:
        return opinion.scoring.dimension_scores, opinion.passages
    return () if finalist.individual is None else finalist.individual.dimension_scores, finalist.passages


async def _read(reading: _Reading, finalist: Submission) -> Unjudged | TaskProgress | None:
    """Read a finalist. None if it is read, else why it cannot be read, or until when to wait for another try."""
    context = reading.context
    key = _key(context, reading.task.id, finalist.id, reading.opinion)
    if context.scratch.exists(tenant=context.tenant, key=key):
        return None
    scores, passages = _known(reading, finalist)
    text = context.submissions.text(finalist)
    whole = await whole_entry(finalist.id, text, scores, passages=passages)
    if whole is not None:
        context.scratch.put_text(tenant=context.tenant, key=key, text=whole.model_dump_json())
        return None
    finalist, ours = context.judgements.begin(finalist.ref, at=finalist.state, during=reading.during)
    if not ours:
        if finalist.attempts.must_wait(context.clock()):
            return TaskProgress(state="waiting", until=finalist.attempts.not_before)
        return finalist.failure or Unjudged(stage="reading", reason="timed_out", details=(INTERRUPTED,))

    began = finalist.submitted_at if reading.opinion is None else reading.opinion.created_at

    async def read(one: Judge) -> ReadEntry | NotScored:
        return await read_entry(
            finalist.id,
            text,
            scores,
            brief=reading.task.request.brief,
            dimensions=reading.task.dimensions,
            judge=WorkJudge(one, began),
            deadline=reading.deadline,
            passages=passages,
            use_cache=finalist.attempts.tries == 0,
        )

    tried = await with_judge(context, reading.judge, read)
    if isinstance(tried.found, ReadEntry):
        context.scratch.put_text(tenant=context.tenant, key=key, text=tried.found.entry.model_dump_json())
        _pay(context, finalist, tried.found.spends)
        return None
    return _after(reading, finalist, tried.found, provider=tried.provider)


def _pay(context: TaskContext, finalist: Submission, spends: Sequence[Spend]) -> None:
    context.judgements.change(finalist.ref, lambda one: paid(one, spends))


def _after(reading: _Reading, finalist: Submission, found: NotScored, *, provider: str) -> Unjudged | TaskProgress:
    """Why a finalist cannot be read, or until when to wait for another try."""
    context = reading.context
    why = Unjudged.of("reading", found)
    match follow_up(found, attempts=finalist.attempts, provider=provider, now=context.clock()):
        case Postponed(until=until, ended=ended) if ended == "unread" or not reading.overdue:
            step = partial(put_back, why=why, until=until, ended=ended)
            context.judgements.judged(finalist.ref, step, spends=found.spends, during=reading.during)
            return TaskProgress(state="waiting", until=until, reason=why.reason)
        case Postponed() | GivenUp():
            _pay(context, finalist, found.spends)
            return why
