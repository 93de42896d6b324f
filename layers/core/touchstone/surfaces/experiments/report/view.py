"""A conclusion as reports show it: its figures as text, and what is told of it in sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone import figures
from touchstone.figures import counted
from touchstone.markdown import tidy
from touchstone.surfaces.experiments.conclusion import (
    Conclusion,
    Denominator,
    PreferredItem,
    Respect,
    Verdict,
    respects_of,
)
from touchstone.surfaces.experiments.report.figures import (
    DrawnDifference,
    between_runs,
    detectable,
    interval,
    mark_of,
    p_value,
    points,
    scale_of,
    score,
    share,
    were,
)
from touchstone.surfaces.experiments.report.sentences import called, headline, notes
from touchstone.surfaces.names import MetricName
from touchstone.usage import dollars


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
class ReportView:
    """The whole report: the conclusion, and what is told of it in sentences and figures.

    `scale` is how many points the drawings reach to either side. `preferred` are the pairs that a judge was shown in
    both orders, each with its verdict in words. `missing` are the items and parts without a score, by metric.
    """

    conclusion: Conclusion
    headline: str
    notes: tuple[str, ...]
    scope: str
    scale: str
    rows: tuple[ReportRow, ...]
    preference: str
    preferred: tuple[tuple[PreferredItem, str], ...]
    missing: Mapping[MetricName, tuple[str, ...]]
    failed: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def view_of(conclusion: Conclusion) -> ReportView:
    """The conclusion as pages show it."""
    respects = respects_of(conclusion)
    scale = scale_of(one.comparison for one in respects)
    words: dict[Verdict, str] = {
        "a_better": f"“{tidy(conclusion.a)}” is better",
        "b_better": f"“{tidy(conclusion.b)}” is better",
        "no_difference_shown": "no difference shown",
        "not_compared": "not compared",
    }
    return ReportView(
        conclusion=conclusion,
        headline=tidy(headline(conclusion)),
        notes=tuple(tidy(note) for note in notes(conclusion)),
        scope=f"{counted(conclusion.measured, 'pair')} from {counted(conclusion.sources, 'source')}",
        scale=f"{scale:g}",
        rows=tuple(_row(one, scale, words) for one in respects),
        preference=tidy(_preference(conclusion)),
        preferred=tuple((one, _preferred(one, conclusion)) for one in conclusion.preference.examples),
        missing={
            one.metric: (*_missing(one.a, conclusion.a), *_missing(one.b, conclusion.b)) for one in conclusion.metrics
        },
        failed=tuple(f"{one.variant}, {one.item}: {one.reason}. {' '.join(one.details)}" for one in conclusion.failed),
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


def _preference(conclusion: Conclusion) -> str:
    a, b, found = conclusion.a, conclusion.b, conclusion.preference
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
    often = f"{found.flipped} of them" if conclusion.replicates == 1 else f"{found.flipped} cases, counted each time"
    return (
        f"Of {counted(judged, 'pair')} that a judge was shown in both orders, it preferred “{a}” in {found.wins_a} and "
        f"“{b}” in {found.wins_b}; {ties}. Its verdict did not survive the swap in {often} "
        f"({share(found.flip_rate)}; 95 % interval {share(low)} to {share(high)})"
        f"{torn if conclusion.replicates == 1 else ''}.{unscored}"
    )


def _preferred(one: PreferredItem, conclusion: Conclusion) -> str:
    verdict = {"a": f"“{conclusion.a}”", "b": f"“{conclusion.b}”", "tie": "a tie"}[one.verdict]
    return f"{verdict}, torn by the order" if one.flipped else verdict


def _missing(denominator: Denominator, variant: str) -> Iterator[str]:
    """What has no score in a variant: first the numbers, then the first examples."""
    if not denominator.unscored_items and not denominator.unscored_parts:
        return
    yield (
        f"“{variant}”: {counted(denominator.unscored_items, 'item')} without a score, "
        f"{counted(denominator.unscored_parts, 'part')} that nobody could judge."
    )
    for one in denominator.missing:
        place = one.item if one.part is None else f"{one.item}, {one.part}"
        yield f"“{variant}”, {place}: {one.reason}. {' '.join(one.details)}"


def _agreements(conclusion: Conclusion) -> Iterator[str]:
    """How several judges agree, for each respect."""
    for one in respects_of(conclusion):
        found = one.comparison.agreement
        if found is not None and found.voted:
            alpha = "not known" if found.alpha is None else figures.figure(found.alpha, 2, most=1)
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
