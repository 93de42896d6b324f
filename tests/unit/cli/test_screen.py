"""What is shown: text from elsewhere is data, in tables, sentences and JSON alike."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from touchstone.cli.terminal import screen, tables, words
from touchstone.cli.terminal.tables import ScreenColumn, field

HOSTILE = "\x1b[31mred\x1b[0m [bold]x[/bold] \u202egnp.exe\x07\x9b2J\ud800\u2028"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_shown(text: str) -> None:
    shown = screen.visible(text)
    assert all(character == "\n" or unicodedata.category(character) not in screen.OBEYED for character in shown)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert screen.visible(text) == text


def test_what_is_hidden_is_written_out() -> None:
    assert screen.visible("a\tb\r\x1b\u202e\U000e0001") == "a    b\\x0d\\x1b\\u202e\\U000e0001"


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_says_the_same_and_moves_no_terminal(document: object) -> None:
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lines.append)
        screen.print_json(document)
    assert json.loads(lines[0]) == document
    assert screen.visible(lines[0]) == lines[0]


def test_a_table_shows_markup_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    tables.print_table((ScreenColumn(title="text", of=field("text")),), [{"text": HOSTILE}, {}], empty="-")
    shown = capsys.readouterr().out
    assert "\\x1b[31mred" in shown
    assert "[bold]x[/bold]" in shown
    assert tables.NOTHING in shown
    assert screen.visible(shown) == shown


def test_an_empty_table_is_a_sentence_for_people_alone(capsys: pytest.CaptureFixture[str]) -> None:
    tables.print_table((), [], empty="Nothing yet.")
    assert capsys.readouterr() == ("", "Nothing yet.\n")


def test_facts_leave_out_what_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    tables.print_facts((("name", "value"), ("none", None), ("zero", 0)))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["name", "value"], ["zero", "0"]]


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not screen.console().is_terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert screen.console().is_terminal
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen.console().no_color


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "$0.00"), (0.00123, "$0.0012"), (12.345, "$12.35"), (None, None), ("x", None)]
)
def test_money_is_shown_as_finely_as_it_is_spent(value: object, shown: str | None) -> None:
    assert words.dollars(value) == shown


def test_shares_and_moments_of_nothing_are_nothing() -> None:
    assert (words.percent(0.876), words.percent(None), words.moment(None)) == ("88%", None, None)
    assert words.moment("2026-11-21T12:00:00.123456+00:00") == "2026-11-21 12:00:00"


@pytest.mark.parametrize("width", [160, 80, 60, 40])
def test_an_id_is_in_one_piece_however_narrow_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setattr(screen, "WIDTH_WITHOUT_TERMINAL", width)
    row = {"created": "2026-11-23 06:12:11", "id": "01JD7Z00000000000000000000", "problem": "Solve x. " * 9}
    tables.print_table([ScreenColumn(title=name, of=field(name)) for name in row], [row], empty="-")
    shown = capsys.readouterr().out
    assert (row["id"] in shown, row["created"] in shown) == (True, True)
    assert max(map(len, shown.splitlines())) <= width
    assert "".join(shown.split()).count("Solve") == 9


def test_a_wide_list_is_read_on_80_columns_with_long_texts_below_their_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screen, "WIDTH_WITHOUT_TERMINAL", 80)
    cells = {"created (UTC)": "2026-11-23 06:12:11", "id": "0" * 26, "status": "Verified ✓", "confidence": "95%"}
    cells |= {"problem": "一列火车长240米，" * 6, "answer": "Canberra", "cost": "$0.0123"}
    columns = [ScreenColumn(title=name, of=field(name), right=name in {"confidence", "cost"}) for name in cells]
    tables.print_table(columns, [cells, {**cells, "problem": None}], empty="-")
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.split() == ["created", "(UTC)", "id", "status", "confidence", "cost"]
    facts = ["2026-11-23", "06:12:11", "0" * 26, "Verified", "✓", "95%", "$0.0123"]
    assert [number for number, line in enumerate(lines) if line.split() == facts] == [0, len(lines) - 3]
    assert lines[1].startswith("    problem: 一列火车长240米")
    assert [line.strip() for line in lines[-4:]] == ["answer: Canberra", lines[0], "problem: –", "answer: Canberra"]
    assert max(map(cell_len, [title, *lines])) == 80, "what fits is beside each other"
