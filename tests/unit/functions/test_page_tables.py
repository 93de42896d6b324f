"""Tables as CSV and JSON: every value survives, and nothing in a file is run by a spreadsheet (A7)."""

import csv
import io
import json
from datetime import UTC, date, datetime
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.pages.rendering import MOST_ROWS, decimal, moment, render, share, total, usd
from functions.pages.tables import (
    AGREEMENT,
    COST,
    DIFFERENCES,
    SCORES,
    UNBOUNDED,
    UNIT,
    Column,
    PageTable,
    Row,
    Value,
    as_csv,
    as_json,
)
from functions.pages.words import words
from touchstone.spreadsheets import as_text

NAMES = ("a", "b")
COLUMNS = tuple(Column(name=name) for name in NAMES)
MOMENT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    TEXTS,
)
ROWS = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, VALUES)), max_size=5)


def _table(*rows: Row, columns: tuple[Column, ...] = COLUMNS, following: str | None = None) -> PageTable:
    return PageTable(name="answers", columns=columns, rows=rows, next=following)


def _read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("", ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-3, "-3"),
        (0.1, "0.1"),
        (1e-9, "1e-09"),
        (date(2026, 11, 22), "2026-11-22"),
        (MOMENT, "2026-11-22T09:30:00+00:00"),
        ('say "no", please', 'say "no", please'),
        ("two\nlines", "two\nlines"),
        ("two\r\nlines", "two\r\nlines"),
        ("中文", "中文"),
        ("1+1", "1+1"),
        ("'quoted", "'quoted"),
        ("=1+1", "'=1+1"),
        ("a;=1+1", "a;'=1+1"),
    ],
)
def test_a_value_is_one_cell(value: Value, cell: str) -> None:
    assert _read(as_csv(_table({"a": value, "b": "end"}))) == [["a", "b"], [cell, "end"]]


def test_lines_end_as_the_standard_of_csv_says() -> None:
    assert as_csv(_table({"a": 1, "b": "x,y"})) == 'a,b\r\n1,"x,y"\r\n'


def test_a_table_without_rows_has_its_headings() -> None:
    assert as_csv(_table()) == "a,b\r\n"
    assert json.loads(as_json([_table()])) == {"answers": {"rows": [], "cursor": None}}


def test_only_what_is_a_column_is_given_out() -> None:
    columns = (Column(name="a", to="address"),)
    table = _table({"a": 1, "address": "answers/1", "secret": "s"}, {}, columns=columns)
    assert _read(as_csv(table)) == [["a"], ["1"], [""]]
    assert json.loads(as_json([table]))["answers"]["rows"] == [{"a": 1}, {"a": None}]


def test_several_tables_are_one_document_with_the_way_on() -> None:
    other = PageTable(name="days", columns=COLUMNS[:1], rows=[{"a": MOMENT}])
    assert json.loads(as_json([_table({"a": date(2026, 1, 2)}, following="next"), other])) == {
        "answers": {"rows": [{"a": "2026-01-02", "b": None}], "cursor": "next"},
        "days": {"rows": [{"a": "2026-11-22T09:30:00+00:00"}], "cursor": None},
    }


def test_what_is_no_value_of_a_table_is_refused() -> None:
    wrong: Any = {"a": {1, 2}}
    with pytest.raises(TypeError, match="set is no value of a table"):
        as_json([_table(wrong)])


@given(ROWS)
def test_csv_has_a_cell_for_every_value_whatever_it_is(rows: list[Row]) -> None:
    found = _read(as_csv(_table(*rows)))
    assert found[0] == list(NAMES)
    assert len(found) == 1 + len(rows)
    assert {len(line) for line in found} == {len(NAMES)}


@given(ROWS)
def test_a7_a_text_in_csv_is_guarded_and_else_as_it_is(rows: list[Row]) -> None:
    for row, line in zip(rows, _read(as_csv(_table(*rows)))[1:], strict=True):
        for name, cell in zip(NAMES, line, strict=True):
            if isinstance(value := row.get(name), str):
                assert cell == as_text(value)


@given(ROWS)
def test_numbers_in_csv_are_those_of_the_rows(rows: list[Row]) -> None:
    for row, line in zip(rows, _read(as_csv(_table(*rows)))[1:], strict=True):
        for name, cell in zip(NAMES, line, strict=True):
            value = row.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert type(value)(cell) == value


