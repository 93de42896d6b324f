"""A challenge to a ranking: the submission scored again by another provider, and what follows for the ranking.

    score again ─> would another finalist have to be compared? ─ no ──────────────────────────┬─> another place: upheld
                                                               └ yes ─> all finalists again ──┘   the same: rejected

Challenges are decided in the order of their arrival, one after the other, so that each is held against the ranking that
stands. What nobody could judge changes nothing: the challenge is `unresolved`, and says why.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from touchstone.clock import Deadline
from touchstone.errors import SettingsError
from touchstone.judges.base import Judge
from touchstone.operations.deferral import GivenUp, Postponed
from touchstone.operations.tasks.closing import SETTLED_WITHIN
from touchstone.operations.tasks.comparing import compare_round, final_of, left_to_compare, of_finalist
from touchstone.operations.tasks.desk import A_ROUND, GOING_ON, Progress, TaskDesk
from touchstone.operations.tasks.finalists import begin_round, entry_of, read_finalists
from touchstone.operations.tasks.trying import NOBODY, follow_up, with_judge
from touchstone.oracle.asking import NotScored
from touchstone.oracle.bands import Band
from touchstone.oracle.challenge import Challenge
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.entries import Entry
from touchstone.oracle.horizontal import LEAST_ENTRIES
from touchstone.oracle.model import DimensionScore
from touchstone.oracle.ranking import Contender, Place, Shortlist, rank, shortlist
from touchstone.oracle.scoring import Scored, score_submission
from touchstone.oracle.submission import Comparison, Submission, SubmissionRef
from touchstone.oracle.task import Task
from touchstone.oracle.unjudged import Unjudged
from touchstone.records.judgements import CHALLENGED

SCORE_SECONDS = 780.0
TURN = timedelta(seconds=15)
"""How long a challenge waits before it looks again whether those before it are decided."""
INTERRUPTED = "Each try to score it again was interrupted before there was a result."
NO_OTHER = (
    "No other provider can be asked: a challenge needs the key of a second one, beside that of whoever judged first."
)


async def rescore(desk: TaskDesk, task_id: str, challenge_id: str) -> Progress:
    """Score the challenged submission again, and see what that means for the ranking.

    `comparing`: the finalists must be compared again, dimension by dimension. `deciding`: nothing is left to ask.
    `waiting`: for those before it or for another try. `decided`: there is nothing to do any more.
    """
    task = desk.task(task_id)
    challenge = desk.challenges.get(tenant=desk.tenant, task_id=task_id, challenge_id=challenge_id)
    if challenge.state != "waiting" or challenge_id not in task.undecided:
        return _settle(desk, challenge)
    if desk.clock() - challenge.created_at >= SETTLED_WITHIN + timedelta(seconds=task.request.challenge_seconds):
        why = challenge.failure or Unjudged(stage="scoring", reason="timed_out", details=(INTERRUPTED,))
        return _leave(desk, challenge, why)
    if task.undecided[0] != challenge_id:
        return _carried(desk, challenge, Progress(state="waiting", until=desk.clock() + TURN))
    if challenge.scoring is None:
        scored = await _score_again(desk, task, challenge)
        if isinstance(scored, Progress):
            return scored
        challenge = scored
    return _carried(desk, challenge, await _onward(desk, task, challenge))


async def compare_again(desk: TaskDesk, task_id: str, challenge_id: str, *, dimension: str) -> Progress:
    """Compare the finalists that a challenge leads to on one dimension, by the provider that scored again."""
    challenge = desk.challenges.get(tenant=desk.tenant, task_id=task_id, challenge_id=challenge_id)
    judge = _judge_of(desk, challenge)

    def entries(task: Task, comparison: DimensionComparison) -> list[Entry]:
        return [entry_of(desk, task.id, each, _scores(desk, challenge, each)) for each in comparison.finalists]

    progress = await compare_round(
        desk, task_id, round_id=challenge_id, dimension=dimension, judge=judge, entries=entries
    )
    return _carried(desk, challenge, progress)


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
        unsaid = next((one for one in said if one.state == "unscored" or one.unscored), None)
        if unsaid is not None:
            return _leave(desk, challenge, _why(unsaid))
        places = _places(desk, task, challenge, said)
        upheld = _place_of(places, challenge.submission_id) != _place_of(task.places, challenge.submission_id)
        spends = tuple(spend for one in said for spend in one.spends)
        challenge = desk.challenges.decide(
            challenge, "upheld" if upheld else "rejected", places=places if upheld else (), spends=spends
        )
    return _settle(desk, challenge)


def _settle(desk: TaskDesk, challenge: Challenge) -> Progress:
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
    submissions = _all(desk, task)
    finalists = {one.submission_id for one in _shortlist(submissions, challenge).finalists}
    compared = finalists if len(finalists) >= LEAST_ENTRIES else set()
    said = desk.comparisons.of_round(tenant=desk.tenant, task_id=task.id, round_id=challenge.id)
    for one in submissions.values():
        if one.id in challenge.finalists:
            desk.judgements.recompare(one.ref, comparisons=of_finalist(task, said, one.id)[0])
        elif one.id not in compared and (one.comparisons or one.uncompared):
            desk.judgements.recompare(one.ref, comparisons=())


def _carried(desk: TaskDesk, challenge: Challenge, progress: Progress) -> Progress:
    """The progress of a challenge, noted with it, so that the sweep takes up only what nobody carries."""
    if progress.state in GOING_ON:
        desk.challenges.carry(challenge, until=progress.until or desk.clock() + A_ROUND)
    return progress


def _leave(desk: TaskDesk, challenge: Challenge, why: Unjudged) -> Progress:
    return _settle(desk, desk.challenges.leave(challenge, why=why))


async def _score_again(desk: TaskDesk, task: Task, challenge: Challenge) -> Challenge | Progress:
    """The challenge with a second opinion, or until when to wait for one; `decided` where there will be none."""
    challenge, ours = desk.challenges.begin(challenge)
    if not ours:
        if challenge.attempts.held(desk.clock()):
            return Progress(state="waiting", until=challenge.attempts.not_before)
        why = challenge.failure or Unjudged(stage="scoring", reason="timed_out", details=(INTERRUPTED,))
        return _leave(desk, challenge, why)
    submission = _submission(desk, challenge)
    if _other(desk, submission) is None:
        return _leave(desk, challenge, Unjudged(stage="scoring", reason="misconfigured", details=(NO_OTHER,)))
    asked = NOBODY

    async def work(judge: Judge) -> Scored | NotScored:
        nonlocal asked
        asked = judge.provider
        return await score_submission(
            task.request.brief,
            task.dimensions,
            desk.submissions.text(submission),
            judge=judge,
            deadline=Deadline.after(SCORE_SECONDS),
            use_cache=challenge.attempts.tries == 1,
        )

    found = await with_judge(_judge_of(desk, challenge), work)
    if isinstance(found, Scored):
        return desk.challenges.rescore(
            challenge,
            scoring=found.scoring,
            readings=found.readings,
            passages=found.passages,
            spends=found.spends,
        )
    why = Unjudged.of("scoring", found)
    match follow_up(found, tries=challenge.attempts.tries, provider=asked, now=desk.clock()):
        case GivenUp():
            return _settle(desk, desk.challenges.leave(challenge, why=why, spends=found.spends))
        case Postponed(until=until, counted=counted):
            desk.challenges.put_back(challenge, why=why, until=until, counted=counted, spends=found.spends)
            return Progress(state="waiting", until=until, reason=why.reason)


async def _onward(desk: TaskDesk, task: Task, challenge: Challenge) -> Progress:
    """Who must be compared again because of the second opinion: all finalists, where the submission is one of them or
    where it makes room for another."""
    submissions = _all(desk, task)
    chosen = _shortlist(submissions, challenge)
    finalists = [one.submission_id for one in chosen.finalists]
    unchanged = {one.id for one in submissions.values() if one.comparisons} == set(finalists)
    if len(finalists) < LEAST_ENTRIES or (unchanged and challenge.submission_id not in finalists):
        return Progress(state="deciding")
    read = await read_finalists(
        desk,
        task,
        [submissions[each] for each in finalists],
        judge=_judge_of(desk, challenge),
        during=CHALLENGED,
    )
    if isinstance(read, Progress):
        return read
    if read.unreadable:
        return _leave(desk, challenge, next(iter(read.unreadable.values())))
    desk.challenges.to_compare(challenge, finalists)
    return begin_round(desk, task, finalists, round_id=challenge.id)


def _places(
    desk: TaskDesk, task: Task, challenge: Challenge, said: tuple[DimensionComparison, ...]
) -> tuple[Place, ...]:
    """The ranking by the new scores: with the new comparisons where there are any, else with those that stand."""
    submissions = _all(desk, task)
    chosen = _shortlist(submissions, challenge)
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


def _shortlist(submissions: Mapping[str, Submission], challenge: Challenge) -> Shortlist:
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


def _scores(desk: TaskDesk, challenge: Challenge, submission_id: str) -> tuple[DimensionScore, ...]:
    """A finalist's scores by itself: the second opinion's, of others those that count now, whenever it was read."""
    ref = SubmissionRef(tenant=desk.tenant, task_id=challenge.task_id, submission_id=submission_id)
    own = challenge.scoring if submission_id == challenge.submission_id else desk.submissions.get(ref).individual
    return () if own is None else own.dimension_scores


def _judge_of(desk: TaskDesk, challenge: Challenge) -> Callable[[], Judge]:
    """The judge of a challenge: of a provider that had no part in the submission's scores."""

    def opened() -> Judge:
        judge = _other(desk, _submission(desk, challenge))
        if judge is None:
            raise SettingsError(NO_OTHER)
        return judge

    return opened


def _other(desk: TaskDesk, submission: Submission) -> Judge | None:
    """A judge of another provider than whoever scored the submission, or tried to where nobody did."""
    scored = {one.provider for one in submission.readings if one.provider is not None}
    return desk.other_judge(tuple(scored or {one.provider for one in submission.spends}))


def _submission(desk: TaskDesk, challenge: Challenge) -> Submission:
    return desk.submissions.get(
        SubmissionRef(tenant=desk.tenant, task_id=challenge.task_id, submission_id=challenge.submission_id)
    )


def _all(desk: TaskDesk, task: Task) -> dict[str, Submission]:
    return {one.id: one for one in desk.submissions.of_task(tenant=desk.tenant, task_id=task.id)}


def _why(unsaid: DimensionComparison) -> Unjudged:
    details = tuple(fault for faults in unsaid.unscored.values() for fault in faults)
    return unsaid.failure or Unjudged(stage="comparison", reason="invalid_reply", details=details)
