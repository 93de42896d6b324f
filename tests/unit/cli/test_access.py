"""Logging in, and tokens: a secret is shown once where it was asked for, and nowhere else."""

import json
import stat
from pathlib import Path

import pytest

from tests.support.commands import Command
from tests.support.loopback import TOKEN, Loopback, Reply

PAGE = Reply(value={"items": [], "cursor": None})
INFO = {
    "id": "01TOKEN", "role": "member", "name": "ci", "created_at": "2026-11-21T12:00:00Z", "expires_at": None,
    "revoked_at": None,
}  # fmt: skip
NEW = {**INFO, "token": "ts_" + "n" * 43}


def test_login_tries_the_token_and_keeps_it_for_the_user_alone(touchstone: Command, api: Loopback, home: Path) -> None:
    api.script = [PAGE, PAGE]
    result = touchstone("login", f"{api.url}/", stdin=f"{TOKEN}\n")
    assert result.exit_code == 0
    assert TOKEN not in result.output
    kept = home / "config" / "touchstone" / "credentials.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert touchstone("answers", "list").exit_code == 0
    assert {asked.headers["authorization"] for asked in api.asked} == {f"Bearer {TOKEN}"}
    assert touchstone("logout").stderr == "Forgotten.\n"
    assert touchstone("logout").stderr == "Nothing was kept.\n"
    assert touchstone("answers", "list").exit_code == 2


def test_a_terminal_is_asked_without_an_echo(
    touchstone: Command, api: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone.cli.commands.access.is_interactive", lambda: True)
    api.script = [PAGE]
    result = touchstone("login", api.url, stdin=f"{TOKEN}\n")
    assert result.exit_code == 0
    assert TOKEN not in result.output


def test_leaving_at_a_question_is_an_interruption_and_no_verdict(
    touchstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone.cli.commands.access.is_interactive", lambda: True)
    result = touchstone("login", "https://touchstone.example", stdin="")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "Aborted.")


def test_what_is_no_text_is_no_token(touchstone: Command) -> None:
    result = touchstone("login", "https://touchstone.example", stdin=b"ts_\xff\xfe\n")
    assert (result.exit_code, "The token is not one" in result.stderr) == (2, True)


def test_a_token_that_does_not_work_is_not_kept(touchstone: Command, api: Loopback, home: Path) -> None:
    api.script = [Reply(status=403, value={"message": "Forbidden"})]
    result = touchstone("login", api.url, stdin=TOKEN)
    assert result.exit_code == 2
    assert "does not accept the token" in result.stderr
    assert not (home / "config").exists()


def test_a_new_token_is_alone_on_standard_output(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(status=201, value=NEW)
    result = online("tokens", "create", "--role", "member", "--name", "ci", "--expires", "2027-01-31")
    assert (result.exit_code, result.stdout) == (0, f"{NEW['token']}\n")
    assert api.asked[0].document == {"role": "member", "name": "ci", "expires_at": "2027-01-31T00:00:00+00:00"}
    shown = online("tokens", "create", "--role", "admin", "--name", "x", "--json").stdout
    assert json.loads(shown) == NEW
    assert api.asked[1].document["expires_at"] is None


def test_an_end_that_is_no_moment_is_refused(online: Command, api: Loopback) -> None:
    result = online("tokens", "create", "--role", "member", "--name", "ci", "--expires", "soon")
    assert (result.exit_code, api.asked) == (2, [])
    assert "'soon' is no moment" in result.stderr


def test_tokens_are_listed_and_revoked(online: Command, api: Loopback) -> None:
    api.script = [Reply(value={"items": [INFO]}), Reply(value={"items": [INFO]})]
    assert "01TOKEN" in online("tokens", "list").stdout
    assert json.loads(online("tokens", "list", "--json").stdout) == {"items": [INFO]}
    api.script = [Reply(value=INFO), Reply(value=INFO)]
    assert online("tokens", "revoke", "01TOKEN").stderr == "The token 01TOKEN is revoked.\n"
    assert json.loads(online("tokens", "revoke", "01TOKEN", "--json").stdout) == INFO
    assert (api.asked[-1].method, api.asked[-1].path) == ("DELETE", "/v1/tokens/01TOKEN")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_new_token_whose_reply_was_lost_is_not_taken_for_one(
    online: Command, api: Loopback, pauses: list[float], form: tuple[str, ...]
) -> None:
    api.script = [Reply(cut=True), Reply(status=201, value={**NEW, "token": None})]
    result = online("tokens", "create", "--role", "member", "--name", "ci", *form)
    assert (result.exit_code, result.stdout, len(pauses)) == (4, "", 1)
    assert "touchstone tokens revoke 01TOKEN" in result.stderr
