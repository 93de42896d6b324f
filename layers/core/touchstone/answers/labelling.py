"""Attempts as items that a person may label: was the answer right or wrong, and what did the judge say of it?"""

from collections.abc import Iterator, Mapping
from typing import Final

from touchstone.answers.model import ENDED, AnswerRecord, Attempt, Verification
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.base import Tier
from touchstone.statistics.tallies import CHECKS, Judged, JudgedVote, JudgeKey, RatedAs

KIND: Final = "quick_verify"
RIGHT, WRONG = "right", "wrong"
CLASSES = (RIGHT, WRONG)
EXPECTED = "expected"
"""Stands for the model on a card if the answer key decided."""
RETRIEVED = "retrieved"
"""Stands for the model on a card if the verdict is that of an earlier answer to the same problem."""

CARDS_OF_CALLS: Mapping[str, tuple[str, Tier]] = {
    "verify": (KIND, "verify"),
    "evaluate": ("deep_evaluation", "evaluate"),
}
"""The calls of an answer that bring verdicts: each purpose with the kind of its verdict and the tier that is asked."""


def judged_attempt(record: AnswerRecord, item: str) -> Judged:
    """The verdict on an attempt. `item` is the attempt's number as text.

    Raises `NotFoundError` if there is no such attempt, `ConflictError` if the answer has not ended or the attempt was
    not to be verified. A verdict that the judge's own words speak against has no confidence here: its number may be a
    cap.
    """
    attempt = next((each for each in record.attempts if str(each.number) == item), None)
    if attempt is None:
        raise NotFoundError(f"There is no such attempt; this answer has {record.attempt_count}, counted from 1.")
    if record.stage not in ENDED or attempt.verification is None:
        raise ConflictError("This attempt has no verdict yet; label it when the answer has ended.")
    found = attempt.verification
    return Judged(
        classes=CLASSES,
        verdict=None if found.passed is None else (WRONG, RIGHT)[found.passed],
        confidence=None if found.passed is None or found.contradicts_itself or _together(found) else found.confidence,
        judge=None if found.passed is None and (found.opinions or found.votes) else _judge(record, found),
        votes=tuple(_votes(found)),
        rated_as=rated(record, attempt),
    )


def rated(record: AnswerRecord, attempt: Attempt) -> RatedAs | None:
    """Whose correctness the verdict on an attempt counts for.

    None if the answer was retrieved: it counts for nobody.
    """
    found = attempt.verification
    if record.retrieved_from is not None or (found is not None and found.method == "retrieved"):
        return None
    return RatedAs(
        provider=attempt.solution.provider,
        model=attempt.solution.model,
        subject=record.subject,
        difficulty=record.difficulty,
    )


def verdicts_of(found: Verification | None) -> Iterator[tuple[JudgeKey, str]]:
    """The judges' verdicts on an attempt, each with its card. None of them if a check decided."""
    for vote in () if found is None else _votes(found):
        yield vote.judge, vote.verdict
    if found is not None and found.method == "judge" and found.passed is not None and found.model is not None:
        yield _key(found.model, found.prompt_version), (WRONG, RIGHT)[found.passed]


def _votes(found: Verification) -> Iterator[JudgedVote]:
    """The verdicts of judges other than the one whose verdict stands.

    These are all verdicts if several judges decided together, or if nobody decided.
    """
    for said in found.opinions:
        confidence = None if said.passed and said.error is not None else said.confidence
        yield JudgedVote(
            verdict=(WRONG, RIGHT)[said.passed], confidence=confidence, judge=_key(said.model, said.prompt_version)
        )
    for vote in found.votes:
        if vote.passed is None or vote.model is None or (found.model is not None and vote in found.counted):
            continue
        confidence = None if vote.contradicts_itself else vote.confidence
        yield JudgedVote(
            verdict=(WRONG, RIGHT)[vote.passed], confidence=confidence, judge=_key(vote.model, vote.prompt_version)
        )


def _together(found: Verification) -> bool:
    """Whether several judges decided together. Their mean confidence is no judge's own word."""
    return bool(found.votes) and found.model is None


def _judge(record: AnswerRecord, found: Verification) -> JudgeKey | None:
    """The judge whose verdict it is. None if nobody was asked."""
    match found.method:
        case "proof":
            return JudgeKey(model=CHECKS, tier=None, prompt_version=None, kind=KIND)
        case "expected":
            return JudgeKey(model=EXPECTED, tier=None, prompt_version=None, kind=KIND)
        case "retrieved":
            return JudgeKey(model=RETRIEVED, tier=None, prompt_version=None, kind=KIND)
        case "judge" | "none":
            if found.model is None:
                return None
            return _key(found.model, found.prompt_version or _sole_version(record, found.model))


def _key(model: str, prompt_version: str | None) -> JudgeKey:
    return JudgeKey(model=model, tier="verify", prompt_version=prompt_version, kind=KIND)


def _sole_version(record: AnswerRecord, model: str) -> str | None:
    """The prompt version for the verification of an older record, which does not name it.

    It is the version of all calls of the model that answered. None if they have several versions, or none answered.
    """
    versions = {
        spend.prompt_version
        for spend in record.spends
        if spend.purpose == "verify" and spend.model == model and spend.failure is None
    }
    return versions.pop() if len(versions) == 1 else None
