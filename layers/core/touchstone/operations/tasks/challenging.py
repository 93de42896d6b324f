"""A challenge to a ranking: the submission scored again by another provider, and what follows for the ranking.

    score again ─> would another finalist have to be compared? ─ no ──────────────────────────┬─> another place: upheld
                                                               └ yes ─> all finalists again ──┘   the same: rejected

Challenges are decided in the order of their arrival, one after the other, so that each is compared with the ranking
that stands. If nobody could judge a challenge, it changes nothing: it is `unresolved`, and says why.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from touchstone.clock import Deadline
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import paying
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, follow_up, with_judge
from touchstone.operations.jobs.traced import traced
from touchstone.operations.tasks.comparing import compare_round
from touchstone.operations.tasks.context import (
    A_ROUND,
    GOING_ON,
    SETTLED_WITHIN,
    TaskContext,
    TaskProgress,
    pause_after,
)
from touchstone.operations.tasks.deciding import entrants_of, give_up, settle
from touchstone.operations.tasks.finalists import begin_round, entry_of, read_finalists
from touchstone.oracle import challenge as steps
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.compared import LEAST_ENTRIES
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.model import DimensionScore, Unjudged
from touchstone.oracle.scoring import ScoringResult, score_submission
from touchstone.oracle.submission import Submission, read_anew
from touchstone.oracle.task import Task
from touchstone.records.judgements import CHALLENGED

RESCORE_SECONDS = 780.0
"""For scoring again and reading the finalists together: two minutes less than the step's function may run."""
INTERRUPTED = "Each try to score it again was interrupted before there was a result."
SCORING = "individual"
"""The purpose of judge calls that score a submission without comparing it."""
NO_PLACE = Unjudged(
    stage="gate", reason="invalid_reply", details=("It did not pass its gate, and has no place to be challenged.",)
)
NO_OTHER = "No other provider can be asked: a challenge needs the key of one more, beside those that judged before."


@traced
async def rescore(context: TaskContext, task_id: str, challenge_id: str) -> TaskProgress:
    """Score the challenged submission again, and find out what that means for the ranking.

    The state is `comparing` if the finalists must be compared again, dimension by dimension; `deciding` if no judge
    needs to be asked any more; `waiting` for earlier challenges or for another try; `decided` if nothing is left to do.
    """
    task = context.task(task_id)
    challenge = context.challenges.get(context.ref("challenge", challenge_id, task_id))
    if challenge.state != "waiting" or challenge_id not in task.undecided:
        return settle(context, challenge)
    if task.challenge_until is not None and context.clock() >= task.challenge_until + SETTLED_WITHIN:
        why = challenge.failure or Unjudged(stage="scoring", reason="timed_out", details=(INTERRUPTED,))
        return give_up(context, challenge, why)
    if task.undecided[0] != challenge_id:
        now = context.clock()
        return _keep_from_sweep(
            context, challenge, TaskProgress(state="waiting", until=now + pause_after(now - challenge.created_at))
        )
    deadline = Deadline.after(RESCORE_SECONDS)
    if challenge.scoring is None:
        scored = await _score_again(context, task, challenge, deadline=deadline)
        if isinstance(scored, TaskProgress):
            return scored
        challenge = scored
    return _keep_from_sweep(context, challenge, await _onward(context, task, challenge, deadline=deadline))


@traced
async def compare_again(context: TaskContext, task_id: str, challenge_id: str, *, dimension: str) -> TaskProgress:
    """Compare the finalists of a challenge again on one dimension, with the provider that scored again."""
    challenge = context.challenges.get(context.ref("challenge", challenge_id, task_id))
    judge = _judge_of(context, challenge)

    def entries(task: Task, comparison: DimensionComparison) -> list[FinalistEntry]:
        return [
            entry_of(context, task.id, each, scores=_scores(context, challenge, each), opinion=challenge)
            for each in comparison.finalists
        ]

    progress = await compare_round(
        context, task_id, round_id=challenge_id, dimension=dimension, judge=judge, entries=entries
    )
    return _keep_from_sweep(context, challenge, progress)


def _keep_from_sweep(context: TaskContext, challenge: Challenge, progress: TaskProgress) -> TaskProgress:
    """Note with the challenge until when it is carried, so that the sweep leaves it alone. Return its progress."""
    if progress.state in GOING_ON:
        until = progress.until or context.clock() + A_ROUND
        context.challenges.change(challenge.ref, lambda one: steps.carried(one, until))
    return progress


