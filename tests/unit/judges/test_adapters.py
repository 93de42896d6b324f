"""What every adapter promises, against a real server: one request a question, and each fault as its own error."""

import asyncio
import socket
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable

import pytest

from tests.support.providers import ProviderServer, drip, error, hang, success
from tests.support.questions import KEY, PICTURE, PROVIDERS, SECRET, Verdict, adapter, adapter_at, question
from tests.support.wire import Asked, Behaviour, Kind
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnavailableModelError,
    UnreadableError,
)
from touchstone.judges.adapters import Adapter
from touchstone.judges.anthropic import AnthropicAdapter
from touchstone.judges.gemini import GeminiAdapter
from touchstone.judges.openai import OpenAIAdapter
from touchstone.usage import Usage

_PASSED = {"passed": True, "confidence": 0.9}


@pytest.fixture(params=PROVIDERS)
async def judge(request: pytest.FixtureRequest, server: ProviderServer) -> AsyncIterator[Adapter]:
    made = adapter(request.param, server)
    yield made
    await made.aclose()


async def test_a_reply_becomes_a_value_with_model_and_usage(server: ProviderServer, judge: Adapter) -> None:
    server.script(success(_PASSED, model="model-of-today", input_tokens=1000, output_tokens=50, cached_tokens=400))
    answered = await judge.ask("model-x", question(), timeout=5)
    assert answered.value == Verdict(passed=True, confidence=0.9)
    assert answered.model == "model-of-today"
    assert (answered.usage.input_tokens, answered.usage.output_tokens) == (1000, 50)
    assert answered.usage.cached_input_tokens == 400


async def test_what_is_asked_arrives(server: ProviderServer, judge: Adapter) -> None:
    asked = question(images=(PICTURE, PICTURE), max_output_tokens=77, temperature=0.25)
    await judge.ask("model-x", asked, timeout=5)
    (call,) = server.calls
    assert (call.provider, call.model, call.title, call.images) == (judge.provider, "model-x", "Verdict", 2)
    assert (call.system, call.prompt) == (asked.prompt.system, asked.prompt.user)
    assert (call.max_output_tokens, call.temperature) == (77, 0.25)
    assert call.schema is not None
    assert call.schema["required"] == ["passed", "confidence"]


async def test_what_is_not_asked_is_not_sent(server: ProviderServer, judge: Adapter) -> None:
    bare = question()
    await judge.ask("model-x", bare, timeout=5)
    (call,) = server.calls
    assert (call.images, call.temperature) == (0, None)


async def test_the_key_is_sent(server: ProviderServer, judge: Adapter) -> None:
    keys = []

    def look(asked: Asked) -> Behaviour:
        keys.append(asked.key)
        return success(_PASSED)

    server.script(look)
    await judge.ask("model-x", question(), timeout=5)
    assert keys == [KEY]


_FAULTS: list[tuple[Kind, type[JudgeError]]] = [
    ("day_quota", DayQuotaError),
    ("minute_quota", MinuteQuotaError),
    ("token_quota", MinuteQuotaError),
    ("unknown_quota", MinuteQuotaError),
    ("credit", DayQuotaError),
    ("server_error", OverloadedError),
    ("overloaded", OverloadedError),
    ("unauthorized", UnavailableModelError),
    ("forbidden", UnavailableModelError),
    ("unknown_model", UnavailableModelError),
    ("bad_request", MisconfiguredError),
    ("reset", OverloadedError),
    ("html", UnreadableError),
    ("truncated", UnreadableError),
    ("empty", UnreadableError),
    ("max_tokens", UnreadableError),
    ("off_schema", UnreadableError),
    ("refused", RefusedError),
    ("blocked", RefusedError),
]


