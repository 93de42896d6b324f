"""How sure a judge must be for its verdict to count: the threshold that people's labels give its card."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from touchstone.strict import Strict
from touchstone.text.language import Language

VERIFIED_FROM = 0.8
"""Lowest confidence (0-1) of a sure verdict, of a judge to whom labels give no threshold."""


class SureFrom(Strict):
    """The threshold that a verdict was held against: the confidence from which on people agree as often as is `wanted`.

    `confidence` None: labels show that people agree less often. The judge then decides nothing by verdicts below
    `silent_below`, and above that what would hold without labels holds; null: it decides nothing at all. It follows
    from so many `labels`; `version` is the word for it on the judge's card, whose id is `card`.
    """

    confidence: float | None = Field(ge=0.0, le=1.0)
    labels: int
    wanted: float
    card: str
    version: str
    silent_below: float | None = Field(default=None, ge=0.0, le=1.0)


type SureJudges = Mapping[tuple[str, str | None], SureFrom]
"""The thresholds of judges, by the model that answered and the prompt's version."""

NO_LABELS: SureJudges = MappingProxyType({})
"""Where nobody gave labels, or too few to say anything: each verdict stands as it is."""

type Sureness = Literal["by_labels", "without_labels", "unsure"]
"""`by_labels`: the verdict reaches the threshold that labels give. `without_labels`: it counts, and they give none."""


def sureness_of(confidence: float, sure_from: SureFrom | None, *, least: float | None = None) -> Sureness:
    """Whether a verdict of this confidence counts; `least` is what it takes where labels give no threshold.

    `least` None: nothing, there.
    """
    if sure_from is not None:
        if sure_from.confidence is not None:
            return "by_labels" if confidence >= sure_from.confidence else "unsure"
        if sure_from.silent_below is None or confidence < sure_from.silent_below:
            return "unsure"
    return "without_labels" if least is None or confidence >= least else "unsure"


def why_unsure(confidence: float, sure_from: SureFrom | None, language: Language, *, model: str | None) -> str:
    """Why a verdict of this confidence does not count, as a clause that names its judge."""
    kind: Literal["labels", "below", "never", "without"] = "without"
    if sure_from is not None and sure_from.confidence is not None:
        kind = "labels"
    elif sure_from is not None and sure_from.silent_below is None:
        kind = "never"
    elif sure_from is not None and confidence < (sure_from.silent_below or 0.0):
        kind = "below"
    least = None if sure_from is None or kind == "without" else sure_from.confidence or sure_from.silent_below
    return _WHY[language, kind].format(
        model=model,
        said=f"{confidence:.2f}",
        least=f"{VERIFIED_FROM if least is None else least:.2f}",
        labels=0 if sure_from is None else sure_from.labels,
        wanted="" if sure_from is None else f"{sure_from.wanted:.0%}",
    )


_WHY: Mapping[tuple[Language, str], str] = {
    ("en", "labels"): "{model} is sure to {said}; by {labels} labels people agree with {wanted} from {least} on",
    ("zh", "labels"): "{model} 的置信度为 {said}；据 {labels} 个人工标注，{least} 起才有 {wanted} 的判定得到认同",
    ("en", "below"): "{model} is sure to {said}; by {labels} labels people agree too seldom below {least} "
    "(wanted: {wanted})",
    ("zh", "below"): "{model} 的置信度为 {said}；据 {labels} 个人工标注，{least} 以下的判定得到认同的不足 {wanted}",
    ("en", "never"): "by {labels} labels people agree with fewer than {wanted} of the verdicts of {model}",
    ("zh", "never"): "根据 {labels} 个人工标注，{model} 的判定得到认同的不足 {wanted}",
    ("en", "without"): "{model} is sure to {said}; without labels of people {least} is asked of it",
    ("zh", "without"): "{model} 的置信度为 {said}；没有人工标注时须达到 {least}",
}