async def _score_again(
    context: TaskContext, task: Task, challenge: Challenge, *, deadline: Deadline
) -> Challenge | TaskProgress:
    """The challenge with its second opinion; or the progress if there is none: `waiting` for a try, or `decided`."""
    submission = context.submission(task.id, challenge.submission_id)
    if submission.gate is None or not submission.gate.passed:
        return give_up(context, challenge, NO_PLACE)
    if challenge.provider is None:
        other = _other(context, challenge, submission)
        if other is None:
            return give_up(context, challenge, Unjudged(stage="scoring", reason="misconfigured", details=(NO_OTHER,)))
        provider = other.provider
        challenge = context.challenges.change(challenge.ref, lambda one: steps.chosen(one, provider))
    challenge, ours = context.challenges.begin(challenge.ref, lambda one: steps.begun(one, now=context.clock()))
    if not ours:
        if challenge.attempts.must_wait(context.clock()):
            return TaskProgress(state="waiting", until=challenge.attempts.not_before)
        why = challenge.failure or Unjudged(stage="scoring", reason="timed_out", details=(INTERRUPTED,))
        return give_up(context, challenge, why)

    async def work(judge: Judge) -> ScoringResult | NotScored:
        return await score_submission(
            task.request.brief,
            task.dimensions,
            context.submissions.text(submission),
            judge=WorkJudge(judge, challenge.created_at),
            deadline=deadline,
            use_cache=challenge.attempts.tries == 0,
        )

    tried = await with_judge(context, _judge_of(context, challenge), work)
    found = tried.found
    if isinstance(found, ScoringResult):
        step = partial(steps.rescored, scoring=found.scoring, readings=found.readings, passages=found.passages)
        return context.challenges.change(challenge.ref, paying(step, found.spends))
    why, spends = Unjudged.of("scoring", found), found.spends
    match follow_up(found, attempts=challenge.attempts, provider=tried.provider, now=context.clock()):
        case GivenUp():
            return give_up(context, challenge, why, spends=spends)
        case Postponed(until=until, ended=ended):
            step = partial(steps.put_back, why=why, until=until, ended=ended)
            context.challenges.change(challenge.ref, paying(step, spends))
            return TaskProgress(state="waiting", until=until, reason=why.reason)


async def _onward(context: TaskContext, task: Task, challenge: Challenge, *, deadline: Deadline) -> TaskProgress:
    """Begin comparing all finalists again, if the second opinion requires it; else go on to `deciding`.

    It does if the challenged submission is among the finalists by its new scores, or leaves them and makes room for
    another.
    """
    entrants = entrants_of(context, task, challenge)
    finalists = tuple(one.submission_id for one in entrants.shortlist.finalists)
    unchanged = entrants.compared == set(finalists)
    if len(finalists) < LEAST_ENTRIES or (unchanged and challenge.submission_id not in finalists):
        return TaskProgress(state="deciding")
    records = [context.submission(task.id, each) for each in finalists]
    if challenge.finalists != finalists:
        for one in records:
            context.judgements.judged(one.ref, read_anew, during=CHALLENGED)
        challenge = context.challenges.change(challenge.ref, lambda one: steps.to_compare(one, finalists))
    read = await read_finalists(
        context,
        task,
        records,
        judge=_judge_of(context, challenge),
        deadline=deadline,
        during=CHALLENGED,
        opinion=challenge,
    )
    if isinstance(read, TaskProgress):
        return read
    if read.unreadable:
        return give_up(context, challenge, next(iter(read.unreadable.values())))
    return begin_round(context, task, finalists, round_id=challenge.id)


def _scores(context: TaskContext, challenge: Challenge, submission_id: str) -> tuple[DimensionScore, ...]:
    """A finalist's individual scores: the second opinion for the challenged submission, else the scores that count now.

    These may differ from the scores with which the finalist was read.
    """
    if submission_id == challenge.submission_id:
        own = challenge.scoring
    else:
        own = context.submission(challenge.task_id, submission_id).individual
    return () if own is None else own.dimension_scores


def _judge_of(context: TaskContext, challenge: Challenge) -> Callable[[], Judge]:
    """Opens the judge of a challenge. All its questions go to the provider that was chosen for the challenge."""

    def opened() -> Judge:
        if challenge.provider is None:
            raise SettingsError(NO_OTHER)
        return context.judge_at(challenge.provider)

    return opened


def _other(context: TaskContext, challenge: Challenge, submission: Submission) -> Judge | None:
    """A judge of a provider that had no part in the submission's scores, neither at first nor for an earlier challenge.

    Otherwise two challenges to one place would go to two providers in turn, each undoing the decision of the other. If
    nobody scored the submission, the provider that is asked first failed on it, so it counts as having had a part. None
    if there is no other provider.
    """
    had_part = {one.provider for one in submission.spends if one.purpose == SCORING}
    had_part |= {one.provider for one in submission.readings if one.provider is not None}
    earlier = context.challenges.of_task(challenge.ref.task)
    had_part |= {
        one.provider
        for one in earlier
        if one.submission_id == submission.id and one.scoring is not None and one.provider is not None
    }
    if submission.individual is None:
        with suppress(SettingsError, MisconfiguredError):
            had_part.add(context.judge().provider)
    return context.other_judge(tuple(had_part))
