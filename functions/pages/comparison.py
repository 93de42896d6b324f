"""The conclusion of an experiment, as the tables and the chart of its page."""

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import Literal

from functions.pages.charts import Chart, Series
from functions.pages.rendering import decimal
from functions.pages.tables import AGREEMENT, DIFFERENCES, SCORES, UNBOUNDED, UNIT, Column, PageTable, row_of
from functions.pages.words import PageTexts
from touchstone.judges.base import asks_in_turn
from touchstone.surfaces.experiments.conclusion import (
    PREFERENCE,
    Conclusion,
    ExperimentOutlay,
    ItemDifference,
    PreferenceComparison,
    Respect,
    respects_of,
)
from touchstone.surfaces.experiments.makers import PromptMaker, called
from touchstone.surfaces.experiments.report.sentences import ReportNote, lead
from touchstone.surfaces.model import ItemLabel

MOST_FAILED = 50
"""The most items shown that could not be generated. The notes say how many there are in all."""


COUNTED = {
    "wins_a": "loss",
    "wins_b": "win",
    "ties": "flip,tie",
    "flipped": "flip",
    "flip_rate": "flip",
    "unscored": "not_compared",
}
"""The outcomes of the pairs that each figure of the preference counts, separated by commas."""


def tables_of(conclusion: Conclusion, *, pairs: str, trace: str | None) -> tuple[PageTable, ...]:
    """The tables of an experiment's page.

    First both variants side by side in each respect, then what stands behind that and what has no score, then the
    cost. `pairs` is the address of the page with all pairs, `trace` that of the trace, None if there is none to read.
    """
    return (
        _respects(conclusion),
        _preference(conclusion, pairs),
        _preferred(conclusion.preference),
        _items(conclusion),
        _labels(conclusion),
        _missing(conclusion),
        _failed(conclusion),
        *_makers(conclusion, trace),
        _outlay(conclusion.outlay, trace),
    )


def better_of(words: PageTexts, conclusion: Conclusion) -> list[str]:
    """In what one of the two is shown to be better, by how much and how surely, a sentence for each respect."""
    variants = {"a_better": conclusion.a, "b_better": conclusion.b}
    return [
        words(
            "experiment.better",
            metric=words.known("metric", one.name),
            variant=variants[one.verdict],
            points=found["points"],
            low=found["low"],
            high=found["high"],
            p=found["p"],
        )
        for one in respects_of(conclusion)
        if one.verdict in variants and (found := lead(one)) is not None
    ]


def said_of(words: PageTexts, notes: Iterable[ReportNote]) -> list[str]:
    """Notes on an experiment as sentences in the reader's language."""
    return [words(f"experiment.note.{one.name}", **_filled(words, one)) for one in notes]


def _filled(words: PageTexts, note: ReportNote) -> dict[str, str]:
    """The figures and names of a note as people read them: metrics by their words."""
    return {
        name: words.known("metric", str(value)) if name.endswith("metric") else _figure(value)
        for name, value in note.filled.items()
    }


