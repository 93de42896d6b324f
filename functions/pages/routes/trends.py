"""Quality over time: the scores of deep evaluations, their frequent suggestions, and better approaches."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from functions.composition.stores import answers, statistics
from functions.pages.charts import Chart, Series
from functions.pages.labelled import readable
from functions.pages.rendering import decimal
from functions.pages.tables import UNIT, Column, PageTable, Row
from functions.pages.visit import Page, PageView, router, visit
from functions.pages.words import PageTexts
from touchstone.errors import InputError
from touchstone.records.answer_counters import DIMENSIONS
from touchstone.records.list_query import beginning
from touchstone.references import Reference

if TYPE_CHECKING:
    from touchstone.records import ApproachView, SuggestionView, TrendDay

SPANS = (30, 7, 90)
"""The numbers of days that a visitor can look back on. The first one is the default."""
SHOWN_MEANS = frozenset({"overall", "correctness", "completeness", "clarity"})
"""The scores that the table shows at first sight; the others are in the row below."""
ROWS = 50
"""How many suggestions (the most frequent) and approaches (the newest) are shown."""


@router.get("/app/trends")
def trends() -> Page:
    """The five dimensions and the overall score day by day, frequent suggestions, better approaches."""
    this_visit = visit()
    days = _days(this_visit.query.get("days") or str(SPANS[0]))
    found = statistics().trends(this_visit.tenant, days=days)
    suggested = statistics().suggestions(this_visit.tenant, limit=ROWS)
    better = statistics().approaches(this_visit.tenant, limit=ROWS)
    return this_visit.show(
        PageView(
            title="trends.title",
            template="trends.html",
            tables=(_means(found), _suggestions(suggested), _approaches(this_visit.tenant, better)),
            charts=(_chart(this_visit.words, found, days),) if found else (),
            given={"spans": sorted(SPANS), "days": days},
        )
    )


def _days(asked: str) -> int:
    for days in SPANS:
        if asked == str(days):
            return days
    raise InputError(f"Trends can be had of {', '.join(map(str, sorted(SPANS)))} days.", where="days")


def _means(found: Sequence["TrendDay"]) -> PageTable:
    rows: list[Row] = [{"day": trend.day, "evaluations": trend.evaluations, **trend.means} for trend in reversed(found)]
    columns = (
        Column(name="day", shown="moment"),
        Column(name="evaluations", shown="number"),
        *(Column(name=name, shown="decimal", scale=UNIT, detail=name not in SHOWN_MEANS) for name in DIMENSIONS),
    )
    return PageTable(name="trends", columns=columns, rows=rows)


def _suggestions(found: Sequence["SuggestionView"]) -> PageTable:
    rows: list[Row] = [{"count": suggestion.count, "suggestion": suggestion.text} for suggestion in found]
    columns = (Column(name="count", shown="number"), Column(name="suggestion"))
    return PageTable(name="suggestions", columns=columns, rows=rows)


def _approaches(tenant: str, found: Sequence["ApproachView"]) -> PageTable:
    which = [Reference(tenant, "answer", approach.answer_id) for approach in found]
    problems = {one.id: record.problem for one, record in readable(answers(), tenant, which).items()}
    rows: list[Row] = [
        {
            "approach": approach.text,
            "problem": beginning(problems.get(approach.answer_id) or "") or None,
            "answer_id": approach.answer_id,
            "address": f"answers/{approach.answer_id}",
        }
        for approach in found
    ]
    columns = (
        Column(name="approach", shown="sent"),
        Column(name="problem", to="address"),
        Column(name="answer_id", shown="code", to="address", detail=True),
    )
    return PageTable(name="approaches", columns=columns, rows=rows)


def _chart(words: PageTexts, found: Sequence["TrendDay"], days: int) -> Chart:
    """The chart of every day from the first to the last with evaluations; a day without evaluations is a gap."""
    by_day = {trend.day: trend.means for trend in found}
    first, last = found[0].day, found[-1].day
    shown = [first + timedelta(days=each) for each in range((last - first).days + 1)]
    series = [
        _line(words(f"dimension.{name}"), [by_day[day][name] if day in by_day else None for day in shown])
        for name in DIMENSIONS
    ]
    labels = [day.isoformat() for day in shown]
    return Chart(kind="lines", title=words("trends.chart", days=days), labels=labels, series=series)


def _line(name: str, values: Sequence[float | None]) -> Series:
    return Series(name=name, values=values, texts=[decimal(value, UNIT[1]) for value in values])
