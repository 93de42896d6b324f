"""The decision on a challenge, and what it brings into the records of the contest."""

from collections.abc import Mapping, Sequence

from touchstone.operations.tasks.desk import Progress, TaskDesk
from touchstone.operations.tasks.ranking import final_of, left_to_compare, of_finalist, why_uncompared
from touchstone.oracle.bands import Band
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.compared import LEAST_ENTRIES
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.ranking import Contender, Place, Shortlist, rank, shortlist
from touchstone.oracle.submission import Comparison, Submission, SubmissionRef
from touchstone.oracle.task import Task
from touchstone.oracle.unjudged import Unjudged

NOBODY_COULD = Unjudged(
    stage="comparison", reason="invalid_reply", details=("A finalist could not be compared with the others again.",)
)


def decide(desk: TaskDesk, task_id: str, challenge_id: str) -> Progress:
    """Decide a challenge by what was found: `decided`. A repeat finishes what the first began, and decides nothing new.

    It is upheld where the submission's place is another one by the new scores, which then count; else all stands.
    """
    challenge = desk.challenges.get(tenant=desk.tenant, task_id=task_id, challenge_id=challenge_id)
    task = desk.task(task_id)
    if challenge.state == "waiting" and challenge.scoring is not None and challenge_id in task.undecided:
        said = desk.comparisons.of_round(tenant=desk.tenant, task_id=task_id, round_id=challenge_id)
        if challenge.finalists and (left := left_to_compare(task, said)):
            return Progress(state="comparing", dimensions=left)
        places = _places(desk, task, challenge, said)
        if (lost := _lost(task, challenge, places)) is not None:
            return leave(desk, challenge, why_uncompared(said, lost) or NOBODY_COULD)
        upheld = _place_of(places, challenge.submission_id) != _place_of(task.places, challenge.submission_id)
        spends = tuple(spend for one in said for spend in one.spends)
        challenge = desk.challenges.decide(
            challenge, "upheld" if upheld else "rejected", places=places if upheld else (), spends=spends
        )
    return settle(desk, challenge)


def settle(desk: TaskDesk, challenge: Challenge) -> Progress:
    """Bring into the records what a decision says; every part of it may be repeated."""
    if challenge.state == "waiting":
        return Progress(state="decided")
    task = desk.task(challenge.task_id)
    if challenge.id in task.undecided:
        if challenge.state == "upheld" and challenge.scoring is not None:
            ref = SubmissionRef(tenant=desk.tenant, task_id=task.id, submission_id=challenge.submission_id)
            desk.judgements.rescore(
                ref, scoring=challenge.scoring, readings=challenge.readings, passages=challenge.passages
            )
            _recompare(desk, task, challenge)
        desk.tasks.decide(
            tenant=desk.tenant,
            task_id=task.id,
            challenge_id=challenge.id,
            places=challenge.places if challenge.state == "upheld" else None,
        )
    desk.challenges.settle(challenge)
    return Progress(state="decided")


def _recompare(desk: TaskDesk, task: Task, challenge: Challenge) -> None:
    """Keep the new comparisons of the finalists, and none of those who are finalists no more."""
    submissions = all_of(desk, task)
    finalists = {one.submission_id for one in shortlist_with(submissions, challenge).finalists}
    compared = finalists if len(finalists) >= LEAST_ENTRIES else set()
    said = desk.comparisons.of_round(tenant=desk.tenant, task_id=task.id, round_id=challenge.id)
    for one in submissions.values():
        if one.id in challenge.finalists:
            comparisons, uncompared = of_finalist(task, said, one.id)
            desk.judgements.recompare(
                one.ref, comparisons=comparisons, uncompared=uncompared, why=why_uncompared(said, one.id)
            )
        elif one.id not in compared and (one.comparisons or one.uncompared):
            desk.judgements.recompare(one.ref, comparisons=())


def leave(desk: TaskDesk, challenge: Challenge, why: Unjudged) -> Progress:
    return settle(desk, desk.challenges.leave(challenge, why=why))


def _places(
    desk: TaskDesk, task: Task, challenge: Challenge, said: tuple[DimensionComparison, ...]
) -> tuple[Place, ...]:
    """The ranking by the new scores: with the new comparisons where there are any, else with those that stand."""
    submissions = all_of(desk, task)
    chosen = shortlist_with(submissions, challenge)
    finals: dict[str, float] = {}
    for finalist in chosen.finalists:
        comparisons = _comparisons(task, submissions[finalist.submission_id], challenge, said)
        if len(comparisons) == len(task.dimensions):
            finals[finalist.submission_id] = final_of(task, comparisons)
    return rank(chosen, finals)


def _comparisons(
    task: Task, submission: Submission, challenge: Challenge, said: tuple[DimensionComparison, ...]
) -> tuple[Comparison, ...]:
    if challenge.finalists:
        return of_finalist(task, said, submission.id)[0]
    return submission.comparisons


def shortlist_with(submissions: Mapping[str, Submission], challenge: Challenge) -> Shortlist:
    """The contest with the challenge's scores in place of the submission's own."""
    contenders = {one.id: one.contender for one in submissions.values()}
    challenged = submissions[challenge.submission_id]
    if challenge.scoring is not None:
        bands: dict[str, Band] = {one.dimension: one.band for one in challenge.scoring.dimension_scores}
        contenders[challenged.id] = Contender(
            submission_id=challenged.id,
            submitted_at=challenged.submitted_at,
            penalized_total=challenge.scoring.penalized_total,
            bands=bands,
        )
    return shortlist(one for one in contenders.values() if one is not None)


def _place_of(places: Sequence[Place], submission_id: str) -> int | None:
    """The rank of a submission; None for one without, as it was eliminated or could not be scored."""
    return next((place.rank for place in places if place.submission_id == submission_id), None)


def all_of(desk: TaskDesk, task: Task) -> dict[str, Submission]:
    return {one.id: one for one in desk.submissions.of_task(tenant=desk.tenant, task_id=task.id)}


def _lost(task: Task, challenge: Challenge, places: Sequence[Place]) -> str | None:
    """A finalist that would lose its rank, or the challenged one that would get none, since nobody could compare it.

    None where there is none. A challenge does not take from a party what a judge's failure would.
    """
    ranked = {place.submission_id for place in task.places if place.rank is not None} | {challenge.submission_id}
    return next((place.submission_id for place in places if place.rank is None and place.submission_id in ranked), None)
