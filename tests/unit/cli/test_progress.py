"""Progress: a bar where somebody watches, lines where nobody does."""

import io
import sys

import pytest

from touchstone.cli.progress import progress


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
