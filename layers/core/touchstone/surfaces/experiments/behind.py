"""The items behind the figures of a conclusion, with their labels and reasons, and the items without a score."""

from collections.abc import Iterator, Sequence
from typing import Literal

from touchstone.surfaces.experiments.conclusion import Denominator, ItemDifference, Missing, PreferredItem
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.panels import (
    flipped_in,
    mean_scores,
    preferred_in,
    scores_of_metric,
    shown_preference,
)
from touchstone.surfaces.experiments.preference import Preference
from touchstone.surfaces.model import ItemLabel, MetricName, MetricResult

MOST_ITEMS = 5
"""Most items shown for each direction of a difference: enough to see a pattern, few enough to be read."""
MOST_LABELS = 5
MOST_MISSING = 20
MOST_PREFERRED = 10


def denominator(name: MetricName, sides: Sequence[tuple[str, Measured]]) -> Denominator:
    """How much of a variant a metric's scores speak for. `sides` are the variant's items, each with its id."""
    results = [side.results[name] for _, side in sides if name in side.results]
    scored = [one for one in results if one.score is not None]
    # What nobody could judge comes first, so that the first ones show whether there is any.
    missing = sorted(
        (one for item, side in sides for one in _missing(item, side, name)),
        key=lambda one: one.reason == "nothing_to_judge",
    )
    return Denominator(
        items=len(scored),
        unscored_items=len(sides) - len(scored),
        parts=sum(one.judged for one in scored),
        unscored_parts=sum(len(one.unscored) for one in results),
        missing=tuple(missing[:MOST_MISSING]),
    )


def favouring(variant: Literal["a", "b"], name: MetricName, found: Sequence[PairResult]) -> tuple[ItemDifference, ...]:
    """The items whose scores speak most for a variant, the largest difference first."""
    sign = 1 if variant == "b" else -1
    differences = [one for one in _differences(name, found) if one.difference * sign > 0]
    return tuple(sorted(differences, key=lambda one: -one.difference * sign)[:MOST_ITEMS])


def preferred(found: Sequence[PairResult]) -> tuple[PreferredItem, ...]:
    """The first items with a verdict: preferences before ties, and of both those that survived the swap first."""
    judged = [
        PreferredItem(
            item=one.item,
            source=one.source,
            verdict=verdict,
            flipped=flipped_in(one),
            reasons=_reasons(shown_preference(one)),
        )
        for one in found
        if (verdict := preferred_in(one)) is not None
    ]
    return tuple(sorted(judged, key=lambda one: (one.verdict == "tie", one.flipped))[:MOST_PREFERRED])


def _reasons(preference: Preference) -> tuple[str, str]:
    first, second = preference.orders
    return first.reason, second.reason


def _differences(name: MetricName, found: Sequence[PairResult]) -> Iterator[ItemDifference]:
    for one in found:
        a, b = mean_scores(scores_of_metric(one, name))
        if a is None or b is None:
            continue
        yield ItemDifference(
            item=one.item,
            source=one.source,
            a=a,
            b=b,
            difference=b - a,
            a_labels=_least(one.a.results.get(name)),
            b_labels=_least(one.b.results.get(name)),
        )


def _least(result: MetricResult | None) -> tuple[ItemLabel, ...]:
    """The labels with the lowest values, of those that have a weight.

    If the same was asked several times: of the first time.
    """
    counting = [label for label in (() if result is None else result.items) if label.weight]
    return tuple(sorted(counting, key=lambda label: label.value)[:MOST_LABELS])


def _missing(item: str, side: Measured, name: MetricName) -> Iterator[Missing]:
    if side.failure is not None:
        yield Missing(item=item, part=None, reason=side.failure.reason, details=side.failure.details)
        return
    result = side.results.get(name)
    unscored = () if result is None else result.unscored
    if not unscored and (result is None or result.score is None):
        yield Missing(item=item, part=None, reason="nothing_to_judge")
    for one in unscored:
        yield Missing(item=item, part=one.item, reason=one.reason, details=one.details)
