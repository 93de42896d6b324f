"""The run of all tests: what it does to the machine before the first test."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.local import browser, testing

LONG = "print('1 begun', flush=True); import time; time.sleep(60)"


@contextmanager
def no_cloud() -> Iterator[dict[str, str]]:
    yield {}


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
    def beside(_command: Any, environment: dict[str, str], _said: Any = None) -> Iterator[SimpleNamespace]:
        seen.append(environment)
        yield SimpleNamespace(wait=lambda: 0, poll=lambda: 0, returncode=0)

    monkeypatch.setattr(testing, "_checked", lambda _: code)
    monkeypatch.setattr(testing, "_beside", beside)
    monkeypatch.setattr(testing, "_cloud", no_cloud)
    monkeypatch.setattr(testing, "_run", lambda *_: 0)
    assert testing._everything([]) == code
    assert log.read_text().split() == ["update"]
    assert not any(browser.VARIABLE in environment for environment in seen)


@pytest.mark.parametrize(
    ("real", "hostile", "cloud", "code", "told"),
    [
        ("print('16 passed')", "pass", "pass", 0, "16 passed"),
        ("pass", "print('17 passed')", "pass", 0, "17 passed"),
        ("print('1 failed'); raise SystemExit(3)", "pass", LONG, 3, "1 failed"),
        (LONG, "print('2 failed'); raise SystemExit(5)", LONG, 5, "2 failed"),
        (LONG, "print('2 failed'); raise SystemExit(5)", "pass", 5, "2 failed"),
        (LONG, LONG, "raise SystemExit(4)", 4, None),
    ],
)
def test_the_first_failure_of_what_runs_side_by_side_ends_the_rest_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    real: str,
    hostile: str,
    cloud: str,
    code: int,
    told: str | None,
) -> None:
    scripts = {testing.REAL: real, testing.HOSTILE: hostile, testing.WITH_CLOUD: cloud}
    monkeypatch.setattr(testing, "_checked", lambda _: 0)
    monkeypatch.setattr(testing, "_cloud", no_cloud)
    monkeypatch.setattr(testing, "_run", lambda *_: 0)
    monkeypatch.setattr(testing, "_tests", lambda paths, _: [sys.executable, "-c", scripts.get(paths, "")])
    monkeypatch.setattr(browser, "install", lambda: None)
    began = time.monotonic()
    assert testing._everything([]) == code
    assert told is None or told in capsys.readouterr().out
    assert time.monotonic() - began < 30
