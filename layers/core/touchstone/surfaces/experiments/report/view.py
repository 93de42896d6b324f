"""A conclusion as pages show it: every figure as text, every text on one line."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from touchstone.surfaces.experiments.conclusion import (
    Conclusion,
    Denominator,
    ItemDifference,
    MetricComparison,
    Missing,
    PreferredItem,
    Verdict,
)
from touchstone.surfaces.experiments.report.figures import (
    between_runs,
    counted,
    detectable,
    interval,
    p_value,
    points,
    score,
    share,
    were,
)
from touchstone.surfaces.experiments.report.plot import DrawnDifference, mark_of, scale_of
from touchstone.surfaces.experiments.report.respects import Respect, respects_of
from touchstone.surfaces.experiments.report.sentences import called, headline, notes
from touchstone.surfaces.model import ItemLabel
from touchstone.usage import dollars

type Tidy = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One respect as a row of the table.

    `runs` is the standard deviation between runs; "" if the same was asked once.
    """

    name: str
    a: str
    b: str
    difference: str
    interval: str
    runs: str
    p: str
    detectable: str
    compared: str
    unscored: str
    verdict: str
    shown: Verdict
    mark: DrawnDifference | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLabel:
    """The label of one part of an item."""

    part: str
    label: str
    reason: str
    text: str
    evidence: str
    suggestion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """One item behind a difference."""

    item: str
    source: str
    a: str
    b: str
    difference: str
    a_labels: tuple[PartLabel, ...]
    b_labels: tuple[PartLabel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One metric: the items behind its difference, and the items and parts without a score."""

    name: str
    favouring_a: tuple[Behind, ...]
    favouring_b: tuple[Behind, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """One pair that a judge was shown in both orders."""

    item: str
    source: str
    verdict: str
    reasons: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """The whole report. `scale` is how many points the drawings reach to either side.

    `replicated`: the same was asked several times, and the rows say how much the results vary.
    """

    name: str
    surface: str
    a: str
    b: str
    headline: str
    notes: tuple[str, ...]
    scope: str
    scale: str
    replicated: bool
    rows: tuple[ReportRow, ...]
    preference: str
    preferred: tuple[Preferred, ...]
    details: tuple[Detail, ...]
    failed: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def view_of(conclusion: Conclusion, tidy: Tidy) -> ReportView:
    """The conclusion as pages show it. Every text from elsewhere goes through `tidy` first."""
    respects = respects_of(conclusion)
    scale = scale_of(one.comparison for one in respects)
    a, b = tidy(conclusion.a), tidy(conclusion.b)
    words: dict[Verdict, str] = {
        "a_better": f"“{a}” is better",
        "b_better": f"“{b}” is better",
        "no_difference_shown": "no difference shown",
        "not_compared": "not compared",
    }
    return ReportView(
        name=tidy(conclusion.name),
        surface=conclusion.surface,
        a=a,
        b=b,
        headline=tidy(headline(conclusion)),
        notes=tuple(tidy(note) for note in notes(conclusion)),
        scope=f"{counted(conclusion.measured, 'pair')} from {counted(conclusion.sources, 'source')}",
        scale=f"{scale:g}",
        replicated=conclusion.replicates > 1,
        rows=tuple(_row(one, scale, words) for one in respects),
        preference=_preference(conclusion, a, b),
        preferred=tuple(_preferred(one, a, b, tidy) for one in conclusion.preference.examples),
        details=tuple(_detail(one, a, b, tidy) for one in conclusion.metrics),
        failed=tuple(
            tidy(f"{one.variant}, {one.item}: {one.reason}. {' '.join(one.details)}") for one in conclusion.failed
        ),
        facts=tuple((name, tidy(value)) for name, value in _facts(conclusion)),
    )


def _row(respect: Respect, scale: float, words: dict[Verdict, str]) -> ReportRow:
    found = respect.comparison
    return ReportRow(
        name=called(respect.name),
        a=score(found.a_mean),
        b=score(found.b_mean),
        difference=points(found.difference),
        interval=interval(found.interval),
        runs=between_runs(found.replication),
        p=p_value(found.adjusted_p_value),
        detectable=detectable(found.detectable),
        compared=f"{found.compared:,}",
        unscored=f"{respect.unscored_a} / {respect.unscored_b}",
        verdict=words[found.verdict],
        shown=found.verdict,
        mark=mark_of(found, scale),
    )


def _preference(conclusion: Conclusion, a: str, b: str) -> str:
    found = conclusion.preference
    if not found.asked:
        return "No judge was asked."
    judged, ties = found.wins_a + found.wins_b + found.ties, were(found.ties, "tie")
    unscored = "" if not found.unscored else f" {counted(found.unscored, 'pair')} could not be judged so."
    if not judged or found.flip_interval is None:
        return f"No pair was judged in both orders.{unscored}"
    low, high = found.flip_interval
    if conclusion.judges == "until_sure":
        return (
            f"Of {counted(judged, 'pair')} that judges were shown in both orders, one after the other until the "
            f"verdict of one survived the swap, “{a}” was preferred in {found.wins_a} and “{b}” in {found.wins_b}; "
            f"{ties}. The first judge's verdict did not survive in {found.flipped} of them "
            f"({share(found.flip_rate)}; 95 % interval {share(low)} to {share(high)}).{unscored}"
        )
    if conclusion.judges > 1:
        splits = f", {found.splits} of them since the judges did not agree" if found.splits else ""
        return (
            f"Of {counted(judged, 'pair')} that {conclusion.judges} judges were shown in both orders, more than half "
            f"of them preferred “{a}” in {found.wins_a} and “{b}” in {found.wins_b}; {ties}{splits}. "
            f"A judge's verdict did not survive the swap in {found.flipped} cases ({share(found.flip_rate)}; "
            f"95 % interval {share(low)} to {share(high)}).{unscored}"
        )
    torn = ", which are among the ties" if found.flipped else ""
    return (
        f"Of {counted(judged, 'pair')} that a judge was shown in both orders, it preferred “{a}” in {found.wins_a} and "
        f"“{b}” in {found.wins_b}; {ties}. Its verdict did not survive the swap in {found.flipped} of "
        f"them ({share(found.flip_rate)}; 95 % interval {share(low)} to {share(high)}){torn}.{unscored}"
    )


def _preferred(one: PreferredItem, a: str, b: str, tidy: Tidy) -> Preferred:
    verdict = {"a": f"“{a}”", "b": f"“{b}”", "tie": "a tie"}[one.verdict]
    return Preferred(
        item=tidy(one.item),
        source=tidy(one.source),
        verdict=f"{verdict}, torn by the order" if one.flipped else verdict,
        reasons=(tidy(one.reasons[0]), tidy(one.reasons[1])),
    )


def _detail(metric: MetricComparison, a: str, b: str, tidy: Tidy) -> Detail:
    return Detail(
        name=called(metric.metric),
        favouring_a=tuple(_behind(one, tidy) for one in metric.favouring_a),
        favouring_b=tuple(_behind(one, tidy) for one in metric.favouring_b),
        missing=(*_missing(metric.a, a, tidy), *_missing(metric.b, b, tidy)),
    )


def _behind(one: ItemDifference, tidy: Tidy) -> Behind:
    return Behind(
        item=tidy(one.item),
        source=tidy(one.source),
        a=score(one.a),
        b=score(one.b),
        difference=points(one.difference),
        a_labels=_labels(one.a_labels, tidy),
        b_labels=_labels(one.b_labels, tidy),
    )


def _labels(labels: Sequence[ItemLabel], tidy: Tidy) -> tuple[PartLabel, ...]:
    """The labels of the parts that lost points."""
    return tuple(
        PartLabel(
            part=tidy(label.item),
            label=tidy(label.label),
            reason=tidy(label.reason),
            text=tidy(label.text or ""),
            evidence=tidy(label.evidence or ""),
            suggestion=tidy(label.suggestion or ""),
        )
        for label in labels
        if label.value < 1
    )


def _missing(denominator: Denominator, variant: str, tidy: Tidy) -> Iterator[str]:
    """What has no score in a variant: first the numbers, then the first examples."""
    if not denominator.unscored_items and not denominator.unscored_parts:
        return
    yield (
        f"“{variant}”: {counted(denominator.unscored_items, 'item')} without a score, "
        f"{counted(denominator.unscored_parts, 'part')} that nobody could judge."
    )
    for one in denominator.missing:
        yield tidy(f"“{variant}”, {_place(one)}: {one.reason}. {' '.join(one.details)}")


def _place(one: Missing) -> str:
    return one.item if one.part is None else f"{one.item}, {one.part}"


def _agreements(conclusion: Conclusion) -> Iterator[str]:
    """How several judges agree, for each respect."""
    for one in respects_of(conclusion):
        found = one.comparison.agreement
        if found is not None and found.voted:
            alpha = "not known" if found.alpha is None else f"{found.alpha:.2f}"
            yield f"{called(one.name)}: alpha {alpha}, they differ on {found.split:,} of {found.voted:,}"


def _facts(conclusion: Conclusion) -> Iterator[tuple[str, str]]:
    outlay = conclusion.outlay
    yield "Judge calls", f"{outlay.calls:,} sent, {outlay.cached:,} answered from the cache"
    yield "Cost", dollars(outlay.cost_usd, outlay.unpriced)
    yield "Tokens", f"{outlay.input_tokens:,} in, {outlay.output_tokens:,} out"
    if conclusion.judges == "until_sure":
        yield "Judges", "asked one after the other, three at most, until one is sure enough"
    elif conclusion.judges > 1:
        yield "Agreement", "; ".join(_agreements(conclusion)) or "nothing was voted on"
    yield "Models", ", ".join(outlay.models) or "none"
    yield "Prompts", ", ".join(f"{one.purpose} {one.version}" for one in outlay.prompts) or "none"
    yield "Seed", str(conclusion.seed)
