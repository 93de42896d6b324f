"""Whether a judge is sure enough: its confidence against the threshold that people's labels give its card."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from touchstone.answers.model import SureFrom, UnsureOpinion, Verification
from touchstone.text.language import Language

type SureJudges = Mapping[tuple[str, str | None], SureFrom]
"""The thresholds of the judges of answers, by the model that answered and the prompt's version."""

NO_LABELS: SureJudges = MappingProxyType({})
"""Where nobody gave labels, or too few to say anything: each verdict stands as it is."""


def held_against(verification: Verification, judges: SureJudges, language: Language) -> Verification:
    """A judge's verdict, or none where its card's threshold says that it is not sure enough.

    What it said stays in `opinions`. A judge without a threshold is believed as far as its confidence goes.
    """
    if verification.passed is None or verification.model is None:
        return verification
    sure_from = judges.get((verification.model, verification.prompt_version))
    if sure_from is None:
        return verification
    if sure_from.confidence is not None and verification.confidence >= sure_from.confidence:
        return verification.model_copy(update={"sure_from": sure_from})
    if sure_from.silent_below is not None and verification.confidence >= sure_from.silent_below:
        return verification
    told = {"passed": None, "confidence": 0.0, "method": "none", "skip_reason": "unsure"}
    return verification.model_copy(
        update={
            **told,
            "error": _sentence(verification, sure_from, language),
            "opinions": (_opinion(verification, sure_from),),
        }
    )


def after(earlier: Iterable[UnsureOpinion], verification: Verification) -> Verification:
    """A later judge's verification, with what the earlier ones said who were not sure enough."""
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
    words = _TOO_UNSURE
    if sure_from.confidence is None:
        words = _NEVER if sure_from.silent_below is None else _SILENT
    return words[language].format(
        model=verification.model,
        said=f"{verification.confidence:.2f}",
        least=f"{sure_from.confidence or sure_from.silent_below or 1.0:.2f}",
        labels=sure_from.labels,
        wanted=f"{sure_from.wanted:.0%}",
    )


_TOO_UNSURE = {
    "en": "Not verified: {model} is sure to {said}; by {labels} labels people agree with {wanted} from {least} on.",
    "zh": "未核实：{model} 的置信度为 {said}；据 {labels} 个人工标注，{least} 起才有 {wanted} 的判定得到认同。",
}
_SILENT = {
    "en": "Not verified: {model} is sure to {said}; by {labels} labels people agree too seldom below {least} "
    "(wanted: {wanted}).",
    "zh": "未核实：{model} 的置信度为 {said}；据 {labels} 个人工标注，{least} 以下的判定得到认同的不足 {wanted}。",
}
_NEVER = {
    "en": "Not verified: by {labels} labels people agree with fewer than {wanted} of the verdicts of {model}.",
    "zh": "未核实：根据 {labels} 个人工标注，{model} 的判定得到认同的不足 {wanted}。",
}
