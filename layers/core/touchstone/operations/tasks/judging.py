"""The steps of one submission: its gate check and its individual scoring. A stage whose judge failed is tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import random
from typing import TYPE_CHECKING, Literal

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.after_failure import GivenUp, Paid, Postponed, follow_up, with_judge
from touchstone.operations.jobs.context import any_threshold
from touchstone.operations.jobs.traced import tracing_calls
from touchstone.operations.tasks.context import SETTLED_WITHIN, TaskContext, TaskProgress
from touchstone.oracle import submission as steps
from touchstone.oracle.material import ReadSubmission, SubmissionJudging
from touchstone.oracle.model import Stage, Unjudged
from touchstone.oracle.submission import Submission, SubmissionState
from touchstone.oracle.task import Task
from touchstone.references import Reference, submission_name

if TYPE_CHECKING:
    from touchstone.oracle.gate import GateResult
    from touchstone.oracle.scoring import ScoringResult

JUDGE_SECONDS = 780.0
"""For one stage: the longest submission is read in twenty sections, four at a time, and read again without the passages
that address the grader. Two of the fifteen minutes of the step's function are left."""
LONGEST_SPREAD = timedelta(minutes=10)
INTERRUPTED = "Each try was interrupted before there was a result."


async def check(context: TaskContext, ref: Reference, *, deadline: Deadline | None = None) -> TaskProgress:
    """The gate check: `gate_passed`, `gate_failed`, `unscored`, `overtaken`, or `waiting` for another try.

    `deadline` None: `JUDGE_SECONDS` from now. A repeat asks nobody.
    """
    submission, ours = context.judgements.begin(ref, at="received")
    if not ours:
        _close_by(context, submission)  # an earlier step may have stored the scores and then broken off
        return _nothing_to_do(context, submission, at="received", stage="gate")
    from touchstone.oracle.gate_panel import check_gate_by_judges

    task = context.task(submission.task_id)

    async def work(judging: SubmissionJudging, read: ReadSubmission) -> GateResult | NotScored:
        return await check_gate_by_judges(
            judging,
            read,
            panel=_panel(context, task.request.judges, submission),
            load_thresholds=context.thresholds,
            another=lambda: _another(context, judging.judge, submission),
        )

    found = await _judged(context, task, submission, work, stage="gate", deadline=deadline)
    if isinstance(found, _Failed):
        return _after(context, submission, found)
    gate = found.value.check
    after = context.judgements.judged(ref, lambda one: steps.gated(one, gate), spends=found.spends)
    return _progress(after, at="received")


async def score(context: TaskContext, ref: Reference, *, deadline: Deadline | None = None) -> TaskProgress:
    """The scoring: `scored`, `unscored`, `overtaken`, or `waiting` for another try.

    A submission that passes a `fastest_first` task closes it, if it is the first. A repeat asks nobody.
    """
    submission, ours = context.judgements.begin(ref, at="gate_passed")
    if not ours:
        progress = _nothing_to_do(context, submission, at="gate_passed", stage="scoring")
        _close_by(context, submission)
        return progress
    if submission.when == "cheap" and (waits := await _by_batch(context, submission)) is not None:
        return waits
    from touchstone.oracle.scores_panel import score_by_judges

    task = context.task(submission.task_id)

    async def work(judging: SubmissionJudging, read: ReadSubmission) -> ScoringResult | NotScored:
        return await score_by_judges(
            judging,
            read,
            panel=_panel(context, task.request.scoring_judges, submission),
            wait_for_retry=context.clock() - submission.submitted_at < SETTLED_WITHIN,
        )

    found = await _judged(context, task, submission, work, stage="scoring", deadline=deadline)
    if isinstance(found, _Failed):
        return _after(context, submission, found)
    result = found.value
    step = partial(
        steps.scored,
        scoring=result.scoring,
        race=not task.contest,
        readings=result.readings,
        passages=result.passages,
    )
    scored = context.judgements.judged(ref, step, spends=found.spends)
    _close_by(context, scored)
    return _progress(scored, at="gate_passed")


async def judge_once(context: TaskContext, ref: Reference, *, deadline: Deadline) -> Submission:
    """Run both steps in one process, as far as the first try brings them. Return the submission as stored then.

    A scoring that can wait (`when` is `cheap`) is left to its machine.
    """
    progress = await check(context, ref, deadline=deadline)
    submission = context.submissions.get(ref)
    if progress.state != "gate_passed" or submission.when == "cheap":
        return submission
    await score(context, ref, deadline=deadline)
    return context.submissions.get(ref)


