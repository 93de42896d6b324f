"""What holds of every command: how it ends, whoever answers where a deployment should be."""

import re
import socket
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.commands import Command
from tests.support.every_command import ASKING, HERE, STDIN, asking, names
from tests.support.loopback import HEALTH, TOKEN, Asked, Loopback, Reply
from touchstone.cli.terminal.exits import INTERRUPTED, Exit

ROOT = Path(__file__).parents[3]
PAGE = Reply(raw=b"<!doctype html><title>Welcome</title>", headers={"Content-Type": "text/html"})
WRONG = {
    "any JSON": (Reply(value={}), Reply(value={})),
    "HTML": (PAGE, PAGE),
    "another version": (Reply(value={"status": "ok", "name": "touchstone", "version": "1.0.0"}), Reply(value={})),
}
"""What answers under a wrong address: of its health, and to all else."""
STRANGER = {
    "a list": (Reply(value=[]), Reply(value=[])),
    "nothing": (Reply(status=204), Reply(status=204)),
    "another API": (Reply(status=404, value={"message": "Not Found"}), Reply(value={})),
    "a page that is not there": (Reply(status=404, raw=b"<html>"), PAGE),
    "another service": (Reply(value={"status": "ok", "name": "other", "version": "0.1.0"}), Reply(value={})),
    "an older version": (Reply(value={"status": "ok", "name": "touchstone", "version": "0.0.9"}), Reply(value={})),
    "no version": (Reply(value={"status": "ok", "name": "touchstone", "version": "x"}), Reply(value={})),
    "an older one that did not say its name": (Reply(value={"status": "ok", "version": "0.1.0"}), Reply(value={})),
}
"""The same, rarer; what asks is the same for all commands."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _run(touchstone: Command, name: str, url: str) -> Result:
    arguments = [url if each == "URL" else each for each in ASKING[name]]
    env = {"TOUCHSTONE_API_URL": url, "TOUCHSTONE_TOKEN": TOKEN}
    return touchstone(*name.split(), *arguments, stdin=STDIN.get(name), env=env)


def test_every_command_is_among_those_that_are_tried() -> None:
    assert sorted(names()) == sorted([*ASKING, *HERE])
    assert sorted(asking()) == sorted(ASKING), "as their code says"


@pytest.mark.parametrize(
    ("name", "server"),
    [*((name, server) for name in ASKING for server in WRONG), *(("verify", one) for one in STRANGER)],
)
def test_an_address_that_is_no_touchstone_of_this_version_ends_with_four(
    touchstone: Command, api: Loopback, name: str, server: str
) -> None:
    api.health, reply = {**WRONG, **STRANGER}[server]
    api.answer = lambda _: reply
    result = _run(touchstone, name, api.url)
    assert (result.exit_code, result.stdout) == (Exit.SERVICE, "")
    assert result.stderr.startswith(f"Error: {api.url} is ")
    assert result.stderr.count("\n") == 1
    assert (len(api.greeted), api.asked) == (1, [])
    assert "authorization" not in api.greeted[0].headers


@pytest.mark.parametrize(
    ("name", "reply"), [*((name, Reply(value={})) for name in ASKING), ("verify", Reply(value=[{}])), ("verify", PAGE)]
)
def test_a_reply_that_is_not_what_was_asked_for_ends_with_four(
    touchstone: Command, api: Loopback, name: str, reply: Reply
) -> None:
    api.answer = lambda _: reply
    result = _run(touchstone, name, api.url)
    assert (result.exit_code, result.stdout) == (Exit.SERVICE, "")
    assert result.stderr.endswith("is the URL that of a Touchstone API?\n")
    assert (len(api.greeted), len(api.asked)) == (1, 1)


@pytest.mark.parametrize("name", ASKING)
def test_nobody_at_the_address_ends_with_four(touchstone: Command, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    result = _run(touchstone, name, f"http://127.0.0.1:{port}")
    assert (result.exit_code, result.stdout) == (Exit.SERVICE, "")
    assert "cannot be reached" in result.stderr


@pytest.mark.parametrize("name", ASKING)
def test_a_token_that_is_refused_ends_with_two(touchstone: Command, api: Loopback, name: str) -> None:
    api.answer = lambda _: Reply(status=401, value={"message": "Unauthorized"})
    result = _run(touchstone, name, api.url)
    assert (result.exit_code, result.stdout) == (Exit.INPUT, "")
    assert "does not accept the token" in result.stderr


@pytest.mark.parametrize("name", ASKING)
def test_a_fault_of_the_api_ends_with_four(touchstone: Command, api: Loopback, name: str) -> None:
    api.answer = lambda _: Reply(status=500, raw=b"[" * 100_000)
    assert _run(touchstone, name, api.url).exit_code == Exit.SERVICE


@pytest.mark.parametrize("name", sorted({*ASKING} - {"login"}))
def test_without_a_deployment_every_command_that_needs_one_ends_with_two(touchstone: Command, name: str) -> None:
    result = touchstone(*name.split(), *ASKING[name], stdin=STDIN.get(name))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (Exit.INPUT, "", 1)
    assert "TOUCHSTONE_API_URL" in result.stderr


@pytest.mark.parametrize("name", names())
def test_an_option_that_no_command_has_ends_with_two(touchstone: Command, name: str) -> None:
    assert touchstone(*name.split(), "--nonsense").exit_code == Exit.INPUT


def test_the_address_is_asked_once_who_it_is_however_much_is_asked_for(touchstone: Command, api: Loopback) -> None:
    running = {
        "id": "B1", "state": "running", "total": 1, "done": 0, "failed": 0, "failure": None, "upload_url": None,
        "results_url": None, "created_at": "2026-11-21T12:00:00Z", "updated_at": "2026-11-21T12:00:00Z",
    }  # fmt: skip
    looks = iter(range(5))

    def answer(asked: Asked) -> Reply:
        return Reply(value={**running, "state": "failed" if next(looks, None) is None else "running"})

    api.answer = answer
    assert _run(touchstone, "batch run", api.url).exit_code == Exit.VERDICT
    assert (len(api.greeted), len(api.asked)) == (1, 6)


def test_a_touchstone_that_is_busy_is_asked_again(touchstone: Command, api: Loopback, pauses: list[float]) -> None:
    api.health = Reply(status=503)
    assert _run(touchstone, "budget", api.url).exit_code == Exit.SERVICE
    assert pauses == [0.5, 1.0, 2.0]
    api.health = HEALTH


def test_the_guide_lists_the_exit_codes_that_there_are() -> None:
    guide = (ROOT / "docs/how-to/command.md").read_text(encoding="utf-8")
    listed = [int(code) for code in re.findall(r"^\| (\d+) \|", guide, flags=re.MULTILINE)]
    assert listed == [*Exit, INTERRUPTED]
