"""The loopback server itself: what it counts and records is what other tests rest on."""

import subprocess
import sys

import httpx
import pytest

from tests.support.providers import ProviderServer, error, success

_BODY = {
    "model": "gpt-x",
    "messages": [{"role": "user", "content": "Is 2 + 2 = 4?"}],
    "response_format": {"json_schema": {"name": "Verdict", "schema": {"type": "object", "properties": {}}}},
}


def _ask(server: ProviderServer, model: str = "gpt-x") -> httpx.Response:
    return httpx.post(f"{server.openai_url}/chat/completions", json=_BODY | {"model": model})


def test_a_day_has_its_quota_and_ends() -> None:
    with ProviderServer() as server:
        server.limit(rpd=2)
        assert [_ask(server).status_code for _ in range(3)] == [200, 200, 429]
        assert _ask(server, "gpt-y").status_code == 200
        server.new_day()
        assert _ask(server).status_code == 200
        assert [call.status for call in server.calls] == [200, 200, 429, 200, 200]


def test_a_minute_slides(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("tests.support.providers.time.time", lambda: now)
    with ProviderServer() as server:
        server.limit(rpm=2)
        assert [_ask(server).status_code, _ask(server).status_code] == [200, 200]
        now += 59.9
        refused = _ask(server)
        assert (refused.status_code, refused.headers["x-ratelimit-limit-requests"]) == (429, "2")
        now += 0.2
        assert _ask(server).status_code == 200


def test_the_newest_rule_that_fits_answers() -> None:
    with ProviderServer() as server:
        server.reply({"n": 1}, schema="Verdict")
        server.reply({"n": 2}, prompt=r"2 \+ 2")
        server.rule(error("overloaded"), model="gpt-broken")
        server.script(success("from the script"))
        content = [_ask(server).json()["choices"][0]["message"]["content"] for _ in range(2)]
        assert content == ["from the script", '{"n": 2}']
        assert _ask(server, "gpt-broken").status_code == 503


def test_as_a_process_it_is_arranged_and_read_over_http() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.providers"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        try:
            control = {"reset": True, "script": [{"kind": "day_quota", "limit": 20}], "quotas": [{"rpm": 9}]}
            assert httpx.post(f"{base_url}/__control__", json=control).status_code == 200
            assert httpx.post(f"{base_url}/v1/messages", json=_BODY).status_code == 429
            (call,) = httpx.get(f"{base_url}/__control__").json()["calls"]
            assert (call["provider"], call["behaviour"], call["prompt"]) == ("anthropic", "day_quota", "Is 2 + 2 = 4?")
            assert httpx.post(f"{base_url}/__control__", json={"rpm": 9}).status_code == 422
        finally:
            process.terminate()