def _figure(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def charts_of(words: PageTexts, conclusion: Conclusion) -> tuple[Chart, ...]:
    """The chart of the differences with their intervals; empty if no difference has an interval."""
    drawn = [one for one in respects_of(conclusion) if one.comparison.interval is not None]
    if not drawn:
        return ()
    intervals = [one.comparison.interval or (None, None) for one in drawn]
    difference = Series(
        name=words("column.difference"),
        values=[one.comparison.difference for one in drawn],
        texts=[_difference(one) for one in drawn],
        lower=[interval[0] for interval in intervals],
        upper=[interval[1] for interval in intervals],
    )
    labels = [words.known("metric", one.name) for one in drawn]
    return (Chart(kind="intervals", title=words("experiment.chart"), labels=labels, series=(difference,)),)


def _difference(respect: Respect) -> str:
    """A difference with its interval, as the table has it."""
    found = respect.comparison
    written, low, high = (
        decimal(value, DIFFERENCES[1]) for value in (found.difference, *(found.interval or NO_INTERVAL))
    )
    return f"{written} [{low}, {high}]"


def _respects(conclusion: Conclusion) -> PageTable:
    columns = (
        Column(name="metric", of=lambda one: one.name, shown="word", words="metric"),
        Column(name="a_mean", of=lambda one: one.comparison.a_mean, shown="decimal", scale=SCORES),
        Column(name="b_mean", of=lambda one: one.comparison.b_mean, shown="decimal", scale=SCORES),
        Column(
            name="difference",
            of=lambda one: one.comparison.difference,
            shown="decimal",
            bounds=("lower", "upper"),
            scale=DIFFERENCES,
            to="behind",
        ),
        _end("lower", 0),
        _end("upper", 1),
        Column(name="adjusted_p_value", of=lambda one: one.comparison.adjusted_p_value, shown="p_value"),
        Column(name="declared", of=lambda one: one.verdict, shown="word", words="declared"),
        *_RUNS[: conclusion.replicates > 1],
        *_AGREEMENT[: 2 * (not asks_in_turn(conclusion.judges))],
        Column(name="detectable", of=lambda one: one.comparison.detectable, shown="detectable", detail=True),
        Column(name="compared", of=lambda one: one.comparison.compared, shown="number", detail=True, to="behind"),
        Column(name="sources", of=lambda one: one.comparison.sources, shown="number", detail=True),
        Column(name="unscored_a", shown="number", detail=True, to="missing_a"),
        Column(name="unscored_b", shown="number", detail=True, to="missing_b"),
    )
    rows = [row_of(columns, one, **_led(one)) for one in respects_of(conclusion)]
    return PageTable(name="respects", columns=columns, rows=rows)


NO_INTERVAL = (None, None)


def _end(name: str, place: int) -> Column:
    """One end of the interval of a difference."""
    return Column(
        name=name,
        of=lambda one: (one.comparison.interval or NO_INTERVAL)[place],
        shown="decimal",
        scale=DIFFERENCES,
        hidden=True,
    )


def _between_runs(respect: Respect) -> float | None:
    """The standard deviation of the difference between runs; None if it is not known."""
    replication = respect.comparison.replication
    return None if replication is None or replication.variance is None else sqrt(replication.variance)


_RUNS = (Column(name="between_runs", of=_between_runs, shown="decimal", scale=UNBOUNDED, detail=True),)
_AGREEMENT = (
    Column(
        name="alpha",
        of=lambda one: (found := one.comparison.agreement) and found.alpha,
        shown="decimal",
        scale=AGREEMENT,
        detail=True,
    ),
    Column(
        name="split_items",
        of=lambda one: (found := one.comparison.agreement) and found.split,
        shown="number",
        detail=True,
    ),
)
"""Columns that only an experiment has whose judges were several, or were asked several times."""


def _led(respect: Respect) -> dict[str, str | None]:
    """The addresses to which the figures of a respect lead."""
    measured = respect.name != PREFERENCE
    return {
        "behind": f"#table-{'items_behind' if measured else 'preference'}",
        "missing_a": "#table-missing" if measured and respect.unscored_a else None,
        "missing_b": "#table-missing" if measured and respect.unscored_b else None,
    }


def _preference(conclusion: Conclusion, pairs: str) -> PageTable:
    found = conclusion.preference
    columns = (
        *(Column(name=name, shown="number", to=f"found_{name}") for name in ("wins_a", "wins_b", "ties", "flipped")),
        Column(name="flip_rate", shown="share", bounds=("flip_lower", "flip_upper"), to="found_flip_rate"),
        Column(name="flip_lower", of=lambda one: (one.flip_interval or NO_INTERVAL)[0], shown="share", hidden=True),
        Column(name="flip_upper", of=lambda one: (one.flip_interval or NO_INTERVAL)[1], shown="share", hidden=True),
        Column(name="unscored", shown="number", to="found_unscored"),
        Column(name="excerpts", shown="number", detail=True),
    )
    row = row_of(columns, found)
    led = {
        f"found_{name}": f"{pairs}?outcome={outcome}" if _counts_pairs(conclusion, name) else pairs
        for name, outcome in COUNTED.items()
        if row[name]
    }
    return PageTable(name="preference", columns=columns, rows=[{**row, **led}] if found.asked else ())


def _counts_pairs(conclusion: Conclusion, name: str) -> bool:
    """Whether a figure of the preference counts pairs, and not the verdicts of several judges or runs on a pair."""
    return conclusion.replicates == 1 and (conclusion.judges == 1 or name not in {"flipped", "flip_rate"})


def _preferred(found: PreferenceComparison) -> PageTable:
    columns = (
        Column(name="item"),
        Column(name="source"),
        Column(name="preferred", of=lambda one: one.verdict, shown="word", words="preferred"),
        Column(name="flipped_here", of=lambda one: one.flipped, shown="word", words="passed"),
        Column(name="reason_a_first", of=lambda one: one.reasons[0]),
        Column(name="reason_b_first", of=lambda one: one.reasons[1]),
    )
    return PageTable(name="preferred", columns=columns, rows=[row_of(columns, one) for one in found.examples])


def _behind(conclusion: Conclusion) -> Iterator[tuple[str, Literal["a", "b"], ItemDifference]]:
    """The items behind each difference, with the metric and the variant that each favours.

    The conclusion keeps only a few of them.
    """
    for metric in conclusion.metrics:
        yield from ((metric.metric, "a", one) for one in metric.favouring_a)
        yield from ((metric.metric, "b", one) for one in metric.favouring_b)


def _items(conclusion: Conclusion) -> PageTable:
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="favours", shown="word", words="preferred"),
        Column(name="item"),
        Column(name="source", detail=True),
        Column(name="a_score", of=lambda one: one.a, shown="decimal", scale=SCORES, detail=True),
        Column(name="b_score", of=lambda one: one.b, shown="decimal", scale=SCORES, detail=True),
        Column(name="difference", shown="decimal", scale=DIFFERENCES),
        Column(name="lost_a", of=lambda one: _lost(one.a_lost), shown="words", words="class"),
        Column(name="lost_b", of=lambda one: _lost(one.b_lost), shown="words", words="class"),
    )
    rows = [row_of(columns, one, metric=metric, favours=favours) for metric, favours, one in _behind(conclusion)]
    return PageTable(name="items_behind", columns=columns, rows=rows)


