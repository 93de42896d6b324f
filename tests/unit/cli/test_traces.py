"""The command `touchstone trace`: what a judge was asked, for people and as JSON."""

import json
from typing import Any

from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply, problem

ID = "01JD7Z00000000000000000000"
CALL: dict[str, Any] = {
    "asked_at": "2026-11-23T12:00:00Z",
    "prompt_name": "verify",
    "prompt_version": "0123456789abcdef",
    "system": [{"text": "You check.", "fenced": False}],
    "user": [
        {"text": "Problem:\n", "fenced": False},
        {"text": "⟦data 0123456789abcdef⟧\n6 × 7 [bold]\x1b[2J\n⟦end 0123456789abcdef⟧", "fenced": True},
    ],
    "images": [],
    "reply_schema": {"title": "VerifyReply"},
    "max_output_tokens": 700,
    "temperature": None,
    "provider": "openai",
    "requested_model": "gpt",
    "model": None,
    "cached": False,
    "line_id": None,
    "tries": [
        {"latency_ms": 812.4, "reply": '{"is_correct": "perhaps"}', "failure": "unreadable", "detail": "It is not fit.",
         "next_in_seconds": 0.0},
        {"latency_ms": 900.0, "reply": None, "failure": "timed_out", "detail": "Too late.", "next_in_seconds": None},
    ],
    "value": None,
    "input_tokens": None,
    "output_tokens": None,
    "cost_usd": None,
    "latency_ms": None,
    "failure": "timed_out",
    "detail": "Too late.",
    "cut": [],
}  # fmt: skip
ANSWERED = CALL | {
    "model": "gpt-1", "failure": None, "detail": None, "value": {"is_correct": True}, "input_tokens": 1200,
    "output_tokens": 40, "cost_usd": 0.0012, "latency_ms": 812.4,
    "tries": [{"latency_ms": 812.4, "reply": '{"is_correct": true}', "failure": None, "detail": None,
               "next_in_seconds": None}],
}  # fmt: skip


def test_each_call_is_shown_as_it_was_sent_and_as_it_came(online: Command, api: Loopback) -> None:
    view = {"id": ID, "calls": [CALL, ANSWERED], "cursor": "acme/next"}
    api.answer = lambda _: Reply(value=view)
    result = online("trace", ID)
    assert result.exit_code == 0
    for shown in (
        *("1. verify · gpt", "You check.", "6 × 7 [bold]", "timed_out: Too late.", '{"is_correct": "perhaps"}'),
        *(
            "Asked again after 0.00 s.",
            "no reply came",
            "2. verify · gpt-1",
            "1,200 tokens in, 40 out",
            '"is_correct": true',
        ),
    ):
        assert shown in result.stdout
    assert "\x1b[2J" not in result.stdout, "what was sent cannot act on the terminal"
    assert "--cursor acme/next" in result.stderr
    assert json.loads(online("trace", ID, "--json").stdout) == view
    assert {asked.path for asked in api.asked if "traces" in asked.path} == {f"/v1/traces/{ID}"}


def test_an_answer_that_a_check_decided_is_no_error(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value={"id": ID, "calls": [], "cursor": None})
    result = online("trace", ID)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No judge was asked for it: the checks decided" in result.stderr
    assert f"touchstone answers show {ID}" in result.stderr


def test_what_is_refused_is_said(online: Command, api: Loopback) -> None:
    api.answer = lambda _: problem(403, "This needs a token with the role admin; yours has the role member.")
    result = online("trace", ID)
    assert result.exit_code == 2
    assert "role admin" in result.stderr
