"""Tables for spreadsheets: nothing in them is run, at whichever characters a spreadsheet splits a line (A7)."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.spreadsheets import AS_TEXT, SEPARATORS, STARTS, as_csv, as_text

PARTS = st.sampled_from([*SEPARATORS, *STARTS, " ", '"', ",", "'", "\0", "\u00a0", "a", "1"])
TEXTS = st.lists(PARTS, max_size=12).map("".join)
ROWS = st.lists(st.lists(TEXTS | st.none() | st.booleans() | st.integers(min_value=0), min_size=3, max_size=3))


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("a, b; c\nd", "a, b; c\nd"),
        ("1+1", "1+1"),
        ("x=1; y", "x=1; y"),
        ("(3,-1)", "(3,-1)"),
        ("'quoted", "'quoted"),
        ("=1+1", "'=1+1"),
        ("+49 30", "'+49 30"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("|calc", "'|calc"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff20SUM", "'\uff20SUM"),
        ("  =1", "'  =1"),
        ("\tx", "'\tx"),
        ("\0=1", "'\0=1"),
        ("\n=1", "'\n'=1"),
        ("a;=1+1", "a;'=1+1"),
        ('a; "=1+1";b', 'a;\' "=1+1";b'),
        ("a\t-1", "a\t'-1"),
        ("a\n- b\r\n+c", "a\n'- b\r\n'+c"),
        ("a\u061b@b", "a\u061b'@b"),
        ('=HYPERLINK("http://a.example","x")', '\'=HYPERLINK("http://a.example","x")'),
    ],
)
def test_a7_a_text_is_told_to_be_one_wherever_it_could_begin_a_formula(text: str, shown: str) -> None:
    assert as_text(text) == shown
    assert read(as_csv(["a", "b"], [[1, text]])) == [["a", "b"], ["1", shown]]


@given(ROWS)
def test_a7_no_cell_begins_a_formula_whatever_a_spreadsheet_splits_at(rows: list[list[str | int | None]]) -> None:
    written = as_csv(["a", "b", "c"], rows)
    for separator in SEPARATORS:  # quotes in the middle of a field are none to it, and there it splits as anywhere
        for cell in re.split(f"[\r\n{separator}]", written):
            assert cell.strip('" \0\u00a0')[:1] not in set(STARTS), (separator, cell)


@given(ROWS)
def test_what_splits_at_commas_finds_every_cell_and_nothing_but_apostrophes_more(
    rows: list[list[str | int | None]],
) -> None:
    found = read(as_csv(["a", "b", "c"], rows))[1:]
    for row, line in zip(rows, found, strict=True):
        for value, cell in zip(row, line, strict=True):
            text = "" if value is None else str(value)
            assert cell.replace(AS_TEXT, "") == text.replace(AS_TEXT, "")


def test_every_text_is_quoted_so_that_what_also_splits_at_others_leaves_it_whole() -> None:
    assert as_csv(["a", "b", "c"], [["x;y", 1, None], ["z\tz", 0.5, "w"]]) == (
        'a,b,c\r\n"x;y",1,""\r\n"z\tz",0.5,"w"\r\n'
    )
