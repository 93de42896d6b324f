"""From the results of pairs to a conclusion: paired intervals, and one correction for all respects.

A conclusion also names the items behind its figures, with their labels and reasons, and the items without a score.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from touchstone.errors import InputError
from touchstone.judges.spends import Spend, batch_savings, count_unpriced, known_cost
from touchstone.statistics import (
    ItemPair,
    PairedDifference,
    flip_rate,
    holm,
    minimum_detectable_effect,
    pair_items,
    paired_difference,
    sources_needed,
)
from touchstone.statistics.multiple import FAMILY_LEVEL, Corrected
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.experiments.conclusion import (
    PREFERENCE,
    Conclusion,
    Denominator,
    ExperimentOutlay,
    FailedItem,
    ItemDifference,
    MakerOutlay,
    MetricComparison,
    Missing,
    Overall,
    PreferenceComparison,
    PreferredItem,
    PromptVersion,
    Stopped,
    VariantComparison,
    Verdict,
)
from touchstone.surfaces.experiments.makers import Maker
from touchstone.surfaces.experiments.making import PURPOSES
from touchstone.surfaces.experiments.model import Experiment, Side
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.panels import (
    WHOLE,
    RunScores,
    agreement_on_metric,
    agreement_on_preference,
    flipped_in,
    mean_scores,
    preferred_in,
    replication_of,
    scores_of_metric,
    scores_of_preference,
    shown_preference,
)
from touchstone.surfaces.experiments.preference import Preference
from touchstone.surfaces.model import ItemLabel, MetricResult
from touchstone.surfaces.names import MetricName

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


def favouring(variant: Side, name: MetricName, found: Sequence[PairResult]) -> tuple[ItemDifference, ...]:
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


def conclude(
    experiment: Experiment,
    results: Iterable[PairResult],
    *,
    paid: Sequence[Spend] | None = None,
    stopped: Stopped | None = None,
) -> Conclusion:
    """The conclusion from the results of pairs. Pairs without a result are counted and otherwise left out.

    The unit is the item: the score of the metric for both variants, clustered by source (see `paired_difference`). All
    metrics and the preference are one family of hypotheses (see `holm`), since a report declares something on each of
    them. If the same was asked several times, the mean of the times is an item's score.

    `paid` are all calls that were paid for, if they are known better than from the results (an interrupted run paid for
    calls that later results have as cached); None: the calls of the results.

    Raises `InputError` for a result of another experiment, and for two results of one pair.
    """
    found = _ordered(experiment, results)
    respects: dict[str, tuple[ItemPair, ...]] = {
        name: _paired(found, [scores_of_metric(one, name) for one in found]) for name in experiment.measured
    }
    respects[PREFERENCE] = _paired(found, [scores_of_preference(one) for one in found])
    tests = {name: paired_difference(pairs, seed=experiment.seed, scale=WHOLE) for name, pairs in respects.items()}
    corrected = holm({name: test.p_value for name, test in tests.items()})
    tested = max(1, sum(test.p_value is not None for test in tests.values()))
    compared = {
        name: _comparison(respects[name], tests[name], corrected[name], significance=FAMILY_LEVEL / tested)
        for name in respects
    }
    judges, runs = experiment.judges, experiment.replicates
    for name in experiment.measured:
        beside = {
            "replication": replication_of([scores_of_metric(one, name) for one in found], runs=runs),
            "agreement": agreement_on_metric(found, name, judges=judges) if CATALOGUE[name].judged else None,
        }
        compared[name] = compared[name].model_copy(update=beside)
    compared[PREFERENCE] = compared[PREFERENCE].model_copy(
        update={
            "replication": replication_of([scores_of_preference(one) for one in found], runs=runs),
            "agreement": agreement_on_preference(found, judges=judges),
        }
    )
    metrics = tuple(_metric(name, compared[name], found) for name in experiment.measured)
    return Conclusion(
        name=experiment.name,
        surface=experiment.surface,
        a=experiment.variants[0].name,
        b=experiment.variants[1].name,
        verdict=_overall([one.verdict for one in compared.values()]),
        metrics=metrics,
        preference=_preference(compared[PREFERENCE], found),
        pairs=len(experiment.items),
        measured=len(found),
        sources=len({one.source for one in found}),
        stopped=stopped,
        failed=tuple(_failed(experiment, found)),
        outlay=_outlay([spend for one in found for spend in one.all_spends()], paid),
        makers=_makers(experiment, found, paid),
        judges=judges,
        replicates=runs,
        seed=experiment.seed,
    )


def _ordered(experiment: Experiment, results: Iterable[PairResult]) -> list[PairResult]:
    """The results in the order of the pairs."""
    sources = {item.id: item.source for item in experiment.items}
    by_item: dict[str, PairResult] = {}
    for one in results:
        if sources.get(one.item) != one.source:
            raise InputError(
                f"There is a result of item {one.item!r}, which is none of this experiment.", where=one.item
            )
        if one.item in by_item:
            raise InputError(f"There are two results of item {one.item!r}; give one for each pair.", where=one.item)
        by_item[one.item] = one
    return [by_item[item] for item in sources if item in by_item]


def _paired(found: Sequence[PairResult], scores: Sequence[RunScores]) -> tuple[ItemPair, ...]:
    """The items with the mean scores of their runs."""
    means = {one.item: mean_scores(runs) for one, runs in zip(found, scores, strict=True)}
    return pair_items(
        a={item: a for item, (a, _) in means.items()},
        b={item: b for item, (_, b) in means.items()},
        sources={one.item: one.source for one in found},
    )


def _comparison(
    pairs: Sequence[ItemPair], test: PairedDifference, corrected: Corrected, *, significance: float
) -> VariantComparison:
    """The comparison in one respect.

    `significance` is the level that the correction leaves for the hardest of all tests.
    """
    verdict = _verdict(test, corrected)
    settled = verdict in ("a_better", "b_better")
    return VariantComparison(
        a_mean=test.a_mean,
        b_mean=test.b_mean,
        difference=test.difference,
        interval=test.interval,
        p_value=test.p_value,
        adjusted_p_value=corrected.adjusted,
        detectable=minimum_detectable_effect(pairs, significance=significance).effect,
        compared=test.items,
        sources=test.sources,
        sources_needed=None if settled else sources_needed(pairs, significance=significance),
        verdict=verdict,
    )


def _verdict(test: PairedDifference, corrected: Corrected) -> Verdict:
    if test.difference is None or test.interval is None:
        return "not_compared"
    if not (test.shown and corrected.rejected):
        return "no_difference_shown"
    return "b_better" if test.difference > 0 else "a_better"


def _overall(verdicts: Sequence[Verdict]) -> Overall:
    """The verdict of all respects together."""
    better: set[Verdict] = {one for one in verdicts if one in {"a_better", "b_better"}}
    if len(better) > 1:
        return "mixed"
    if better:
        return better.pop()
    return "no_difference_shown" if "no_difference_shown" in verdicts else "not_compared"


def _metric(name: MetricName, comparison: VariantComparison, found: Sequence[PairResult]) -> MetricComparison:
    return MetricComparison(
        **dict(comparison),
        metric=name,
        a=denominator(name, [(one.item, one.a) for one in found]),
        b=denominator(name, [(one.item, one.b) for one in found]),
        favouring_a=favouring("a", name, found),
        favouring_b=favouring("b", name, found),
    )


def _preference(comparison: VariantComparison, found: Sequence[PairResult]) -> PreferenceComparison:
    preferences = [preferred_in(one) for one in found]
    runs = [run.preference for one in found for run in one.runs]
    orders = [both for one in runs for both in one.asked]
    flips = flip_rate((first.verdict, second.verdict) for first, second in orders)
    return PreferenceComparison(
        **dict(comparison),
        wins_a=preferences.count("a"),
        wins_b=preferences.count("b"),
        ties=preferences.count("tie"),
        flipped=flips.flipped,
        flip_rate=flips.rate,
        flip_interval=flips.interval,
        unscored=preferences.count(None),
        splits=sum(preferred_in(one) == "tie" and any(_torn(run.preference) for run in one.runs) for one in found),
        asked=not found or any(order.unscored != "not_asked" for both in orders for order in both),
        excerpts=sum(one.preference.excerpts and one.preference.verdict is not None for one in found),
        examples=preferred(found),
    )


def _torn(preference: Preference) -> bool:
    """Whether a preference is a tie because its judges do not agree."""
    return preference.split and preference.verdict == "tie"


def _failed(experiment: Experiment, found: Sequence[PairResult]) -> Iterable[FailedItem]:
    for one in found:
        for variant, side in zip(experiment.variants, (one.a, one.b), strict=True):
            if side.failure is not None:
                yield FailedItem(variant=variant.name, item=one.item, **dict(side.failure))


def _makers(
    experiment: Experiment, found: Sequence[PairResult], paid: Sequence[Spend] | None
) -> tuple[MakerOutlay | None, MakerOutlay | None]:
    """What the makers took, by all calls that were paid for, also those of pairs that are not measured yet."""
    a, b = experiment.makers
    return (
        None if a is None else _maker(a, "a", [one.a for one in found], paid),
        None if b is None else _maker(b, "b", [one.b for one in found], paid),
    )


def _maker(maker: Maker, side: Side, sides: Sequence[Measured], paid: Sequence[Spend] | None) -> MakerOutlay:
    known = [spend for one in sides for spend in one.spends]
    sent = [
        spend for spend in (known if paid is None else paid) if not spend.cached and spend.purpose == PURPOSES[side]
    ]
    waited = [spend.latency_ms for spend in sent if spend.line_id is None]
    return MakerOutlay(
        maker=maker,
        made=sum(one.material is not None for one in sides),
        failed=sum(one.failure is not None for one in sides),
        calls=len(sent),
        cached=sum(spend.cached for spend in known),
        input_tokens=sum(spend.input_tokens for spend in sent),
        output_tokens=sum(spend.output_tokens for spend in sent),
        cost_usd=known_cost(sent),
        unpriced=count_unpriced(sent),
        seconds=median(waited) / 1000 if waited else None,
        models=tuple(sorted({f"{spend.provider}/{spend.model}" for spend in (*known, *sent)})),
    )


def _outlay(spends: Sequence[Spend], paid: Sequence[Spend] | None) -> ExperimentOutlay:
    """The cost of the calls that were paid for. Models and prompts are those of all replies, also of cached ones."""
    sent = [spend for spend in (spends if paid is None else paid) if not spend.cached]
    everything = (*spends, *sent)
    return ExperimentOutlay(
        calls=len(sent),
        cached=sum(spend.cached for spend in spends),
        input_tokens=sum(spend.input_tokens for spend in sent),
        output_tokens=sum(spend.output_tokens for spend in sent),
        cost_usd=known_cost(sent),
        unpriced=count_unpriced(sent),
        models=tuple(sorted({f"{spend.provider}/{spend.model}" for spend in everything})),
        prompts=tuple(
            PromptVersion(purpose=purpose, version=version)
            for purpose, version in sorted({(spend.purpose, spend.prompt_version) for spend in everything})
        ),
        batched=sum(spend.line_id is not None for spend in sent),
        saved_usd=batch_savings(sent),
    )