@given(ROWS)
def test_json_gives_every_value_back(rows: list[Row]) -> None:
    found = json.loads(as_json([_table(*rows)]))["answers"]["rows"]
    assert found == [
        {name: value.isoformat() if isinstance(value := row.get(name), date) else value for name in NAMES}
        for row in rows
    ]


@pytest.mark.parametrize("shown", ["text", "code", "sent"])
def test_a7_what_a_record_holds_is_escaped_on_a_page(shown: Any) -> None:
    columns = (Column(name="answer", shown=shown, to="to"),)
    row = {"answer": "<script>alert(1)</script>", "to": '"><script>alert(2)</script>'}
    page = _shown(_table(row, columns=columns))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("shown", "value", "text"),
    [
        ("number", 1234567, ">1,234,567<"),
        ("total", 58.5, ">58.50<"),
        ("total", 59.996, ">&gt; 59.99<"),
        ("total", 89.9999, ">&gt; 89.99<"),
        ("detectable", 100.0, ">100.00<"),
        ("detectable", 121.1, ">&gt; 100<"),
        ("p_value", 0.0004, ">&lt; 0.001<"),
        ("p_value", 0.0504, ">&gt; 0.050<"),
        ("share", 0.5, ">50.0 %<"),
        ("share", 0.9996, ">&gt; 99.9 %<"),
        ("usd", 0.00042, ">$0.0004<"),
        ("usd", 0.000031, ">$0.000031<"),
        ("moment", MOMENT, ">2026-11-22 09:30<"),
        ("moment", date(2026, 11, 22), ">2026-11-22<"),
        ("badge", "verified", ">Verified ✓<"),
        ("mark", 0.8, 'aria-label="Confidence 0.80">●●●<'),
        ("mark", 0.7999, 'aria-label="Confidence &gt; 0.79">●●○<'),
        ("badge", "unverified", ">Not verified<"),
        ("sent", "a\nb", ">a\nb<"),
        ("number", None, ">–<"),
        ("moment", None, ">–<"),
    ],
)
def test_a_value_is_shown_as_its_column_says(shown: Any, value: Value, text: str) -> None:
    assert text in _shown(_table({"status": value}, columns=(Column(name="status", shown=shown),)))


@pytest.mark.parametrize(
    ("scale", "value", "text"),
    [
        (UNIT, 0.756, ">0.76<"),
        (UNIT, 0.9963, ">&gt; 0.99<"),
        (UNIT, 0.004, ">&lt; 0.01<"),
        (SCORES, 0.9963, ">1.00<"),
        (SCORES, 99.996, ">&gt; 99.99<"),
        (DIFFERENCES, 0.9963, ">1.00<"),
        (DIFFERENCES, -99.996, ">&lt; -99.99<"),
        (AGREEMENT, -0.9963, ">&lt; -0.99<"),
        (UNBOUNDED, 0.9963, ">1.00<"),
        (UNBOUNDED, 99.996, ">100.00<"),
    ],
)
def test_a_decimal_is_rounded_by_the_scale_that_its_column_names(
    scale: tuple[float, float], value: float, text: str
) -> None:
    assert text in _shown(_table({"status": value}, columns=(Column(name="status", shown="decimal", scale=scale),)))


def test_a_decimal_without_a_scale_is_no_column() -> None:
    with pytest.raises(ValueError, match="status names no scale"):
        Column(name="status", shown="decimal")


def test_a_word_is_shown_in_the_readers_language_and_given_out_as_it_is() -> None:
    column = Column(name="passed", shown="word", words="passed")
    table = _table({"passed": True}, columns=(column,))
    assert ">Yes<" in _shown(table)
    assert ">是<" in _shown(table, language="zh")
    assert _read(as_csv(table))[1] == ["true"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (share(None), "–"),
        (share(1.0), "100.0 %"),
        (usd(None), "–"),
        (usd(0.0), "$0.00"),
        (usd(1234.5), "$1,234.50"),
        (decimal(None, 1), "–"),
        (decimal(1234.567, inf), "1,234.57"),
        (total(None), "–"),
        (moment(None), "–"),
    ],
)
def test_figures_are_written_as_people_read_them(written: str, text: str) -> None:
    assert written == text