@pytest.mark.parametrize(("kind", "expected"), _FAULTS)
async def test_r13_each_fault_is_one_error_after_one_request(
    server: ProviderServer, judge: Adapter, kind: Kind, expected: type[JudgeError]
) -> None:
    server.script(error(kind))
    with pytest.raises(JudgeError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert type(failed.value) is expected
    assert failed.value.sent
    assert len(server.calls) == 1


_PAID: list[Kind] = ["truncated", "empty", "max_tokens", "off_schema", "refused", "blocked"]


@pytest.mark.parametrize("kind", _PAID)
async def test_a_reply_that_is_no_answer_tells_what_was_counted_and_who_worked(
    server: ProviderServer, judge: Adapter, kind: Kind
) -> None:
    used = {"input_tokens": 900, "output_tokens": 30, "cached_tokens": 100, "thinking_tokens": 500}
    server.script(error(kind, model="model-of-today", **used), error(kind, counted=False), error(kind, input_tokens=0))
    failed = []
    for _ in range(3):
        with pytest.raises(JudgeError) as caught:
            await judge.ask("model-x", question(), timeout=5)
        failed.append((caught.value.usage, caught.value.model))
    counted = Usage(input_tokens=900, output_tokens=530, cached_input_tokens=100)
    assert failed == [(counted, "model-of-today"), (None, None), (None, None)]


@pytest.mark.parametrize("kind", [kind for kind, _ in _FAULTS if kind not in _PAID])
async def test_a_call_that_no_model_worked_on_tells_no_usage(
    server: ProviderServer, judge: Adapter, kind: Kind
) -> None:
    server.script(error(kind))
    with pytest.raises(JudgeError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert (failed.value.usage, failed.value.model) == (None, None)


async def test_thinking_is_counted_as_output(server: ProviderServer, judge: Adapter) -> None:
    server.script(success(_PASSED, input_tokens=1000, output_tokens=50, thinking_tokens=700))
    assert (await judge.ask("model-x", question(), timeout=5)).usage == Usage(input_tokens=1000, output_tokens=750)


async def test_a_model_that_thinks_up_to_the_limit_gives_no_answer(server: ProviderServer, judge: Adapter) -> None:
    server.script(success(_PASSED, input_tokens=1000, output_tokens=50, thinking_tokens=700))
    with pytest.raises(UnreadableError, match="cut off at its limit of output tokens, 600 or a smaller one") as failed:
        await judge.ask("model-x", question(max_output_tokens=600), timeout=5)
    assert failed.value.usage == Usage(input_tokens=1000, output_tokens=600)


@pytest.mark.parametrize("kind", [kind for kind, _ in _FAULTS])
async def test_a8_no_error_tells_the_key_the_prompt_or_the_body(
    server: ProviderServer, judge: Adapter, kind: Kind
) -> None:
    server.script(error(kind))
    with pytest.raises(JudgeError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    told = "".join(traceback.format_exception(failed.value))
    assert KEY not in told
    assert SECRET not in told
    assert failed.value.__context__ is None
    assert failed.value.__cause__ is None


async def test_a_day_quota_names_its_limit(server: ProviderServer, judge: Adapter) -> None:
    server.script(error("day_quota", limit=250, retry_after=37.5))
    with pytest.raises(DayQuotaError, match="250 requests a day") as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert (failed.value.limit, failed.value.retry_after) == (250, 37.5)


async def test_a_minute_quota_names_its_limit_and_the_wait(server: ProviderServer, judge: Adapter) -> None:
    server.script(error("minute_quota", limit=15, retry_after=12))
    with pytest.raises(MinuteQuotaError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert (failed.value.limit, failed.value.retry_after) == (15, 12)


async def test_a_quota_of_tokens_teaches_no_limit_of_requests(server: ProviderServer, judge: Adapter) -> None:
    server.script(error("token_quota", limit=250_000))
    with pytest.raises(MinuteQuotaError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert failed.value.limit is None


@pytest.mark.parametrize("behaviour", [hang(60), drip(0.1), success(seconds=60)])
async def test_r14_the_deadline_bounds_the_whole_call(
    server: ProviderServer, judge: Adapter, behaviour: Behaviour
) -> None:
    judge.load()
    server.script(behaviour)
    started = time.monotonic()
    with pytest.raises(TimedOutError) as failed:
        await judge.ask("model-x", question(), timeout=0.5)
    assert time.monotonic() - started < 15
    assert failed.value.sent


async def test_r4_a_call_whose_answer_came_too_late_was_counted_by_the_provider(
    server: ProviderServer, judge: Adapter
) -> None:
    server.limit(rpd=1)
    server.script(success(_PASSED, seconds=30))
    with pytest.raises(TimedOutError):
        await judge.ask("model-x", question(), timeout=0.5)
    with pytest.raises(DayQuotaError):
        await judge.ask("model-x", question(), timeout=5)


async def test_a_call_without_time_is_not_sent(server: ProviderServer, judge: Adapter) -> None:
    with pytest.raises(TimedOutError) as failed:
        await judge.ask("model-x", question(), timeout=0)
    assert not failed.value.sent
    assert server.calls == []


async def test_a_caller_who_gives_up_stops_the_call(server: ProviderServer, judge: Adapter) -> None:
    judge.load()
    server.script(hang(60))
    asking = asyncio.create_task(judge.ask("model-x", question(), timeout=30))
    while not server.calls:  # noqa: ASYNC110 - the server has a loop of its own
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_an_errors_body_may_be_garbled(server: ProviderServer, judge: Adapter) -> None:
    server.script(error("garbled"))
    with pytest.raises((UnreadableError, OverloadedError)):
        await judge.ask("model-x", question(), timeout=5)


@pytest.mark.parametrize("reply", ["", "null", "[]", '{"passed": true, "confidence": "0.9"}', "{" * 20_000])
async def test_a5_what_does_not_fit_the_schema_is_never_a_value(
    server: ProviderServer, judge: Adapter, reply: str
) -> None:
    server.script(success(reply))
    with pytest.raises(UnreadableError):
        await judge.ask("model-x", question(), timeout=5)


async def test_confidence_out_of_range_is_unreadable(server: ProviderServer, judge: Adapter) -> None:
    server.script(success({"passed": True, "confidence": 1e9}))
    with pytest.raises(UnreadableError, match="less_than_equal"):
        await judge.ask("model-x", question(), timeout=5)


def _closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_refused_connection_was_certainly_not_sent(provider: str) -> None:
    judge = adapter_at(provider, f"http://127.0.0.1:{_closed_port()}")
    with pytest.raises(OverloadedError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert not failed.value.sent
    await judge.aclose()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_base_url_that_is_none_is_misconfigured(provider: str) -> None:
    judge = adapter_at(provider, "ftp://example.invalid/")
    with pytest.raises(MisconfiguredError) as failed:
        await judge.ask("model-x", question(), timeout=5)
    assert not failed.value.sent
    await judge.aclose()


@pytest.mark.parametrize("provider", ["gemini", "openai", "anthropic"])
@pytest.mark.parametrize("key", ["", "  \n", "schlüssel", "a\nb"])
def test_a_key_that_no_header_can_carry_is_misconfigured(provider: str, key: str) -> None:
    with pytest.raises(MisconfiguredError, match="No usable API key") as failed:
        adapter_at(provider, "http://127.0.0.1:1", key).load()
    assert not failed.value.sent


@pytest.mark.parametrize(
    ("provider", "sdk"), [("gemini", "google.genai"), ("openai", "openai"), ("anthropic", "anthropic")]
)
def test_a_missing_sdk_is_misconfigured(provider: str, sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, sdk, None)
    with pytest.raises(MisconfiguredError, match=r"touchstone-verdicts\[judges\]") as failed:
        adapter_at(provider, "http://127.0.0.1:1").load()
    assert not failed.value.sent


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_may_end_in_a_line_break(provider: str, server: ProviderServer) -> None:
    judge = adapter(provider, server, key=f"{KEY}\n")
    assert (await judge.ask("model-x", question(), timeout=5)).value.passed
    await judge.aclose()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_adapter_serves_one_event_loop_after_another(provider: str, server: ProviderServer) -> None:
    judge = adapter(provider, server)

    async def ask_and_close() -> bool:
        passed = (await judge.ask("model-x", question(), timeout=5)).value.passed
        await judge.aclose()
        return passed

    assert [asyncio.run(ask_and_close()), asyncio.run(ask_and_close())] == [True, True]


async def test_closing_what_was_never_opened_does_nothing(server: ProviderServer) -> None:
    for provider in PROVIDERS:
        await adapter(provider, server).aclose()


@pytest.mark.parametrize("provider", ["gemini", "openai", "anthropic"])
async def test_the_environment_leads_an_adapter_without_base_url(
    provider: str, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    kinds: dict[str, Callable[..., Adapter]] = {
        "gemini": GeminiAdapter,
        "openai": OpenAIAdapter,
        "anthropic": AnthropicAdapter,
    }
    made = kinds[provider](api_key=KEY)
    assert (await made.ask("model-x", question(), timeout=5)).value.passed
    await made.aclose()
