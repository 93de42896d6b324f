"""Progress: a bar where somebody watches, lines where nobody does."""

import io
import sys

import pytest

from touchstone.cli.terminal.waiting import noted_progress, progress


def _shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("Batch") as show:
        show(0, None)
        for done in range(101):
            show(done, 100)
    return stream.getvalue()


def test_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = _shown(monkeypatch, terminal=True)
    assert "Batch" in shown
    assert "100/100" in shown
    assert "━" in shown


def test_a_log_shows_a_line_at_each_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _shown(monkeypatch, terminal=False).splitlines()
    assert lines[0] == "Batch: waiting for the file to be read"
    assert lines[1:] == [f"Batch: {tenth}0 of 100" for tenth in range(1, 11)]


def _noted(monkeypatch: pytest.MonkeyPatch, total: int | None, *, terminal: bool) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with noted_progress("Pairs") as show:
        for done in range(11):
            show(done, total, f"${done}.00 [bold]")
    return stream.getvalue()


def test_what_it_costs_so_far_is_shown_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = _noted(monkeypatch, 10, terminal=True)
    assert "10/10" in shown
    assert "$10.00 [bold]" in shown
    assert _noted(monkeypatch, 10, terminal=False).splitlines()[-1] == "Pairs: 10 of 10, $10.00 [bold]"


def test_of_how_many_is_not_told_where_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "10/?" in _noted(monkeypatch, None, terminal=True)
    assert _noted(monkeypatch, None, terminal=False) == ""