def test_a_page_shows_no_more_rows_than_it_has_room_for_and_says_so() -> None:
    columns = (Column(name="subject"),)
    rows: list[Row] = [{"subject": f"s{number}"} for number in range(MOST_ROWS + 1)]
    whole = _shown(PageTable(name="routing", columns=columns, rows=rows[:-1]))
    assert (whole.count("<tr>"), "rows; CSV and JSON" in whole) == (1 + MOST_ROWS, False)
    table = PageTable(name="routing", columns=columns, rows=rows)
    page = _shown(table)
    assert page.count("<tr>") == 1 + MOST_ROWS
    assert "The first 1,000 of 1,001 rows; CSV and JSON have them all." in page
    assert len(_read(as_csv(table))) == 1 + len(rows)


class _Visit:
    """As much of a visit as a page without navigation needs."""

    session = identity = None
    home, theme = "../", "auto"
    query: dict[str, str] = {}  # noqa: RUF012 - nobody writes it

    def at(self, **changed: str | None) -> str:
        """An address of this page."""
        return "?" + "&".join(f"{name}={value}" for name, value in changed.items())


def _shown(table: PageTable, *, language: Any = "en") -> str:
    return render("listing.html", words(language), title="T", tables=(table,), charts=(), visit=_Visit())


PARTLY = [
    (0.12, 3, "$0.1200 + 3 calls at a price not known"),
    (1.0, 1, "$1.00 + 1 call at a price not known"),
    (None, 2, "not known"),
    (0.0, 2, "not known"),
    (0.0, 0, "$0.00"),
]


@pytest.mark.parametrize(("known", "others", "shown"), PARTLY)
def test_a_cost_says_how_many_calls_have_no_known_price_and_files_have_both(
    known: float | None, others: int, shown: str
) -> None:
    table = _table({"cost_usd": known, "unpriced_calls": others}, columns=COST)
    page = _shown(table)
    assert f">{shown}</td>" in page
    assert "Of unknown price" not in page
    assert _read(as_csv(table)) == [
        ["cost_usd", "unpriced_calls"],
        ["" if known is None else str(known), str(others)],
    ]


RATE = (
    Column(name="model", shown="code"),
    Column(name="rate", shown="share", bounds=("lower", "upper")),
    Column(name="lower", shown="share", hidden=True),
    Column(name="upper", shown="share", hidden=True),
)


def test_a_rate_stands_beside_its_interval_and_files_have_the_bounds_alone() -> None:
    table = _table({"model": "m", "rate": 0.75, "lower": 0.301, "upper": 0.954}, columns=RATE)
    page = _shown(table)
    assert "75.0 %" in page
    assert "[30.1, 95.4]" in page
    assert '<rect x="30.1" y="3" width="65.3"' in page.replace("65.30000000000001", "65.3")
    assert '<ellipse cx="75.0"' in page
    assert "95 % from" not in page
    assert _read(as_csv(table)) == [["model", "rate", "lower", "upper"], ["m", "0.75", "0.301", "0.954"]]


def test_a_rate_that_nobody_knows_has_no_interval() -> None:
    page = _shown(_table({"model": "m", "rate": None, "lower": None, "upper": None}, columns=RATE))
    assert "interval" not in page


def test_a_difference_is_drawn_from_one_end_of_its_scale_to_the_other() -> None:
    column = Column(name="difference", shown="decimal", bounds=("lower", "upper"), scale=(-100.0, 100.0))
    assert [column.at(value) for value in (-100.0, 0.0, 50.0, 100.0)] == [0.0, 50.0, 75.0, 100.0]


def test_a_part_is_shown_with_what_it_is_a_part_of() -> None:
    columns = (Column(name="used", shown="number", out_of="limit"), Column(name="limit", shown="number", hidden=True))
    page = _shown(_table({"used": 1200, "limit": 5000}, columns=columns))
    assert "1,200 / 5,000 <meter" in page
    assert 'max="5000"' in page
    assert "<meter" not in _shown(_table({"used": 3, "limit": None}, columns=columns))


def test_a_row_without_details_has_none_to_open() -> None:
    columns = (Column(name="model", shown="code"), Column(name="since", shown="moment", detail=True))
    day = datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert (
        _shown(_table({"model": "m", "since": None}, {"model": "n", "since": day}, columns=columns)).count("<details>")
        == 1
    )
