"""Real SDKs against a real server: from a key in the environment to a reply, a failure told, and nothing leaked."""

import logging
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.support.providers import ProviderServer, drip, error, hang, success
from tests.support.scripted_adapters import LoggedAdmission, Verdict, question
from tests.support.wire import Behaviour
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges import (
    EnvironmentKeys,
    JudgeQuestion,
    Judges,
    Prompt,
    Usage,
    cost_usd,
    load_registry,
    parse_prompt,
)
from touchstone.judges.spends import spends_of
from touchstone.usage import CLAIM_CHARS

PROVIDERS = ["claude", "openai", "gemini", "compatible"]
ON = datetime(2026, 11, 21, tzinfo=UTC)


async def _no_wait(_seconds: float) -> None:
    """Back-offs take no time here; how long they are is tested elsewhere."""


@dataclass(frozen=True)
class Scene:
    judges: Judges
    server: ProviderServer
    admission: LoggedAdmission


@pytest.fixture
async def scene(server: ProviderServer) -> AsyncIterator[Scene]:
    environ = server.environment() | {
        "TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url,
        "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3",
    }
    registry = load_registry(environ)
    admission = LoggedAdmission()
    judges = Judges(
        registry,
        EnvironmentKeys(registry, environ),
        admission=admission,
        clock=lambda: ON,
        sleep=_no_wait,
    )
    yield Scene(judges, server, admission)
    await judges.aclose()


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline.after(seconds)


TEMPLATE = parse_prompt(b"=== system ===\nCheck.\n=== user ===\n{{ answer | fenced }}\n", name="verify", language="en")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_question_is_answered_with_what_it_cost(provider: str, scene: Scene) -> None:
    scene.server.script(success({"is_correct": True, "note": "解 = 42"}, input_tokens=200, output_tokens=50))
    asked = JudgeQuestion(prompt=TEMPLATE.render(answer="x = 42"), reply_type=Verdict, max_output_tokens=700)
    reply = await scene.judges.get(provider, "verify").ask(asked, deadline=soon())
    assert reply.value == Verdict(is_correct=True, note="解 = 42")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (200, 50)
    assert (reply.cost_usd is None) == (provider == "compatible")
    assert reply.attempts == 1
    (call,) = scene.server.calls
    assert "\nx = 42\n" in call.prompt
    room = load_registry({}).model(provider, "verify").thinking_tokens if provider != "compatible" else 0
    assert (call.system, call.max_output_tokens) == ("Check.", 700 + room)
    (permit,) = scene.admission.given
    assert permit.costs == [reply.cost_usd]
    reserved = scene.admission.calls[0].max_cost_usd
    assert reserved is None or (reply.cost_usd or 0.0) <= reserved


@pytest.mark.parametrize("provider", ["claude", "openai", "gemini"])
async def test_thinking_has_room_of_its_own_and_is_paid_as_output(provider: str, scene: Scene) -> None:
    model = load_registry({}).model(provider, "strong")
    scene.server.rule(success({"is_correct": True}, input_tokens=200, output_tokens=600, thinking_tokens=7000))
    asked = JudgeQuestion(prompt=TEMPLATE.render(answer="x = 42"), reply_type=Verdict, max_output_tokens=700)
    reply = await scene.judges.get(provider, "strong").ask(asked, deadline=soon())
    assert (reply.attempts, reply.usage.output_tokens) == (1, 7600)
    assert reply.cost_usd == cost_usd(model, reply.usage, on=ON.date())
    reserved = scene.admission.calls[0].max_cost_usd
    assert reserved is not None
    assert reply.cost_usd is not None
    assert reply.cost_usd <= reserved


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_failed_call_is_paid_for_by_what_the_provider_counted(provider: str, scene: Scene) -> None:
    used = {"input_tokens": 900, "output_tokens": 100, "thinking_tokens": 300, "model": "model-of-today"}
    scene.server.script(error("off_schema", **used), success({"is_correct": True}))
    reply = await scene.judges.get(provider, "verify").ask(question(), deadline=soon())
    (call,) = reply.failed_calls
    assert (call.reason, call.provider, call.model) == ("unreadable", provider, "model-of-today")
    assert call.usage == Usage(input_tokens=900, output_tokens=400)
    assert call.latency_ms > 0.0
    first, second = scene.admission.given
    if provider == "compatible":
        assert call.cost_usd is None
    else:
        model = load_registry({}).model(provider, "verify")
        assert call.cost_usd == cost_usd(model, call.usage, on=ON.date())
    assert (first.costs, second.costs) == ([call.cost_usd], [reply.cost_usd])


@pytest.mark.parametrize("claim", ["1000000000", "1e9", "1" + "0" * 400])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_r29_more_than_a_call_could_use_is_paid_as_the_most_and_what_was_claimed_is_kept(
    provider: str, claim: str, scene: Scene
) -> None:
    scene.server.script(success({"is_correct": True}, claim=claim))
    reply = await scene.judges.get(provider, "verify").ask(question(), deadline=soon())
    assert reply.value == Verdict(is_correct=True)
    (permit,) = scene.admission.given
    assert permit.costs == [reply.cost_usd]
    assert reply.cost_usd == scene.admission.calls[0].max_cost_usd
    (spend,) = spends_of(reply, "verify")
    assert spend.claimed is not None
    assert re.search(r"\d00000000\d?", spend.claimed)
    assert len(spend.claimed) <= CLAIM_CHARS
    assert spend.input_tokens + spend.output_tokens < 20_000


