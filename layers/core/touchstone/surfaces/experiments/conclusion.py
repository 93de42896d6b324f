"""The conclusion from the pairs of an experiment: which variant is better, by how much, and how sure that is."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator

from touchstone.judges.base import JudgeCount
from touchstone.material.parts import PartId
from touchstone.strict import Strict
from touchstone.surfaces.experiments.generation import NotMade
from touchstone.surfaces.experiments.makers import Maker
from touchstone.surfaces.experiments.preference import Choice
from touchstone.surfaces.model import ItemLabel
from touchstone.surfaces.names import MetricName, Surface

type Verdict = Literal["a_better", "b_better", "no_difference_shown", "not_compared"]
"""The verdict on two variants in one respect. `not_compared`: no interval could be drawn (no pair has both scores, or
there are too few sources)."""
type Overall = Verdict | Literal["mixed"]
"""The verdict of all respects together. `mixed`: one variant is better in one respect, and the other in another."""
PREFERENCE = "preference"
"""The name of the respect that is no metric."""
DECIMALS = 6
"""The decimals that metrics' scores have. Further ones are only errors of binary arithmetic."""
Rounded = Annotated[float, AfterValidator(lambda value: round(value, DECIMALS) + 0.0)]
"""A figure of `DECIMALS` decimals. Adding 0.0 turns -0.0 into 0.0."""
type Interval = tuple[Rounded, Rounded]
type Stopped = Literal["max_cost", "day_quota"]
"""Why pairs were not measured: the next call could have cost more than was allowed, or a provider's quota of the day is
spent."""


class PanelAgreement(Strict):
    """How far several judges agree in one respect: on the class or number of items, or on which variant is better.

    `alpha` is Krippendorff's alpha (1: complete, 0: as by chance, below 0: less); for numbers it is the one for
    intervals. It is null if nothing can be said. `voted` is the number of things of which at least two judges said
    something. On `split` of them the judges differ.
    """

    judges: int
    alpha: Rounded | None
    voted: int
    split: int


class Replication(Strict):
    """How a figure varies if the same judges are asked the same again. Only what they say varies, not the items.

    `differences` holds B's mean less A's for each of the `runs`, in points of 100, over the pairs with both scores in
    that run; null for a run without such a pair. `variance` is the variance of the differences (points squared, divided
    by their number less one). `item_variance` is the variance of one pair's difference between runs, on average over
    the pairs with two runs or more. Both are null with fewer than two.
    """

    runs: int
    differences: tuple[Rounded | None, ...]
    variance: Rounded | None
    item_variance: Rounded | None


class VariantComparison(Strict):
    """Two variants in one respect, over the pairs in which both have a score.

    Means are 0-100, and `difference` is B's mean less A's, in points of 100; all three are None if nothing was
    compared. `interval` covers the true difference in 95 % of experiments (see `paired_difference`); `interval` and
    `p_value` are None with fewer than five sources. `adjusted_p_value` is corrected for everything that the experiment
    compares (Holm). `detectable` is the smallest difference, of either sign, that an experiment of this size and spread
    finds at least four times of five, however many respects it compares; None if the differences do not vary or come
    from one source.

    `compared` is the number of pairs, and `sources` the number of their sources. `sources_needed` is the number of
    sources, old and new, with which the difference would be shown four times of five, if new sources are like these. It
    is None if the difference is shown, if there is no difference, if there is only one source (it does not tell how
    sources differ), or if more than 10,000 would be needed. A variant is better only if the interval excludes 0 and the
    adjusted p-value is at most 0.05.

    If the same was asked several times, a pair's score is the mean of the times that have a score, and `replication`
    says how much they vary. `agreement` is the agreement of several judges asked side by side. Each of the two is None
    if it was not wanted.
    """

    a_mean: Rounded | None
    b_mean: Rounded | None
    difference: Rounded | None
    interval: Interval | None
    p_value: float | None
    adjusted_p_value: float | None
    detectable: Rounded | None
    compared: int
    sources: int
    sources_needed: int | None = None
    verdict: Verdict
    replication: Replication | None = None
    agreement: PanelAgreement | None = None


class Missing(Strict):
    """Something that has no score: a whole item (`part` is null), or one part of it.

    A part is named by its id in the material, or by its number. `nothing_to_judge` means that the metric found nothing
    in the item that it could measure, such as a quiz without distractors.
    """

    item: PartId
    part: str | None
    reason: NotMade | Literal["no_source", "nothing_to_judge"]
    details: tuple[str, ...] = ()


class FailedItem(Strict):
    """An item of a variant that could not be made, so that no metric has a score for it.

    `variant` is the name of the variant.
    """

    variant: str
    item: PartId
    reason: NotMade
    details: tuple[str, ...] = ()


class Denominator(Strict):
    """How much of a variant the score of a metric covers.

    `items` have a score, and `unscored_items` have none. `parts` is the number of parts (questions, cards, claims,
    topics) of the scored items that were judged, and `unscored_parts` the number of parts of all items that nobody
    could judge. `missing` shows the first unscored items and parts: first what nobody could judge, then what there was
    nothing to judge in. If the same was asked several times, all of this is of the first time.
    """

    items: int
    unscored_items: int
    parts: int
    unscored_parts: int
    missing: tuple[Missing, ...] = ()


