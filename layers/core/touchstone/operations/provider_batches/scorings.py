"""Scorings of a contest's submissions in batches: done again, from the beginning, with the replies brought so far.

    begun  ──┬─ scored by the cache ───────────────> scored
       ^     ├─ the deadline leaves no time for it ─> asked at once
       │     ├─ wants what no batch takes ──────────> asked at once
       │     └─ wants questions ── in a batch ──> settled ─┬─ whole ───────────────────> scored
       │                                                   ├─ brought nothing for one ─> asked at once
       │                                                   └─ wants further questions ─┐
       └───────────────────────────────────────────────────────────────────────────────┘

Each submission has batches of its own, one for each round of questions; nearly all submissions need only one. The
brought replies are in the cache from then on, and their calls are in the submission, each once by the id of its line.
`BATCH_MARGIN` is the time before the deadline from which the judge is asked at once, whatever is in a batch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from touchstone.clock import Deadline
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.operations.provider_batches import own_batch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    passing_over,
    settled_by,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import WaitingQuestion, replayed_line
from touchstone.oracle.model import TIER
from touchstone.oracle.scoring import ScoringResult, score_submission
from touchstone.oracle.submission import BATCH_MARGIN, ScoringBatch, Submission, paid, scored, with_batch
from touchstone.oracle.task import Task
from touchstone.references import Reference
from touchstone.workflows import Workflows

REPLAY_SECONDS = 60.0
"""The time for replaying a scoring with the replies that are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredByBatch:
    """The result of a scoring from the replies brought so far; not valid if more is `wanted`.

    `spends` are at the price of a batch.
    """

    found: ScoringResult | NotScored
    wanted: tuple[WaitingQuestion, ...]
    spends: tuple[Spend, ...]


def within(context: BatchingContext) -> BatchingContext:
    """The context with the batch APIs of the judge of submissions."""
    return replace(context, apis=context.scoring().apis)


async def score_by_batch(
    context: BatchingContext, workflows: Callable[[], Workflows], submission: Submission
) -> datetime | None:
    """Carry the scoring of a submission that passed its gate. Return until when it waits for a batch.

    None: the scoring is over, or is to be asked at once because no batch takes its questions or the deadline is too
    near.
    """
    context = within(context)
    task = context.scoring().tasks.task(submission.task_id)
    last, now = task.deadline - BATCH_MARGIN, context.clock()
    if now >= last:
        return None
    until = None if submission.batch is None else own_batch.next_look_at(context, submission.batch.provider_batch_id)
    if until is not None:
        return min(until, last)
    try:
        done = await replayed(context, submission, task, brought={})
    except SettingsError:
        return None  # the code that asks at once reports what is wrong
    _kept(context, submission, done)
    if isinstance(done.found, ScoringResult) or not _in_time(context, task, done.wanted):
        return None
    until = await own_batch.begin_own_batch(
        *(context, workflows, done.wanted),
        of="scoring",
        answer_id=f"{submission.task_id}/{submission.id}",
        made_at=submission.submitted_at,
        name_parts=(submission.task_id, submission.id),
        store_id=lambda batch_id: _noted(context, submission, task, batch_id, done.wanted),
    )
    return None if until is None else min(until, last)


async def still_wanted(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[ListedQuestion]
) -> Mapping[str, WaitingQuestion]:
    """The questions that a submission still wants answered, as they are to be sent."""
    submission, task = _read(context, group[0].answer_id)
    if submission.in_batch is None or submission.in_batch.provider_batch_id != batch.id:
        return {}
    try:
        done = await replayed(context, submission, task, brought={})
    except SettingsError:
        return {}
    return {one.address: one for one in done.wanted} if _in_time(context, task, done.wanted) else {}


async def settled(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Store what a batch brought for one submission.

    Questions that are still open are asked at once by the machine that carries the submission, which meets the same
    batch again.
    """
    brought = {question.address: [reply] for question, reply in group if question.address and reply is not None}
    paid: Sequence[Spend] = ()
    with passing_over(group[0][0].answer_id):
        submission, task = _read(context, group[0][0].answer_id)
        done = await replayed(context, submission, task, brought=brought, by=batch.provider)
        paid = done.spends
        _kept(context, submission, done)
    return [settled_by(reply, paid) for _, reply in group]


async def replayed(
    context: BatchingContext,
    submission: Submission,
    task: Task,
    *,
    brought: Mapping[str, Sequence[BatchReply]],
    by: str | None = None,
) -> ScoredByBatch:
    """Score with the replies that a provider (`by`) brought now and with earlier ones. Nothing is sent or stored.

    Raises `SettingsError` if no judge can be asked.
    """
    scoring = context.scoring()
    async with replayed_line(
        context.apis, brought, cache=context.cache, brought_by=by, began=submission.submitted_at
    ) as (judges, work):
        found = await score_submission(
            task.request.brief,
            task.dimensions,
            scoring.tasks.submissions.text(submission),
            judge=scoring.judge(judges) if by is None else judges.get(by, TIER),
            deadline=Deadline.after(REPLAY_SECONDS),
        )
    spends = without_latency(found.spends, context.apis.registry)
    return ScoredByBatch(found=found, wanted=tuple(work.wanted), spends=spends)


def _in_time(context: BatchingContext, task: Task, wanted: Sequence[WaitingQuestion]) -> bool:
    """Whether a batch of these questions, begun now, ends at least `BATCH_MARGIN` before the deadline."""
    try:
        batches = context.apis.batches(wanted[0].provider) if wanted else None
    except (MisconfiguredError, SettingsError):
        return False
    return batches is not None and context.clock() + batches.longest + BATCH_MARGIN <= task.deadline


def _noted(
    context: BatchingContext, submission: Submission, task: Task, batch_id: str, wanted: Sequence[WaitingQuestion]
) -> None:
    batches = context.apis.batches(wanted[0].provider)
    longest = timedelta(0) if batches is None else batches.longest
    until = min(context.clock() + longest, task.deadline - BATCH_MARGIN)
    place = ScoringBatch(provider_batch_id=batch_id, until=until)
    context.scoring().tasks.judgements.judged(submission.ref, lambda one: with_batch(one, place))


def _kept(context: BatchingContext, submission: Submission, done: ScoredByBatch) -> None:
    """Store the scores, or the calls that were paid for so far.

    A call that the submission has already, by the id of its line, is not stored again.
    """
    judgements = context.scoring().tasks.judgements
    known = {spend.line_id for spend in submission.spends if spend.line_id is not None}
    fresh = tuple(spend for spend in done.spends if not spend.cached and spend.line_id not in known)
    if isinstance(done.found, ScoringResult):
        step = partial(scored, scoring=done.found.scoring, readings=done.found.readings, passages=done.found.passages)
        spends = fresh if known else tuple(spend for spend in done.spends if spend.cached or spend in fresh)
        submission = judgements.judged(submission.ref, step, spends=spends)
    if any(spend not in submission.spends for spend in fresh):  # the submission was judged or overtaken meanwhile
        judgements.change(submission.ref, lambda one: paid(one, fresh))


def _read(context: BatchingContext, name: str) -> tuple[Submission, Task]:
    task_id, _, submission_id = name.partition("/")
    tasks = context.scoring().tasks
    submission = tasks.submissions.get(Reference(context.tenant, "submission", submission_id, task_id))
    return submission, tasks.task(task_id)
