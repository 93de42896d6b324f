"""The decision on a challenge, and the changes that it makes to the records of the contest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from touchstone.judges.spends import Spend, paying
from touchstone.operations.tasks.context import TaskContext, TaskProgress
from touchstone.operations.tasks.ranking import final_of, left_to_compare, of_finalist, why_uncompared
from touchstone.oracle import challenge as steps
from touchstone.oracle import task as task_steps
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.compared import LEAST_ENTRIES
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.model import Unjudged
from touchstone.oracle.ranking import Contender, Place, Shortlist, place_of, rank, shortlist
from touchstone.oracle.submission import recompared, rescored
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
        said = context.comparisons.of_round(task.ref, round_id=challenge_id)
        if challenge.finalists and (left := left_to_compare(task, said)):
            return TaskProgress(state="comparing", dimensions=left)
        places = _places(context, task, challenge, said)
        if (lost := _lost(task, challenge, places)) is not None:
            return give_up(context, challenge, why_uncompared(said, lost) or NOBODY_COULD)
        upheld = _rank_of(places, challenge.submission_id) != _rank_of(task.places, challenge.submission_id)
        state: Literal["upheld", "rejected"] = "upheld" if upheld else "rejected"
        step = partial(steps.decided, state=state, places=places if upheld else (), now=context.clock())
        challenge = context.challenges.change(challenge.ref, paying(step, _paid_for(said)))
    return settle(context, challenge)


def settle(context: TaskContext, challenge: Challenge) -> TaskProgress:
    """Store the consequences of a decision in the records of the contest. Every part of this may be repeated."""
    if challenge.state == "waiting":
        return TaskProgress(state="decided")
    task = context.task(challenge.task_id)
    if challenge.id in task.undecided:
        if challenge.state == "upheld" and challenge.scoring is not None:
            ref = context.ref("submission", challenge.submission_id, task.id)
            again = partial(
                rescored, scoring=challenge.scoring, readings=challenge.readings, passages=challenge.passages
            )
            context.judgements.judged(ref, again, during=CHALLENGED)
            _recompare(context, task, challenge)
        places = challenge.places if challenge.state == "upheld" else None
        context.tasks.change(task.ref, lambda one: task_steps.decided(one, challenge.id, places))
    context.challenges.change(challenge.ref, steps.settled)
    return TaskProgress(state="decided")


def _recompare(context: TaskContext, task: Task, challenge: Challenge) -> None:
    """Store the new comparisons of the finalists, and remove those of submissions that are no longer finalists."""
    entrants = entrants_of(context, task, challenge)
    finalists = {one.submission_id for one in entrants.shortlist.finalists}
    compared = finalists if len(finalists) >= LEAST_ENTRIES else set()
    said = context.comparisons.of_round(task.ref, round_id=challenge.id)
    for each in sorted({*challenge.finalists, *entrants.compared}):
        ref = context.ref("submission", each, task.id)
        if each in challenge.finalists:
            comparisons, uncompared = of_finalist(task, said, each)
            step = partial(recompared, comparisons=comparisons, uncompared=uncompared, why=why_uncompared(said, each))
            context.judgements.judged(ref, step, during=CHALLENGED)
        elif each not in compared:
            context.judgements.judged(ref, partial(recompared, comparisons=()), during=CHALLENGED)


def give_up(context: TaskContext, challenge: Challenge, why: Unjudged, *, spends: Sequence[Spend] = ()) -> TaskProgress:
    """Leave a challenge that nobody could judge: the ranking stands, and the challenge stores `why`.

    `spends` are added to the calls that were paid for it, and so are those of its comparisons.
    """
    if challenge.finalists:
        said = context.comparisons.of_round(challenge.ref.task, round_id=challenge.id)
        spends = (*spends, *_paid_for(said))
    step = paying(partial(steps.unresolved, why=why, now=context.clock()), spends)
    return settle(context, context.challenges.change(challenge.ref, step))


def _paid_for(said: Sequence[DimensionComparison]) -> tuple[Spend, ...]:
    return tuple(spend for one in said for spend in one.spends)


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
    for one in context.submissions.of_task(task.ref):
        if one.comparisons or one.uncompared:
            compared.add(one.id)
        again = challenge.scoring if one.id == challenge.submission_id else None
        counts = one if again is None else one.model_copy(update={"individual": again})
        if (contender := counts.contender) is not None:
            contenders.append(contender)
    return Entrants(shortlist=shortlist(contenders), compared=frozenset(compared))


def _rank_of(places: Sequence[Place], submission_id: str) -> int | None:
    """The rank of a submission. None if it has no rank because it was eliminated or could not be scored."""
    place = place_of(submission_id, places)
    return None if place is None else place.rank


def _lost(task: Task, challenge: Challenge, places: Sequence[Place]) -> str | None:
    """The id of a submission that would be without a rank only because nobody could compare it. None if there is none.

    It is a finalist that would lose its rank, or the challenged submission that would get none. A challenge must not
    take from a party a rank because a judge failed.
    """
    ranked = {place.submission_id for place in task.places if place.rank is not None} | {challenge.submission_id}
    return next((place.submission_id for place in places if place.rank is None and place.submission_id in ranked), None)
