"""Attempts as things that a person may label: was the answer right or wrong, and what did the judge say of it?"""

from collections.abc import Mapping
from typing import Final

from touchstone.answers.model import ENDED, AnswerRecord, Verification
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.base import Tier
from touchstone.statistics.tallies import CHECKS, Judged, JudgeKey

KIND: Final = "quick_verify"
RIGHT, WRONG = "right", "wrong"
CLASSES = (RIGHT, WRONG)
EXPECTED = "expected"
"""Stands for the model of a card where the answer key decided."""
RETRIEVED = "retrieved"
"""Stands for the model of a card where the verdict is that of an earlier answer to the same problem."""

CARDS_OF_CALLS: Mapping[str, tuple[str, Tier]] = {
    "verify": (KIND, "verify"),
    "evaluate": ("deep_evaluation", "evaluate"),
}
"""The calls of an answer that bring verdicts, by what they are for: the kind of the verdict, and the tier asked."""


def judged_attempt(record: AnswerRecord, item: str) -> Judged:
    """The verdict on an attempt; `item` is its number.

    Raises `NotFoundError` where there is no such attempt, `ConflictError` for an answer that has not ended, or whose
    attempt nobody was to verify.
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
        confidence=None if found.passed is None else found.confidence,
        judge=_judge(record, found),
    )


def _judge(record: AnswerRecord, found: Verification) -> JudgeKey | None:
    """Whose verdict it is; None where nobody was asked."""
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
            version = found.prompt_version or _sole_version(record, found.model)
            return JudgeKey(model=found.model, tier="verify", prompt_version=version, kind=KIND)


def _sole_version(record: AnswerRecord, model: str) -> str | None:
    """The prompt of an older record's verification, where all those of its model that answered were asked by one."""
    versions = {
        spend.prompt_version
        for spend in record.spends
        if spend.purpose == "verify" and spend.model == model and spend.failure is None
    }
    return versions.pop() if len(versions) == 1 else None