class ItemDifference(Strict):
    """One item behind a difference: both scores (0-100), B's less A's, and the labels that lower the scores most.

    Each label has its reason. A flaw that only one variant has explains the difference.
    """

    item: PartId
    source: PartId
    a: float
    b: float
    difference: Rounded
    a_labels: tuple[ItemLabel, ...]
    b_labels: tuple[ItemLabel, ...]

    @property
    def a_lost(self) -> tuple[ItemLabel, ...]:
        """The labels with which A lost points."""
        return tuple(label for label in self.a_labels if label.value < 1)

    @property
    def b_lost(self) -> tuple[ItemLabel, ...]:
        """The labels with which B lost points."""
        return tuple(label for label in self.b_labels if label.value < 1)


class MetricComparison(VariantComparison):
    """One metric. `favouring_a` and `favouring_b` are the items with the largest differences in favour of A and B."""

    metric: MetricName
    a: Denominator
    b: Denominator
    favouring_a: tuple[ItemDifference, ...]
    favouring_b: tuple[ItemDifference, ...]


class PreferredItem(Strict):
    """One item of which a judge preferred one variant, or was undecided, with its reasons in both orders."""

    item: PartId
    source: PartId
    verdict: Choice
    flipped: bool
    reasons: tuple[str, str]


class PreferenceComparison(VariantComparison):
    """What a judge prefers as a whole. The score of a variant is its share of wins; a tie counts half a win (0-100).

    `ties` include the `flipped` pairs. `flip_rate` (0-1) is the share of the pairs judged in both orders whose verdict
    changed when the order was swapped, with its Wilson interval of 95 %; both are null if there is no such pair.
    `unscored` pairs lack an order. With several judges, each judge's swap counts in the flip rate, and `splits` of the
    ties are pairs on which the judges do not agree. If judges are asked in turn, only the swap of the first judge
    counts, and those pairs may have been decided by another. If the same was asked several times, each time counts in
    `flipped` and the flip rate. `asked` is false if no judge was wanted, because only metrics were named that need
    none. `excerpts` is the number of pairs with a verdict of which the judge saw only excerpts, since they were too
    long for one prompt.
    """

    wins_a: int
    wins_b: int
    ties: int
    flipped: int
    flip_rate: float | None
    flip_interval: Interval | None
    unscored: int
    splits: int = 0
    asked: bool = True
    excerpts: int = 0
    examples: tuple[PreferredItem, ...]


class PromptVersion(Strict):
    """A prompt that was used: its purpose, and the start of the SHA-256 of its file."""

    purpose: str
    version: str


class ExperimentOutlay(Strict):
    """What an experiment cost. `calls` were sent; `cached` questions were answered without a call.

    `cost_usd` is the cost of the calls whose price is known, in US dollars; `unpriced` is the number of the other
    calls. `batched` of the calls went by a provider's batch, and `saved_usd` is what that saved; null if no call did,
    or no saving is known.
    """

    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    batched: int = 0
    saved_usd: float | None = None


class MakerOutlay(Strict):
    """The maker of a variant and what it took, without the judging of its items.

    `made` items exist, and `failed` items do not. `calls` were sent, counting all runs and failed calls. `seconds` is
    the median duration of the calls that were sent at once; null if there is none. `cost_usd` is the cost of the calls
    whose price is known, in US dollars; `unpriced` is the number of the other calls.
    """

    maker: Maker
    made: int
    failed: int
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int
    seconds: Rounded | None
    models: tuple[str, ...]


class Conclusion(Strict):
    """The result of an experiment. Every report is made from it.

    `pairs` is the number of pairs asked for, and `measured` the number of pairs that were measured. `stopped` is why
    the others were not, null if all were. `sources` is the number of sources of the measured pairs. `makers` are the
    makers of A and of B and what they took, null for a variant whose items were given or generated. `judges` is how
    many judges measured, `until_sure` if they were asked one after the other. `replicates` is how often each of them
    was asked the same.
    """

    name: str
    surface: Surface
    a: str
    b: str
    verdict: Overall
    metrics: tuple[MetricComparison, ...]
    preference: PreferenceComparison
    pairs: int
    measured: int
    sources: int
    stopped: Stopped | None = None
    failed: tuple[FailedItem, ...] = ()
    outlay: ExperimentOutlay
    makers: tuple[MakerOutlay | None, MakerOutlay | None] = (None, None)
    judges: JudgeCount = 1
    replicates: int = 1
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Respect:
    """One respect: a metric, or `preference`.

    `unscored_a` and `unscored_b` are the numbers of items of each variant without a score, among those that were
    measured.
    """

    name: str
    comparison: VariantComparison
    unscored_a: int
    unscored_b: int

    @property
    def verdict(self) -> Verdict:
        """The verdict in this respect."""
        return self.comparison.verdict


def respects_of(conclusion: Conclusion) -> tuple[Respect, ...]:
    """All respects: the metrics in their order, then the preference."""
    metrics = (
        Respect(name=one.metric, comparison=one, unscored_a=one.a.unscored_items, unscored_b=one.b.unscored_items)
        for one in conclusion.metrics
    )
    unscored = conclusion.preference.unscored
    preference = Respect(name=PREFERENCE, comparison=conclusion.preference, unscored_a=unscored, unscored_b=unscored)
    return (*metrics, preference)
