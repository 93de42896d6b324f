"""What the pairs of an experiment come to: which variant is better, by how much, and how sure that is."""

from typing import Annotated, Literal

from pydantic import AfterValidator

from touchstone.material.parts import PartId
from touchstone.strict import Strict
from touchstone.surfaces.experiments.generation import NotMade
from touchstone.surfaces.experiments.makers import Maker
from touchstone.surfaces.experiments.preference import Choice
from touchstone.surfaces.model import ItemLabel, MetricName, Surface

type Verdict = Literal["a_better", "b_better", "no_difference_shown", "not_compared"]
"""What is shown of two variants; `not_compared`: no interval could be drawn (nothing with both scores, few sources)."""
type Overall = Verdict | Literal["mixed"]
"""All verdicts together; `mixed`: one variant is better in something, and the other in something else."""
DECIMALS = 6
"""As metrics' scores have; what stands behind them is left over from computing in binary."""
Rounded = Annotated[float, AfterValidator(lambda value: round(value, DECIMALS) + 0.0)]
"""A figure of so many decimals; the sum is never -0.0."""
type Interval = tuple[Rounded, Rounded]
type Stopped = Literal["max_cost", "day_quota"]
"""Why pairs were not measured: the next call could have cost more than was allowed, or a provider's day is spent."""


class PanelAgreement(Strict):
    """How several judges agree in one respect: on the classes or numbers of items, or on which variant is better.

    `alpha` is Krippendorff's (1: completely, 0: as by chance, below: less), of numbers that for intervals; None where
    nothing can be said of it. Of `voted` things at least two judges said something; on `split` of them they differ.
    """

    judges: int
    alpha: Rounded | None
    voted: int
    split: int


class Replication(Strict):
    """How a figure varies where the same judges are asked the same again: only by what they say, not by the items.

    `differences` are B's mean less A's in each of the `runs`, in points of 100, over the pairs with both scores in it;
    None for one without any. `variance` is theirs (points squared, by one less than their number), and `item_variance`
    that of one pair's difference between runs, on average over pairs with two runs or more; None with fewer than two.
    """

    runs: int
    differences: tuple[Rounded | None, ...]
    variance: Rounded | None
    item_variance: Rounded | None


class VariantComparison(Strict):
    """Two variants in one respect, over the pairs in which both have a score.

    Means are 0-100 and `difference` is B's mean less A's, in points of 100; all three are None where nothing was
    compared. `interval` covers the true difference in 95 % of experiments (see `paired_difference`); it and `p_value`
    are None with fewer than five sources. `adjusted_p_value` is corrected for everything that the experiment compares
    (Holm). `detectable` is the smallest difference, of either sign, that an experiment of this size and spread finds at
    least four times of five, however many respects it compares; None where the differences do not vary or come from one
    source.

    `compared` is the number of pairs, and `sources` that of their sources. `sources_needed` is with how many in all,
    were new ones like these, the difference would be shown four times of five; None where it is shown, where there is
    none, where one source tells nothing of how they differ, or where it would take over 10,000. A variant is better
    only where the interval excludes 0 and the adjusted p-value is at most 0.05.

    Where the same was asked several times, a pair's score is the mean of the times that have one, and `replication`
    says how much they vary. `agreement` is that of several judges. Both are None where that was not wanted.
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
    """What has no score: a whole item (`part` None), or one part of it, by its id in the material or its number.

    `nothing_to_judge`: the metric found nothing in the item that it could measure, a quiz without distractors, say.
    """

    item: PartId
    part: str | None
    reason: NotMade | Literal["no_source", "nothing_to_judge"]
    details: tuple[str, ...] = ()


class FailedItem(Strict):
    """An item of a variant (its name) that could not be made, so that no metric has a score for it."""

    variant: str
    item: PartId
    reason: NotMade
    details: tuple[str, ...] = ()


class Denominator(Strict):
    """How much of a variant a metric's score speaks for.

    `items` have a score, `unscored_items` none. `parts` are what the scored items were taken apart into (questions,
    cards, claims, topics) and judged, and `unscored_parts` those of all items that nobody could judge; `missing` shows
    the first of both. Where the same was asked several times, all of it is of the first time.
    """

    items: int
    unscored_items: int
    parts: int
    unscored_parts: int
    missing: tuple[Missing, ...] = ()


class ItemDifference(Strict):
    """One item behind a difference: both scores (0-100), B's less A's, and the labels that count least, with reasons.

    A flaw of which only one variant has a label tells what makes the difference.
    """

    item: PartId
    source: PartId
    a: float
    b: float
    difference: Rounded
    a_labels: tuple[ItemLabel, ...]
    b_labels: tuple[ItemLabel, ...]


class MetricComparison(VariantComparison):
    """One metric. `favouring_a` and `favouring_b` are the items with the largest differences either way."""

    metric: MetricName
    a: Denominator
    b: Denominator
    favouring_a: tuple[ItemDifference, ...]
    favouring_b: tuple[ItemDifference, ...]


class PreferredItem(Strict):
    """One item that a judge preferred one variant of, with its reasons in both orders, or where it was torn."""

    item: PartId
    source: PartId
    verdict: Choice
    flipped: bool
    reasons: tuple[str, str]


class PreferenceComparison(VariantComparison):
    """What a judge prefers as a whole. The score of a variant is its share of wins, a tie being half of one (0-100).

    `ties` include the `flipped` ones. `flip_rate` (0-1) is how often the verdict did not survive the swap, of those
    judged in both orders, with the Wilson interval of 95 %; both None without any. `unscored` pairs lack an order. Of
    several judges each one's swap counts in the flip rate, and `splits` of the ties are pairs on which they do not
    agree. `asked` False: no judge was wanted at all, as only metrics were named that need none. `excerpts` counts the
    pairs with a verdict of which the judge saw excerpts, since they were too long for one prompt.
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
    """A prompt that was used: what it asks, and the start of the SHA-256 of its file."""

    purpose: str
    version: str


class ExperimentOutlay(Strict):
    """What an experiment cost. `calls` were sent; `cached` were answered without one.

    `cost_usd` is that of the calls whose price is known; `unpriced` counts the others. `batched` of the calls went by
    a provider's batch, and `saved_usd` is what that saved, None where none did, or nothing of it is known.
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
    """What a variant's maker was and took, apart from the judging of what it made.

    `made` items are there and `failed` are not; `calls` were sent, all runs and failed ones together, and took
    `seconds` each, as the median of those sent at once; None where none was. `cost_usd` is that of the calls whose
    price is known; `unpriced` counts the others.
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
    """The result of an experiment, from which every report is made.

    `pairs` were asked for and `measured` were measured; `stopped` is why the others were not, None where all were.
    `sources` are those of the pairs that were measured. `makers` are those of A and of B and what they took, None where
    the items of the variant were given or generated. `judges` is how many measured, and `replicates` how often each of
    them was asked the same.
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
    judges: int = 1
    replicates: int = 1
    seed: int
