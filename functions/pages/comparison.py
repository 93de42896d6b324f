"""What an experiment came to, as the tables and the chart of its page."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Literal

from functions.pages.charts import Chart, Series
from functions.pages.tables import Column, PageTable, Row
from functions.pages.words import PageTexts
from touchstone.surfaces.experiments.conclusion import (
    Conclusion,
    ExperimentOutlay,
    ItemDifference,
    PreferenceComparison,
)
from touchstone.surfaces.experiments.makers import PromptMaker, called
from touchstone.surfaces.experiments.report.respects import Respect, respects_of
from touchstone.surfaces.model import ItemLabel

MOST_FAILED = 50
"""Items shown that could not be generated; the notes say how many there are."""


def tables_of(conclusion: Conclusion) -> tuple[PageTable, ...]:
    """Both variants side by side in each respect, then what stands behind that and what has no score, then the cost."""
    return (
        _respects(conclusion),
        _preference(conclusion.preference),
        _preferred(conclusion.preference),
        _items(conclusion),
        _labels(conclusion),
        _missing(conclusion),
        _failed(conclusion),
        *_makers(conclusion),
        _outlay(conclusion.outlay),
    )


def charts_of(words: PageTexts, conclusion: Conclusion) -> tuple[Chart, ...]:
    """The differences with their intervals; none where no interval could be drawn."""
    drawn = [one for one in respects_of(conclusion) if one.comparison.interval is not None]
    if not drawn:
        return ()
    intervals = [one.comparison.interval or (None, None) for one in drawn]
    difference = Series(
        name=words("column.difference"),
        values=[one.comparison.difference for one in drawn],
        lower=[interval[0] for interval in intervals],
        upper=[interval[1] for interval in intervals],
    )
    labels = [words.known("metric", one.name) for one in drawn]
    return (Chart(kind="intervals", title=words("experiment.chart"), labels=labels, series=(difference,), decimals=1),)


def _respects(conclusion: Conclusion) -> PageTable:
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="a_mean", shown="decimal"),
        Column(name="b_mean", shown="decimal"),
        Column(name="difference", shown="decimal", bounds=("lower", "upper"), scale=(-100.0, 100.0), to="behind"),
        Column(name="lower", shown="decimal", hidden=True),
        Column(name="upper", shown="decimal", hidden=True),
        *_RUNS[: conclusion.replicates > 1],
        *_AGREEMENT[: 2 * (conclusion.judges > 1)],
        Column(name="adjusted_p_value", shown="p_value"),
        Column(name="declared", shown="word", words="declared"),
        Column(name="detectable", shown="decimal", detail=True),
        Column(name="compared", shown="number", detail=True, to="behind"),
        Column(name="sources", shown="number", detail=True),
        Column(name="unscored_a", shown="number", detail=True, to="missing_a"),
        Column(name="unscored_b", shown="number", detail=True, to="missing_b"),
    )
    return PageTable(name="respects", columns=columns, rows=[_respect(one) for one in respects_of(conclusion)])


_RUNS = (Column(name="between_runs", shown="decimal"),)
_AGREEMENT = (Column(name="alpha", shown="decimal"), Column(name="split_items", shown="number"))
"""Of an experiment whose judges were several, or were asked several times."""


def _respect(respect: Respect) -> Row:
    found = respect.comparison
    variance = None if found.replication is None else found.replication.variance
    lower, upper = found.interval or (None, None)
    measured = respect.name != "preference"
    return {
        "metric": respect.name,
        "a_mean": found.a_mean,
        "b_mean": found.b_mean,
        "difference": found.difference,
        "lower": lower,
        "upper": upper,
        "between_runs": None if variance is None else sqrt(variance),
        "alpha": None if found.agreement is None else found.agreement.alpha,
        "split_items": None if found.agreement is None else found.agreement.split,
        "adjusted_p_value": found.adjusted_p_value,
        "declared": found.verdict,
        "detectable": found.detectable,
        "compared": found.compared,
        "sources": found.sources,
        "unscored_a": respect.unscored_a,
        "unscored_b": respect.unscored_b,
        "behind": f"#table-{'items_behind' if measured else 'preference'}",
        "missing_a": "#table-missing" if measured and respect.unscored_a else None,
        "missing_b": "#table-missing" if measured and respect.unscored_b else None,
    }


def _preference(found: PreferenceComparison) -> PageTable:
    lower, upper = found.flip_interval or (None, None)
    row: Row = {
        "wins_a": found.wins_a,
        "wins_b": found.wins_b,
        "ties": found.ties,
        "flipped": found.flipped,
        "flip_rate": found.flip_rate,
        "flip_lower": lower,
        "flip_upper": upper,
        "unscored": found.unscored,
        "excerpts": found.excerpts,
    }
    shares, shown = {"flip_rate", "flip_lower", "flip_upper"}, {"wins_a", "wins_b", "ties", "flipped"}
    columns = [
        Column(name=name, shown="share" if name in shares else "number", to="shown" if name in shown else "")
        for name in row
    ]
    examples = {"shown": "#table-preferred" if found.examples else None}
    return PageTable(name="preference", columns=columns, rows=[{**row, **examples}] if found.asked else ())


def _preferred(found: PreferenceComparison) -> PageTable:
    rows: list[Row] = [
        {
            "item": one.item,
            "source": one.source,
            "preferred": one.verdict,
            "flipped_here": one.flipped,
            "reason_a_first": one.reasons[0],
            "reason_b_first": one.reasons[1],
        }
        for one in found.examples
    ]
    columns = (
        Column(name="item"),
        Column(name="source"),
        Column(name="preferred", shown="word", words="preferred"),
        Column(name="flipped_here", shown="word", words="passed"),
        Column(name="reason_a_first"),
        Column(name="reason_b_first"),
    )
    return PageTable(name="preferred", columns=columns, rows=rows)


def _behind(conclusion: Conclusion) -> Iterator[tuple[str, Literal["a", "b"], ItemDifference]]:
    """The items behind each difference, with whom they speak for: the few that the conclusion keeps."""
    for metric in conclusion.metrics:
        yield from ((metric.metric, "a", one) for one in metric.favouring_a)
        yield from ((metric.metric, "b", one) for one in metric.favouring_b)


def _items(conclusion: Conclusion) -> PageTable:
    rows: list[Row] = [
        {
            "metric": metric,
            "favours": favours,
            "item": one.item,
            "source": one.source,
            "a_score": one.a,
            "b_score": one.b,
            "difference": one.difference,
            "lost_a": _lost(one.a_labels),
            "lost_b": _lost(one.b_labels),
        }
        for metric, favours, one in _behind(conclusion)
    ]
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="favours", shown="word", words="preferred"),
        Column(name="item"),
        Column(name="source"),
        Column(name="a_score", shown="decimal"),
        Column(name="b_score", shown="decimal"),
        Column(name="difference", shown="decimal"),
        Column(name="lost_a", shown="words", words="class"),
        Column(name="lost_b", shown="words", words="class"),
    )
    return PageTable(name="items_behind", columns=columns, rows=rows)


def _labels(conclusion: Conclusion) -> PageTable:
    rows: list[Row] = [
        {
            "metric": metric,
            "item": one.item,
            "variant": variant,
            "part": label.item,
            "label": label.label,
            "value": label.value,
            "reason": label.reason,
            "text": label.text,
            "evidence": label.evidence,
            "suggestion": label.suggestion,
        }
        for metric, _, one in _behind(conclusion)
        for variant, labels in ((conclusion.a, one.a_labels), (conclusion.b, one.b_labels))
        for label in _losing(labels)
    ]
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="item"),
        Column(name="variant"),
        Column(name="part", detail=True),
        Column(name="label", shown="word", words="class"),
        Column(name="value", shown="decimal"),
        Column(name="reason"),
        Column(name="text", detail=True),
        Column(name="evidence", detail=True),
        Column(name="suggestion", detail=True),
    )
    return PageTable(name="labels", columns=columns, rows=rows)


def _losing(labels: Sequence[ItemLabel]) -> Iterator[ItemLabel]:
    """The labels of what lost points."""
    return (label for label in labels if label.value < 1)


def _lost(labels: Sequence[ItemLabel]) -> str | None:
    """Which labels lost points, and how often each: `ambiguous × 2`."""
    names = [label.label for label in _losing(labels)]
    return ", ".join(f"{name} × {names.count(name)}" for name in dict.fromkeys(names)) or None


def _missing(conclusion: Conclusion) -> PageTable:
    rows: list[Row] = [
        {
            "metric": metric.metric,
            "variant": variant,
            "item": one.item,
            "part": one.part,
            "because": one.reason,
            "details": " ".join(one.details) or None,
        }
        for metric in conclusion.metrics
        for variant, denominator in ((conclusion.a, metric.a), (conclusion.b, metric.b))
        for one in denominator.missing
    ]
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="variant"),
        Column(name="item"),
        Column(name="part"),
        Column(name="because", shown="word", words="skip"),
        Column(name="details"),
    )
    return PageTable(name="missing", columns=columns, rows=rows)


def _failed(conclusion: Conclusion) -> PageTable:
    rows: list[Row] = [
        {"variant": one.variant, "item": one.item, "because": one.reason, "details": " ".join(one.details) or None}
        for one in conclusion.failed[:MOST_FAILED]
    ]
    columns = (
        Column(name="variant"),
        Column(name="item"),
        Column(name="because", shown="word", words="skip"),
        Column(name="details"),
    )
    return PageTable(name="not_generated", columns=columns, rows=rows)


def _makers(conclusion: Conclusion) -> Iterator[PageTable]:
    """Who made the items of each variant, by which prompt, and what that took; no table where all were given."""
    rows: list[Row] = [
        {
            "variant": variant,
            "maker": f"{one.maker.kind}: {called(one.maker)}",
            "prompt": one.maker.prompt if isinstance(one.maker, PromptMaker) else None,
            "made": one.made,
            "not_made": one.failed,
            "calls": one.calls,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "cost_usd": one.cost_usd,
            "unpriced": one.unpriced,
            "seconds": one.seconds,
        }
        for variant, one in zip((conclusion.a, conclusion.b), conclusion.makers, strict=True)
        if one is not None
    ]
    columns = (
        Column(name="variant"),
        Column(name="maker", shown="code"),
        Column(name="prompt", shown="sent", detail=True),
        *(Column(name=name, shown="number") for name in ("made", "not_made", "calls", "input_tokens", "output_tokens")),
        Column(name="cost_usd", shown="usd", unpriced="unpriced"),
        Column(name="unpriced", shown="number", detail=True),
        Column(name="seconds", shown="decimal"),
    )
    if rows:
        yield PageTable(name="makers", columns=columns, rows=rows)


def _outlay(outlay: ExperimentOutlay) -> PageTable:
    row: Row = {
        "calls": outlay.calls,
        "from_cache": outlay.cached,
        "input_tokens": outlay.input_tokens,
        "output_tokens": outlay.output_tokens,
        "cost_usd": outlay.cost_usd,
        "unpriced": outlay.unpriced,
        "models": ", ".join(outlay.models) or None,
        "prompts": ", ".join(f"{one.purpose} {one.version}" for one in outlay.prompts) or None,
    }
    columns = (
        *(Column(name=name, shown="number") for name in ("calls", "from_cache", "input_tokens", "output_tokens")),
        Column(name="cost_usd", shown="usd", unpriced="unpriced"),
        Column(name="unpriced", shown="number", detail=True),
        Column(name="models", shown="code", detail=True),
        Column(name="prompts", shown="code", detail=True),
    )
    return PageTable(name="outlay", columns=columns, rows=[row])
