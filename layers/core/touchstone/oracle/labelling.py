"""Gate checks as items for people to label: does this submission meet this criterion?"""

from collections.abc import Iterator, Mapping
from typing import Final

from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy, single_replier
from touchstone.oracle.model import TIER, DimensionScore, GateCheck
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import DECIDED, Task
from touchstone.references import Reference
from touchstone.statistics.tallies import CardTally, Judged, JudgedVote, JudgeKey

KIND: Final = "gate_check"
PASS, FAIL = "pass", "fail"
CLASSES = (PASS, FAIL)
SCORING: Final = "individual_scoring"
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = {"gate": (KIND, TIER), "individual": (SCORING, TIER)}
"""The calls of a submission that bring verdicts. Maps the purpose of the call to the kind of the verdict and the tier
of the judge."""


def submission_ref(tenant: str, record_id: str) -> Reference:
    """The reference to the submission that a label names as `<task id>.<submission id>`."""
    task_id, _, submission_id = record_id.partition(".")
    return Reference(tenant, "submission", submission_id, task_id)


def judged_criterion(task: Task, submission: Submission, item: str) -> Judged:
    """What the gate check says of a criterion. `item` is the criterion's number, counted from 1.

    Raises `NotFoundError` if the task has no such criterion, and `ConflictError` if the task is not decided yet.
    """
    criteria = task.request.brief.acceptance_criteria
    numbers = [str(number) for number in range(1, len(criteria) + 1)]
    if item not in numbers:
        raise NotFoundError(f"There is no such criterion; this task has {len(criteria)}, counted from 1.")
    if task.state not in DECIDED:  # before that, a label would reveal something about the work of others
        raise ConflictError("This task is not decided yet; label its submissions when it is.")
    gate, place = submission.gate, numbers.index(item)
    if gate is None:
        return Judged(classes=CLASSES, verdict=None, confidence=None, judge=_judge(submission), votes=())
    found = gate.criteria_checks[place]
    return Judged(
        classes=CLASSES,
        verdict=None if found.passed is None else (FAIL, PASS)[found.passed],
        confidence=None if gate.votes else found.confidence,
        judge=None if gate.votes else _judge(submission),
        votes=tuple(votes_on(gate, place)),
    )


def votes_on(gate: GateCheck, place: int) -> Iterator[JudgedVote]:
    """What each of several judges said of a criterion (`place` counts from 0). Empty if one judge checked it."""
    for vote in gate.votes:
        if vote.passed and vote.model is not None:
            by = JudgedBy(model=vote.model, prompt_version=vote.prompt_version)
            confidence = vote.confidences[place] if vote.confidences else None
            yield JudgedVote(verdict=(FAIL, PASS)[vote.passed[place]], confidence=confidence, judge=card_key(by))


def agreement_of(submission: Submission) -> Iterator[tuple[JudgeKey, CardTally]]:
    """What the votes of several judges add to each judge's card: how often they say the same.

    They are compared on whether each criterion is met, and on the band of each dimension. Judges of criteria that were
    asked one after the other do not count, because the second sees only what the first was not sure of.
    """
    gate, scoring = submission.gate, submission.individual
    together = (
        []
        if gate is None or gate.in_turn
        else [tuple(votes_on(gate, place)) for place in range(len(gate.criteria_checks))]
    )
    together += [] if scoring is None else [tuple(bands_of(one)) for one in scoring.dimension_scores]
    for votes in together:
        if len(votes) > 1:
            tally = CardTally(panels={tuple(sorted(vote.verdict for vote in votes)): 1})
            for judge in dict.fromkeys(vote.judge for vote in votes):
                yield judge, tally


def bands_of(score: DimensionScore) -> Iterator[JudgedVote]:
    """The band that each of several judges gave a dimension. Empty if one judge scored it."""
    for vote in score.votes:
        if vote.band is not None and vote.model is not None:
            key = JudgeKey(model=vote.model, tier=TIER, prompt_version=vote.prompt_version, kind=SCORING)
            yield JudgedVote(verdict=vote.band, confidence=None, judge=key)


def _judge(submission: Submission) -> JudgeKey | None:
    """The card of whoever checked the criteria; None if that is not known.

    The gate check says who it was. If it does not, the calls tell: without any gate call, code decided (nobody is asked
    about a blank text); otherwise the judge is known if all replies are from the same one.
    """
    found = None if submission.gate is None else submission.gate.judge
    if found is None and submission.gate is not None and not any(one.purpose == "gate" for one in submission.spends):
        found = BY_CHECKS
    found = found or single_replier(submission.spends, "gate")
    return None if found is None else card_key(found)


def card_key(judge: JudgedBy) -> JudgeKey:
    """The card for which a label of a check counts. A verdict of code, which needed no judge, has no tier."""
    tier = None if judge == BY_CHECKS else TIER
    return JudgeKey(model=judge.model, tier=tier, prompt_version=judge.prompt_version, kind=KIND)
