"""The run of all tests: what it does to the machine before the first test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.local import browser, testing


@pytest.mark.parametrize("code", [0, 1])
def test_a_browser_that_cannot_be_installed_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int
) -> None:
    apt, log = tmp_path / "apt-get", tmp_path / "log"
    apt.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexit 1\n')
    apt.chmod(0o755)
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    sudo.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browser.VARIABLE, raising=False)
    monkeypatch.setattr(browser, "ELSEWHERE", ())
    seen: list[dict[str, str]] = []

    @contextmanager
    def beside(*_: Any) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(wait=lambda: 0)

    @contextmanager
    def cloud() -> Iterator[dict[str, str]]:
        yield {}

    def run(_command: Any, environment: dict[str, str] | None = None) -> int:
        seen.append(environment or {})
        return 0

    monkeypatch.setattr(testing, "_checked", lambda _: code)
    monkeypatch.setattr(testing, "_beside", beside)
    monkeypatch.setattr(testing, "_cloud", cloud)
    monkeypatch.setattr(testing, "_run", run)
    assert testing._everything([]) == code
    assert log.read_text().split() == ["update"]
    assert not any(browser.VARIABLE in environment for environment in seen)