def _labels(conclusion: Conclusion) -> PageTable:
    columns = (
        Column(name="metric", shown="word", words="metric"),
        Column(name="item"),
        Column(name="variant"),
        Column(name="part", of=lambda label: label.item, detail=True),
        Column(name="label", shown="word", words="class"),
        Column(name="value", shown="decimal", scale=UNIT),
        Column(name="reason"),
        Column(name="text", detail=True),
        Column(name="evidence", detail=True),
        Column(name="suggestion", detail=True),
    )
    rows = [
        row_of(columns, label, metric=metric, item=one.item, variant=variant)
        for metric, _, one in _behind(conclusion)
        for variant, labels in ((conclusion.a, one.a_lost), (conclusion.b, one.b_lost))
        for label in labels
    ]
    return PageTable(name="labels", columns=columns, rows=rows)


def _lost(labels: Sequence[ItemLabel]) -> str | None:
    """Labels that lost points, and how often each occurs: `ambiguous × 2`. None if there are none."""
    names = [label.label for label in labels]
    return ", ".join(f"{name} × {names.count(name)}" for name in dict.fromkeys(names)) or None


_BECAUSE = (
    Column(name="because", of=lambda one: one.reason, shown="word", words="skip"),
    Column(name="details", of=lambda one: " ".join(one.details) or None, shown="kept"),
)


def _missing(conclusion: Conclusion) -> PageTable:
    columns = (
        Column(name="metric", shown="word", words="metric"),
        *(Column(name=name) for name in ("variant", "item", "part")),
        *_BECAUSE,
    )
    rows = [
        row_of(columns, one, metric=metric.metric, variant=variant)
        for metric in conclusion.metrics
        for variant, denominator in ((conclusion.a, metric.a), (conclusion.b, metric.b))
        for one in denominator.missing
    ]
    return PageTable(name="missing", columns=columns, rows=rows)


def _failed(conclusion: Conclusion) -> PageTable:
    columns = (Column(name="variant"), Column(name="item"), *_BECAUSE)
    rows = [row_of(columns, one) for one in conclusion.failed[:MOST_FAILED]]
    return PageTable(name="not_generated", columns=columns, rows=rows)


def _makers(conclusion: Conclusion, trace: str | None) -> Iterator[PageTable]:
    """Who made the items of each variant, with which prompt and at what cost; no table if all items were given."""
    columns = (
        Column(name="variant"),
        Column(name="maker", of=lambda one: f"{one.maker.kind}: {called(one.maker)}", shown="code"),
        Column(
            name="prompt",
            of=lambda one: one.maker.prompt if isinstance(one.maker, PromptMaker) else None,
            shown="sent",
            detail=True,
        ),
        Column(name="made", shown="number"),
        Column(name="not_made", of=lambda one: one.failed, shown="number", to="failed"),
        Column(name="cost_usd", shown="usd", unpriced="unpriced", to="trace"),
        Column(name="seconds", shown="decimal", scale=UNBOUNDED),
        *(
            Column(name=name, shown="number", detail=True, to="trace")
            for name in ("calls", "input_tokens", "output_tokens")
        ),
        Column(name="unpriced", shown="number", detail=True),
    )
    rows = [
        row_of(
            columns,
            one,
            variant=variant,
            failed="#table-not_generated" if one.failed else None,
            trace=trace if one.calls else None,
        )
        for variant, one in zip((conclusion.a, conclusion.b), conclusion.makers, strict=True)
        if one is not None
    ]
    if rows:
        yield PageTable(name="makers", columns=columns, rows=rows)


def _outlay(outlay: ExperimentOutlay, trace: str | None) -> PageTable:
    columns = (
        Column(name="calls", shown="number", to="trace"),
        Column(name="from_cache", of=lambda one: one.cached, shown="number", to="trace"),
        *(Column(name=name, shown="number", to="trace") for name in ("input_tokens", "output_tokens")),
        Column(name="cost_usd", shown="usd", unpriced="unpriced", to="trace"),
        Column(name="unpriced", shown="number", detail=True),
        Column(name="models", of=lambda one: ", ".join(one.models) or None, shown="code", detail=True),
        Column(
            name="prompts",
            of=lambda one: ", ".join(f"{each.purpose} {each.version}" for each in one.prompts) or None,
            shown="code",
            detail=True,
        ),
    )
    return PageTable(name="outlay", columns=columns, rows=[row_of(columns, outlay, trace=trace)])
