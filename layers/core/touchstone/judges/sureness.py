"""How sure a judge must be for its verdict to count: the threshold that people's labels give its card."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from touchstone.statistics.thresholds import DEFAULT_MIN_CONFIDENCE
from touchstone.strict import Strict
from touchstone.text.language import Language

type Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
"""How sure a judge says it is: how probable it finds it, from 0 to 1, that its verdict is right."""


class SureFrom(Strict):
    """The threshold of a verdict: the confidence from which on people agree with the share `wanted` of the verdicts.

    It follows from `labels` labels. `card` is the id of the judge's card, and `version` the word for the threshold on
    it. `confidence` is null if the labels show that people agree less often. Verdicts whose confidence is below
    `silent_below` then decide nothing, and the others count as they would without labels. If `silent_below` is null
    too, the judge decides nothing at all.
    """

    confidence: float | None = Field(ge=0.0, le=1.0)
    labels: int
    wanted: float
    card: str
    version: str
    silent_below: float | None = Field(default=None, ge=0.0, le=1.0)


type JudgeThresholds = Mapping[tuple[str, str | None], SureFrom]
"""The thresholds of judges, by the model that answered and the prompt's version."""

NO_THRESHOLDS: JudgeThresholds = MappingProxyType({})
"""No thresholds: nobody gave labels, or too few to say anything. Each verdict stands as it is."""

MOST_DECIMALS = 8
"""The decimals of a confidence that are shown are fewer than this."""

type ConfidenceCheck = Literal["by_labels", "without_labels", "unsure"]
"""`by_labels`: the verdict reaches the threshold that labels give. `without_labels`: the verdict counts, and labels
give no threshold. `unsure`: the verdict does not count."""


def check_confidence(confidence: float, sure_from: SureFrom | None, *, least: float | None = None) -> ConfidenceCheck:
    """Whether a verdict of this confidence counts.

    `least` is the confidence that it needs if labels give no threshold; None means that it needs none there.
    """
    if sure_from is not None:
        if sure_from.confidence is not None:
            return "by_labels" if confidence >= sure_from.confidence else "unsure"
        if sure_from.silent_below is None or confidence < sure_from.silent_below:
            return "unsure"
    return "without_labels" if least is None or confidence >= least else "unsure"


def why_unsure(confidence: float, sure_from: SureFrom | None, language: Language, *, model: str | None) -> str:
    """Why a verdict of this confidence does not count, as a clause that names the judge."""
    kind: Literal["labels", "below", "never", "without"] = "without"
    if sure_from is not None and sure_from.confidence is not None:
        kind = "labels"
    elif sure_from is not None and sure_from.silent_below is None:
        kind = "never"
    elif sure_from is not None and confidence < (sure_from.silent_below or 0.0):
        kind = "below"
    told = None if sure_from is None or kind == "without" else sure_from.confidence or sure_from.silent_below
    least = DEFAULT_MIN_CONFIDENCE if told is None else told
    # As many decimals as it takes to see that the one is lower than the other.
    decimals = next((count for count in range(2, MOST_DECIMALS) if round(confidence, count) < round(least, count)), 2)
    return _WHY[language, kind].format(
        model=model,
        said=f"{confidence:.{decimals}f}",
        least=f"{least:.{decimals}f}",
        labels=0 if sure_from is None else sure_from.labels,
        wanted="" if sure_from is None else f"{100 * sure_from.wanted:g}%",
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
