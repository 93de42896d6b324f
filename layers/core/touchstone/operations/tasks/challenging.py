"""A challenge to a ranking: its submission scored again by another provider, and what follows for the ranking.

    score again ─> would another finalist have to be compared? ─ no ──────────────────────────┬─> another place: upheld
                                                               └ yes ─> all finalists again ──┘   the same: rejected

Challenges are decided in the order of their arrival, one after the other, so that each is compared with the ranking
that stands. If nobody could judge a challenge, it changes nothing: it is `unresolved`, and says why.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from touchstone.clock import Deadline
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.operations.jobs.deferral import GivenUp, Postponed
from touchstone.operations.jobs.traced import traced
from touchstone.operations.jobs.trying import follow_up, with_judge
from touchstone.operations.tasks.comparing import compare_round
from touchstone.operations.tasks.context import (
    A_ROUND,
    GOING_ON,
    SETTLED_WITHIN,
    TaskContext,
    TaskProgress,
    pause_after,
)
from touchstone.operations.tasks.finalists import begin_round, entry_of, read_finalists
from touchstone.operations.tasks.ranking import final_of, left_to_compare, of_finalist, why_uncompared
from touchstone.oracle.bands import Band
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.compared import LEAST_ENTRIES
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.model import DimensionScore, Unjudged
from touchstone.oracle.ranking import Contender, Place, Shortlist, rank, shortlist
from touchstone.oracle.scoring import ScoringResult, score_submission
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.records.judgements import CHALLENGED

NOBODY_COULD = Unjudged(
    stage="comparison", reason="invalid_reply", details=("A finalist could not be compared with the others again.",)
)


def decide(context: TaskContext, task_id: str, challenge_id: str) -> TaskProgress:
    """Decide a challenge from its second opinion and new comparisons: `decided`, or `comparing` if some are missing.

    A repeat finishes what the first run began, and decides nothing new. The challenge is upheld if the submission has
    another place by the new scores. Then the new scores count; otherwise all stays as it is.
    """
    challenge = context.challenges.get(context.ref("challenge", challenge_id, task_id))
    task = context.task(task_id)
    if challenge.state == "waiting" and challenge.scoring is not None and challenge_id in task.undecided:
        said = context.comparisons.of_round(tenant=context.tenant, task_id=task_id, round_id=challenge_id)
        if challenge.finalists and (left := left_to_compare(task, said)):
            return TaskProgress(state="comparing", dimensions=left)
        places = _places(context, task, challenge, said)
        if (lost := _lost(task, challenge, places)) is not None:
            return give_up(context, challenge, why_uncompared(said, lost) or NOBODY_COULD)
        upheld = _place_of(places, challenge.submission_id) != _place_of(task.places, challenge.submission_id)
        spends = tuple(spend for one in said for spend in one.spends)
        challenge = context.challenges.decide(
            challenge, "upheld" if upheld else "rejected", places=places if upheld else (), spends=spends
        )
    return settle(context, challenge)


def settle(context: TaskContext, challenge: Challenge) -> TaskProgress:
    """Store the consequences of a decision in the records of the contest. Every part of this may be repeated."""
    if challenge.state == "waiting":
        return TaskProgress(state="decided")
    task = context.task(challenge.task_id)
    if challenge.id in task.undecided:
        if challenge.state == "upheld" and challenge.scoring is not None:
            ref = context.ref("submission", challenge.submission_id, task.id)
            context.judgements.rescore(
                ref, scoring=challenge.scoring, readings=challenge.readings, passages=challenge.passages
            )
            _recompare(context, task, challenge)
        context.tasks.decide(
            tenant=context.tenant,
            task_id=task.id,
            challenge_id=challenge.id,
            places=challenge.places if challenge.state == "upheld" else None,
        )
    context.challenges.settle(challenge)
    return TaskProgress(state="decided")


def _recompare(context: TaskContext, task: Task, challenge: Challenge) -> None:
    """Store the new comparisons of the finalists, and remove those of submissions that are no longer finalists."""
    entrants = entrants_of(context, task, challenge)
    finalists = {one.submission_id for one in entrants.shortlist.finalists}
    compared = finalists if len(finalists) >= LEAST_ENTRIES else set()
    said = context.comparisons.of_round(tenant=context.tenant, task_id=task.id, round_id=challenge.id)
    for each in sorted({*challenge.finalists, *entrants.compared}):
        ref = context.ref("submission", each, task.id)
        if each in challenge.finalists:
            comparisons, uncompared = of_finalist(task, said, each)
            context.judgements.recompare(
                ref, comparisons=comparisons, uncompared=uncompared, why=why_uncompared(said, each)
            )
        elif each not in compared:
            context.judgements.recompare(ref, comparisons=())


def give_up(context: TaskContext, challenge: Challenge, why: Unjudged) -> TaskProgress:
    """Leave a challenge that nobody could judge: the ranking stands, and the challenge stores `why`."""
    return settle(context, context.challenges.give_up(challenge, why=why))


def _places(
    context: TaskContext, task: Task, challenge: Challenge, said: tuple[DimensionComparison, ...]
) -> tuple[Place, ...]:
    """The ranking by the new scores, with the new comparisons if there are any, else with those that stand."""
    chosen = entrants_of(context, task, challenge).shortlist
    finals: dict[str, float] = {}
    for finalist in chosen.finalists:
        comparisons = (
            of_finalist(task, said, finalist.submission_id)[0]
            if challenge.finalists
            else context.submission(task.id, finalist.submission_id).comparisons
        )
        if len(comparisons) == len(task.dimensions):
            finals[finalist.submission_id] = final_of(task, comparisons)
    return rank(chosen, finals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrants:
    """The contenders of a contest, with a challenge's scores in place of the challenged submission's own.

    `compared` are the finalists so far, including those that nobody could compare.
    """

    shortlist: Shortlist
    compared: frozenset[str]


def entrants_of(context: TaskContext, task: Task, challenge: Challenge) -> Entrants:
    """The contenders after a challenge. Only what a ranking needs is held of each: there may be thousands."""
    contenders: list[Contender] = []
    compared: set[str] = set()
    for one in context.submissions.of_task(tenant=context.tenant, task_id=task.id):
        if one.comparisons or one.uncompared:
            compared.add(one.id)
        contender = _rescored(one, challenge) if one.id == challenge.submission_id else one.contender
        if contender is not None:
            contenders.append(contender)
    return Entrants(shortlist=shortlist(contenders), compared=frozenset(compared))


def _rescored(submission: Submission, challenge: Challenge) -> Contender | None:
    """The challenged submission as a contender, with the scores of its second opinion, or its own if there is none."""
    if challenge.scoring is None:
        return submission.contender
    bands: dict[str, Band] = {one.dimension: one.band for one in challenge.scoring.dimension_scores}
    return Contender(
        submission_id=submission.id,
        submitted_at=submission.submitted_at,
        penalized_total=challenge.scoring.penalized_total,
        bands=bands,
    )


def _place_of(places: Sequence[Place], submission_id: str) -> int | None:
    """The rank of a submission. None if it has no rank because it was eliminated or could not be scored."""
    return next((place.rank for place in places if place.submission_id == submission_id), None)


def _lost(task: Task, challenge: Challenge, places: Sequence[Place]) -> str | None:
    """The id of a submission that would be without a rank only because nobody could compare it. None if there is none.

    It is a finalist that would lose its rank, or the challenged submission that would get none. A challenge must not
    take from a party a rank because a judge failed.
    """
    ranked = {place.submission_id for place in task.places if place.rank is not None} | {challenge.submission_id}
    return next((place.submission_id for place in places if place.rank is None and place.submission_id in ranked), None)


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
        context.challenges.keep_from_sweep(challenge, until=progress.until or context.clock() + A_ROUND)
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
        challenge = context.challenges.choose(challenge, other.provider)
    challenge, ours = context.challenges.begin_rescoring(challenge)
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
        return context.challenges.rescore(
            challenge,
            scoring=found.scoring,
            readings=found.readings,
            passages=found.passages,
            spends=found.spends,
        )
    why = Unjudged.of("scoring", found)
    match follow_up(found, attempts=challenge.attempts, provider=tried.provider, now=context.clock()):
        case GivenUp():
            return settle(context, context.challenges.give_up(challenge, why=why, spends=found.spends))
        case Postponed(until=until, ended=ended):
            context.challenges.put_back(challenge, why=why, until=until, ended=ended, spends=found.spends)
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
            context.judgements.read_anew(one.ref)
        challenge = context.challenges.to_compare(challenge, finalists)
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
    earlier = context.challenges.of_task(tenant=context.tenant, task_id=challenge.task_id)
    had_part |= {
        one.provider
        for one in earlier
        if one.submission_id == submission.id and one.scoring is not None and one.provider is not None
    }
    if submission.individual is None:
        with suppress(SettingsError, MisconfiguredError):
            had_part.add(context.judge().provider)
    return context.other_judge(tuple(had_part))