NO_COUNTS = ["-5", "0", "12.5", "NaN", "-Infinity", '"12"', "true", "null", "[]", "1" + "0" * 5000]


@pytest.mark.parametrize("claim", [None, *NO_COUNTS], ids=lambda claim: str(claim)[:9])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_r29_a_reply_without_a_count_stands_and_its_cost_is_not_known(
    provider: str, claim: str | None, scene: Scene
) -> None:
    scene.server.script(success({"is_correct": True}, claim=claim, counted=claim is not None))
    reply = await scene.judges.get(provider, "verify").ask(question(), deadline=soon())
    assert reply.value == Verdict(is_correct=True)
    assert reply.cost_usd is None
    (spend,) = spends_of(reply, "verify")
    assert (spend.input_tokens, spend.output_tokens) == (0, 0)
    assert spend.claimed == "nothing" or claim is not None
    assert spend.claimed
    assert len(spend.claimed) <= CLAIM_CHARS
    (permit,) = scene.admission.given
    assert permit.costs == [None]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_r29_a_failed_call_is_paid_as_the_most_too(provider: str, scene: Scene) -> None:
    scene.server.script(error("off_schema", claim="1000000000"), success({"is_correct": True}))
    reply = await scene.judges.get(provider, "verify").ask(question(), deadline=soon())
    (call,) = reply.failed_calls
    assert call.cost_usd == scene.admission.calls[0].max_cost_usd
    assert "1000000000" in (call.usage.claimed or "")


FAULTS = [
    pytest.param([error("overloaded")], None, 2, id="overloaded once"),
    pytest.param([error("server_error")] * 3, OverloadedError, 3, id="broken"),
    pytest.param([error("reset")], None, 2, id="connection lost once"),
    pytest.param([error("minute_quota", retry_after=1.0)], None, 2, id="minute quota"),
    pytest.param([error("off_schema")], None, 2, id="off schema once"),
    pytest.param([error("truncated"), error("empty")], UnreadableError, 2, id="garbled twice"),
    pytest.param([error("html")], None, 2, id="HTML with status 200"),
    pytest.param([error("refused")], RefusedError, 1, id="refused"),
    pytest.param([error("unauthorized")], MisconfiguredError, 1, id="wrong key"),
    pytest.param([error("unknown_model")], MisconfiguredError, 1, id="unknown model"),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("behaviours", "raised", "calls"), FAULTS)
async def test_r13_a_fault_is_repeated_where_that_helps_and_told_by_its_type_where_not(
    provider: str,
    behaviours: list[Behaviour],
    raised: type[JudgeError] | None,
    calls: int,
    scene: Scene,
) -> None:
    scene.server.script(*behaviours)
    judge = scene.judges.get(provider, "verify")
    if raised is None:
        assert (await judge.ask(question(), deadline=soon())).attempts == calls
    else:
        with pytest.raises(raised):
            await judge.ask(question(), deadline=soon())
    assert len(scene.server.calls) == calls
    assert [permit.endings for permit in scene.admission.given] == [["settle"]] * calls


@pytest.mark.parametrize("provider", ["openai", "gemini"])
async def test_a_spent_day_is_asked_about_once(provider: str, scene: Scene) -> None:
    scene.server.script(error("day_quota" if provider == "gemini" else "credit", limit=20, retry_after=3.0))
    with pytest.raises(DayQuotaError):
        await scene.judges.get(provider, "verify").ask(question(), deadline=soon())
    assert len(scene.server.calls) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("behaviour", [hang(60), drip(0.1)], ids=["no byte", "byte by byte"])
async def test_r14_a_slow_reply_ends_at_the_total_deadline(provider: str, behaviour: Behaviour, scene: Scene) -> None:
    judge = scene.judges.get(provider, "verify")
    await judge.ask(question(), deadline=soon())
    scene.server.script(behaviour)
    begun = time.monotonic()
    with pytest.raises(TimedOutError):
        await judge.ask(question(), deadline=Deadline.after(0.5))
    assert time.monotonic() - begun < 15
    assert [permit.endings for permit in scene.admission.given] == [["settle"], ["settle"]]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a8_no_key_and_no_prompt_in_any_log_or_error(
    provider: str, scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("touchstone").setLevel(logging.DEBUG)
    prompt = Prompt(name="verify", version="v", system="system-canary", user="user-canary")
    for kind in ("unauthorized", "bad_request", "forbidden", "refused", "off_schema", "server_error", "truncated"):
        scene.server.script(*[error(kind)] * 3)
        with pytest.raises(JudgeError) as caught:
            await scene.judges.get(provider, "verify").ask(question(prompt=prompt), deadline=soon())
        assert "canary" not in repr(caught.value)
        assert "loopback" not in repr(caught.value)
        scene.server.reset()
    told = " ".join(record.getMessage() for record in caplog.records if record.name.startswith("touchstone"))
    assert told
    assert "canary" not in told
    assert "loopback-" not in told