async def _by_batch(context: TaskContext, submission: Submission) -> TaskProgress | None:
    """The progress of a scoring that goes by batches. None if the judge is to be asked at once."""
    if context.by_batch is None:
        return None
    until = await context.by_batch(submission)
    if until is not None:
        waits = context.judgements.judged(submission.ref, lambda one: steps.awaiting(one, until=until))
        return _progress(waits, at="gate_passed")
    after = context.judgements.change(submission.ref, steps.hastened)
    return _progress(after, at="gate_passed") if after.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done[T]:
    value: T
    spends: tuple[Spend, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """Why a stage has no result. `stage` may be the reading before it. `provider` is the provider that was asked."""

    failure: NotScored
    stage: Stage
    provider: str


async def _judged[T: Paid](
    context: TaskContext,
    task: Task,
    submission: Submission,
    work: Callable[[SubmissionJudging, ReadSubmission], Awaitable[T | NotScored]],
    *,
    stage: Stage,
    deadline: Deadline | None,
) -> _Done[T] | _Failed:
    """Read a submission, the same way for all its stages, and do a stage's work on it. Both are paid for together."""
    text = context.submissions.text(submission)
    within = deadline or Deadline.after(JUDGE_SECONDS)
    first = submission.attempts.tries == 0
    # Another try asks a panel through the cache, so that judges that have answered are not paid twice. Their replies
    # are found only if what was read of the text is the same, so the reading is cached too. The same holds for a single
    # judge whose labels give a threshold: if it is not sure enough, another judge is asked.
    several = {
        "gate": task.request.judges != 1 or (stage == "gate" and any_threshold(context.thresholds)),
        "scoring": task.request.scoring_judges > 1,
    }
    cached = first or several.get(stage, False)
    at = stage

    async def judged(asked: Judge) -> _Done[T] | NotScored:
        nonlocal at
        at = "reading"
        judging = SubmissionJudging(
            brief=task.request.brief,
            submission=text,
            dimensions=task.dimensions,
            judge=WorkJudge(asked, submission.submitted_at),
            deadline=within,
            use_cache=first or any(several.values()),
        )
        read = await judging.read()
        if isinstance(read, NotScored):
            return read
        at = stage
        found = await work(replace(judging, use_cache=cached), read)
        spends = (*read.spends, *found.spends)
        return replace(found, spends=spends) if isinstance(found, NotScored) else _Done(value=found, spends=spends)

    async with tracing_calls(context, submission_name(task.id, submission.id), deadline=deadline):
        tried = await with_judge(context, context.judge, judged)
    if isinstance(tried.found, NotScored):
        return _Failed(failure=tried.found, stage=at, provider=tried.found.failed_by or tried.provider)
    return tried.found


def _panel(context: TaskContext, wanted: int | Literal["until_sure"], submission: Submission) -> JudgePanel | None:
    panel = context.panel(wanted)
    return None if panel is None else panel.for_work(submission.submitted_at)


def _another(context: TaskContext, judge: Judge, submission: Submission) -> Judge | None:
    other = context.other_judge([judge.provider])
    return None if other is None else WorkJudge(other, submission.submitted_at)


def _after(context: TaskContext, submission: Submission, failed: _Failed) -> TaskProgress:
    """Put a submission back for another try, or give it up: then it is `unscored`, with the reason."""
    why = Unjudged.of(failed.stage, failed.failure)
    spends = failed.failure.spends
    asked_at = submission.submitted_at
    match follow_up(
        failed.failure, attempts=submission.attempts, provider=failed.provider, now=context.clock(), asked_at=asked_at
    ):
        case GivenUp():
            after = context.judgements.judged(submission.ref, lambda one: steps.given_up(one, why), spends=spends)
            return _progress(after, at=submission.state)
        case Postponed(until=until, ended=ended):
            if ended != "unread":
                until += _spread(context, submission)
            step = partial(steps.put_back, why=why, until=until, ended=ended)
            back = context.judgements.judged(submission.ref, step, spends=spends)
            return replace(_progress(back, at=submission.state), reason=why.reason)


def _spread(context: TaskContext, submission: Submission) -> timedelta:
    """A random extra wait for a slot, so that many waiting submissions do not all come at once for one slot.

    It grows with the time since the submission came: of a thousand submissions at once, each asks a few times, not
    hundreds.
    """
    waited = context.clock() - submission.submitted_at
    return min(waited / 2, LONGEST_SPREAD) * random()  # noqa: S311 - spreads work, guards nothing


def _nothing_to_do(context: TaskContext, submission: Submission, *, at: SubmissionState, stage: Stage) -> TaskProgress:
    """The progress of a submission that is not to be judged now. A submission whose tries are used up is given up."""
    if submission.state == at and submission.attempts.exhausted(context.clock()):
        why = Unjudged(stage=stage, reason="timed_out", details=(INTERRUPTED,))
        submission = context.judgements.judged(submission.ref, lambda one: steps.given_up(one, why))
    return _progress(submission, at=at)


def _close_by(context: TaskContext, submission: Submission) -> None:
    """Close a `fastest_first` task if a submission passed, and send the event.

    Of the passing submissions that are not settled, the earliest one wins. Its step may have stored its scores and
    broken off before it closed the task; no later submission may gain by that.
    """
    if not submission.wins:
        return
    ref = context.submissions.first_passed(submission.ref.task)
    other = submission if ref is None else context.submissions.get(ref)
    # Compare by the time it came, not by its id: an id keeps the moment of a key that was used too early.
    earlier = other.wins and (other.submitted_at, other.id) < (submission.submitted_at, submission.id)
    context.tasks.win(submission=other if earlier else submission)
    context.judgements.change(submission.ref, steps.race_settled)
    context.announce(submission.task_id)


def _progress(submission: Submission, *, at: SubmissionState) -> TaskProgress:
    """The progress of work in the state `at`.

    A submission past its gate may be scored at once: if its scoring must wait, the step of scoring says so.
    """
    if submission.judged or (submission.state == "gate_passed" and at == "received"):
        return TaskProgress(state=submission.state)
    return TaskProgress(state="waiting", until=submission.attempts.not_before)
