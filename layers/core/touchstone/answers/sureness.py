"""Whether a judge is sure enough: its confidence against the threshold that people's labels give its card."""

from collections.abc import Iterable

from touchstone.answers.model import UnsureOpinion, Verification
from touchstone.judges.sureness import JudgeThresholds, SureFrom, check_confidence, why_unsure
from touchstone.text.language import Language


def apply_thresholds(verification: Verification, judges: JudgeThresholds, language: Language) -> Verification:
    """A judge's verdict, or no verdict if its card's threshold says that the judge is not sure enough.

    What the judge said stays in `opinions`. A judge without a threshold is believed as far as its confidence goes.
    """
    if verification.passed is None or verification.model is None:
        return verification
    sure_from = judges.get((verification.model, verification.prompt_version))
    if sure_from is None:
        return verification
    match check_confidence(verification.confidence, sure_from):
        case "by_labels":
            return verification.model_copy(update={"sure_from": sure_from})
        case "without_labels":
            return verification
        case "unsure":
            pass
    told = {"passed": None, "confidence": 0.0, "method": "none", "skip_reason": "unsure"}
    return verification.model_copy(
        update={
            **told,
            "error": _sentence(verification, sure_from, language),
            "opinions": (_opinion(verification, sure_from),),
        }
    )


def with_earlier_opinions(earlier: Iterable[UnsureOpinion], verification: Verification) -> Verification:
    """A later judge's verification, with the opinions of the earlier judges who were not sure enough."""
    return verification.model_copy(update={"opinions": (*earlier, *verification.opinions)})


def _opinion(verification: Verification, sure_from: SureFrom) -> UnsureOpinion:
    if verification.passed is None or verification.provider is None or verification.model is None:
        raise ValueError("only a judge's verdict is an opinion")
    return UnsureOpinion(
        passed=verification.passed,
        confidence=verification.confidence,
        independent_answer=verification.independent_answer,
        error=verification.error,
        provider=verification.provider,
        model=verification.model,
        prompt_version=verification.prompt_version,
        sure_from=sure_from,
    )


def _sentence(verification: Verification, sure_from: SureFrom, language: Language) -> str:
    why = why_unsure(verification.confidence, sure_from, language, model=verification.model)
    return NOT_VERIFIED[language].format(why)


NOT_VERIFIED = {"en": "Not verified: {}.", "zh": "未核实：{}。"}
