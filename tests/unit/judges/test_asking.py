"""Asking one model: what a caller gets, what is spent, and how long it takes, whatever the provider does."""

import asyncio
import logging
import threading
import time as real_time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.support.scripted_adapters import (
    PROMPT,
    VERDICT,
    LoggedAdmission,
    LoggedPermit,
    ScriptedAdapter,
    Step,
    Time,
    Verdict,
    judge_with,
    judges_with,
    question,
    within,
)
from touchstone.budgets.money import billed, micros
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    LimitError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    QuotaExceededError,
    RefusedError,
    SpendingCeilingError,
    StoreError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges import Call, Image, JudgeQuestion, MemoryCache, Prompt, Usage, load_registry, parse_prompt
from touchstone.judges.caller import ATTEMPTS


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    fake = Time()
    monkeypatch.setattr("touchstone.clock.time", fake)
    return fake


async def test_a_reply_says_who_answered_for_how_much_and_how_often_it_was_asked() -> None:
    adapter = ScriptedAdapter(Step(usage=Usage(input_tokens=1000, output_tokens=200)))
    reply = await judge_with(adapter).ask(question(), deadline=within())
    assert reply.value == VERDICT
    assert (reply.provider, reply.requested_model) == ("gemini", "gemini-3.5-flash-lite")
    assert reply.model == "gemini-3.5-flash-lite-001"
    assert reply.prompt_version == PROMPT.version
    assert reply.cost_usd == pytest.approx((1000 * 0.30 + 200 * 2.50) / 1e6)
    assert reply.usage == Usage(input_tokens=1000, output_tokens=200)
    assert (reply.attempts, reply.cached) == (1, False)
    assert reply.latency_ms >= 0.0


SEQUENCES = [
    pytest.param([OverloadedError("x")], [0.25], None, 2, id="overloaded once"),
    pytest.param([OverloadedError("x"), TimedOutError("x")], [0.25, 0.5], None, 3, id="back-off doubles"),
    pytest.param([OverloadedError("x")] * 3, [0.25, 0.5], OverloadedError, 3, id="three calls at most"),
    pytest.param([MinuteQuotaError("x", retry_after=4.0)], [4.25], None, 2, id="the provider's advice, and jitter"),
    pytest.param([MinuteQuotaError("x", retry_after=-1.0)], [0.25], None, 2, id="advice in the past"),
    pytest.param([OverloadedError("x"), MinuteQuotaError("x", retry_after=2.0)], [0.25, 2.25], None, 3, id="mixed"),
    pytest.param([MinuteQuotaError("x", retry_after=60.0)], [], MinuteQuotaError, 1, id="advice beyond the deadline"),
    pytest.param([UnreadableError("x")], [], None, 2, id="unreadable: once more, at once"),
    pytest.param([UnreadableError("x")] * 2, [], UnreadableError, 2, id="unreadable twice"),
    pytest.param(
        [UnreadableError("x"), OverloadedError("x"), UnreadableError("x")], [0.5], UnreadableError, 3, id="in between"
    ),
    pytest.param([DayQuotaError("x", retry_after=1.0)], [], DayQuotaError, 1, id="day quota"),
    pytest.param([RefusedError("x")], [], RefusedError, 1, id="refused"),
    pytest.param([MisconfiguredError("x")], [], MisconfiguredError, 1, id="misconfigured"),
]


@pytest.mark.parametrize(("failures", "waits", "raised", "calls"), SEQUENCES)
async def test_failures_are_repeated_exactly_as_documented(
    failures: list[JudgeError], waits: list[float], raised: type[JudgeError] | None, calls: int, time: Time
) -> None:
    adapter = ScriptedAdapter(*map(Step, failures), time=time)
    admission = LoggedAdmission()
    judge = judge_with(adapter, time=time, admission=admission)
    if raised is None:
        assert (await judge.ask(question(), deadline=within(30.0))).attempts == calls
    else:
        with pytest.raises(raised):
            await judge.ask(question(), deadline=within(30.0))
    assert (adapter.calls, len(admission.given)) == (calls, calls)
    assert time.waits == pytest.approx(waits)


FAILURES = st.one_of(
    st.none(),
    st.builds(OverloadedError, st.just("x"), retry_after=st.none() | st.floats(0, 40)),
    st.builds(MinuteQuotaError, st.just("x"), retry_after=st.none() | st.floats(-5, 90)),
    st.builds(UnreadableError, st.just("x")),
    st.builds(TimedOutError, st.just("x"), sent=st.booleans()),
    st.builds(DayQuotaError, st.just("x"), retry_after=st.none() | st.floats(0, 5)),
    st.builds(RefusedError, st.just("x")),
    st.builds(MisconfiguredError, st.just("x"), sent=st.booleans()),
)
STEPS = st.lists(st.builds(Step, error=FAILURES, seconds=st.floats(0, 12)), max_size=6)


@settings(deadline=None)  # each example makes an event loop, which a busy machine may take long for
@given(steps=STEPS, seconds=st.floats(0, 30), jitter=st.floats(0, 0.999))
def test_calls_never_exceed_permits_nor_the_deadline_whatever_the_provider_does(
    steps: list[Step], seconds: float, jitter: float
) -> None:
    time = Time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("touchstone.clock.time", time)
        adapter = ScriptedAdapter(*steps, time=time)
        admission = LoggedAdmission()
        judge = judge_with(adapter, time=time, admission=admission, jitter=jitter)
        begun = time.now

        async def ask() -> None:
            with suppress(JudgeError):
                await judge.ask(question(), deadline=Deadline.after(seconds))

        asyncio.run(ask())
    assert time.now - begun <= seconds + 1e-6
    assert adapter.calls <= len(admission.given) <= ATTEMPTS
    assert [len(permit.endings) for permit in admission.given] == [1] * len(admission.given)
    sent = steps[: adapter.calls]
    unsent = [step for step in sent if isinstance(step.error, JudgeError) and not step.error.sent]
    never_sent = len(admission.given) - adapter.calls
    assert sum(permit.endings == ["release"] for permit in admission.given) == len(unsent) + never_sent


async def test_the_sdk_is_loaded_before_a_unit_is_reserved_and_only_once() -> None:
    events: list[str] = []
    adapter = ScriptedAdapter(events=events)
    judge = judge_with(adapter, admission=LoggedAdmission(events=events))
    await judge.ask(question(), deadline=within())
    assert events == ["load", "admit", "ask"]
    await asyncio.gather(*(judge.ask(question(), deadline=within()) for _ in range(5)))
    assert adapter.loads == 1


async def test_many_who_wait_for_an_sdk_leave_the_threads_to_the_checks() -> None:
    adapter, loading = ScriptedAdapter(), threading.Event()
    adapter.load = lambda: (loading.wait(60), None)[1]  # type: ignore[method-assign]
    judge = judge_with(adapter)
    asked = [asyncio.create_task(judge.ask(question(), deadline=within())) for _ in range(64)]
    await asyncio.sleep(0)
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "checked"), 30) == "checked"
    loading.set()
    assert all([(await one).value == VERDICT for one in asked])


async def test_an_sdk_that_could_not_be_loaded_is_tried_again() -> None:
    adapter = ScriptedAdapter()
    adapter.load_error = MisconfiguredError("Not installed.", sent=False)
    judge = judge_with(adapter)
    for _ in range(2):
        with pytest.raises(MisconfiguredError):
            await judge.ask(question(), deadline=within())
    adapter.load_error = None
    await judge.ask(question(), deadline=within())
    assert adapter.loads == 3


async def test_what_a_question_says_of_its_seconds_begins_when_the_sdk_is_loaded(time: Time) -> None:
    adapter = ScriptedAdapter(Step(OverloadedError("x"), seconds=4.0), time=time)
    loaded = adapter.load

    def load() -> None:
        loaded()
        time.now += 20.0

    adapter.load = load  # type: ignore[method-assign]
    asked = replace(question(), seconds=6.0)
    assert (await judge_with(adapter, time=time).ask(asked, deadline=within(60.0))).attempts == 2
    assert adapter.timeouts == pytest.approx([6.0, 6.0 - 4.0 - time.waits[0]])


async def test_many_first_questions_at_once_load_the_sdk_once() -> None:
    adapter = ScriptedAdapter()
    judge = judge_with(adapter)
    await asyncio.gather(*(judge.ask(question(), deadline=within()) for _ in range(8)))
    assert (adapter.loads, adapter.calls) == (1, 8)


async def test_an_sdk_that_cannot_be_loaded_costs_no_unit() -> None:
    adapter = ScriptedAdapter()
    adapter.load_error = MisconfiguredError("not installed", sent=False)
    admission = LoggedAdmission()
    judge = judge_with(adapter, admission=admission)
    for _ in range(2):
        with pytest.raises(MisconfiguredError):
            await judge.ask(question(), deadline=within())
    assert (admission.given, adapter.loads) == ([], 2)


async def test_what_admission_sees_of_a_call() -> None:
    admission = LoggedAdmission()
    judges = judges_with(ScriptedAdapter(), admission=admission, tenant="school-7")
    await judges.get("gemini", "evaluate", purpose="backlog").ask(question(), deadline=within())
    (call,) = admission.calls
    assert (call.provider, call.model, call.tenant, call.purpose) == (
        "gemini",
        "gemini-3.8-flash",
        "school-7",
        "backlog",
    )
    assert (call.limits.per_day, call.limits.per_minute) == (250, 10)
    assert call.max_cost_usd is not None
    assert call.max_cost_usd > 2048 * 3.75 / 1e6
    assert "canary" not in call.account


@settings(deadline=None)
@given(text=st.text(max_size=400), output=st.integers(1, 500))
def test_a_call_never_costs_more_than_was_reserved_for_it(text: str, output: int) -> None:
    prompt = Prompt(name="p", version="v", system=text, user=text)
    spent = Usage(input_tokens=2 * len(text.encode(errors="replace")) + 1, output_tokens=output)
    admission = LoggedAdmission()
    asked = JudgeQuestion(prompt=prompt, reply_type=Verdict, max_output_tokens=output)
    judge = judge_with(ScriptedAdapter(Step(usage=spent)), admission=admission)
    reply = asyncio.run(judge.ask(asked, deadline=within()))
    reserved = admission.calls[0].max_cost_usd
    assert reply.cost_usd is not None
    assert reserved is not None
    assert reply.cost_usd <= reserved
    assert admission.given[0].costs == [reply.cost_usd]


ANY_COUNT = st.integers(0, 10**400)


@settings(deadline=None)
@given(
    spent=st.builds(Usage, input_tokens=ANY_COUNT, output_tokens=ANY_COUNT, cached_input_tokens=ANY_COUNT),
    provider=st.sampled_from(["claude", "openai", "gemini"]),
    fails=st.booleans(),
)
def test_r29_whatever_a_provider_claims_no_more_is_settled_than_was_held_back(
    spent: Usage, provider: str, fails: bool
) -> None:
    admission = LoggedAdmission()
    refused = RefusedError("x")
    refused.usage = spent
    judges = judges_with(ScriptedAdapter(Step(refused if fails else None, usage=spent)), admission=admission)
    with suppress(RefusedError):
        asyncio.run(judges.get(provider, "strong").ask(question(), deadline=within()))
    held, (settled,) = admission.calls[0].max_cost_usd, admission.given[0].costs
    assert held is not None
    assert billed(micros(held, where="held"), settled, None) <= micros(held, where="held")
    assert settled is None or settled <= held + 1e-12


@pytest.mark.parametrize("refusal", [QuotaExceededError("x", window="day", until=datetime(2026, 11, 22, tzinfo=UTC)),
                                     SpendingCeilingError("x", until=None)])  # fmt: skip
async def test_a_limit_passes_through_and_nothing_is_sent(refusal: LimitError) -> None:
    adapter = ScriptedAdapter()
    with pytest.raises(LimitError) as caught:
        await judge_with(adapter, admission=LoggedAdmission(refusal=refusal)).ask(question(), deadline=within())
    assert caught.value is refusal
    assert adapter.calls == 0


FULL = QuotaExceededError("x", window="minute", until=datetime(2026, 11, 21, 12, 1, tzinfo=UTC))
SPENT = QuotaExceededError("x", window="day", until=datetime(2026, 11, 22, tzinfo=UTC))
NO_MONEY = SpendingCeilingError("x", until=None)


@pytest.mark.parametrize("failure", [UnreadableError, OverloadedError, TimedOutError])
@pytest.mark.parametrize(("in_the_way", "repeat_at"), [(FULL, FULL.until), (SPENT, None), (NO_MONEY, None),
                                                       (StoreError("x"), None)])  # fmt: skip
async def test_what_keeps_a_failed_call_from_being_repeated_does_not_hide_the_failure(
    failure: type[JudgeError], in_the_way: Exception, repeat_at: datetime | None, time: Time
) -> None:
    first = counted(failure("x"))
    adapter = ScriptedAdapter(Step(first), time=time)
    admission = LoggedAdmission(units=1, refusal=in_the_way)
    with pytest.raises(failure) as failed:
        await judge_with(adapter, time=time, admission=admission).ask(question(), deadline=within())
    assert failed.value is first
    assert (adapter.calls, failed.value.repeat_at) == (1, repeat_at)
    assert [call.reason for call in failed.value.failed_calls] == [first.reason]


async def test_a_minute_that_the_provider_called_full_is_our_limit_when_it_is_asked_again(time: Time) -> None:
    adapter = ScriptedAdapter(Step(MinuteQuotaError("x", retry_after=1.0)), time=time)
    admission = LoggedAdmission(units=1, refusal=FULL)
    with pytest.raises(QuotaExceededError):
        await judge_with(adapter, time=time, admission=admission).ask(question(), deadline=within())
    assert adapter.calls == 1


async def test_a_minute_that_the_provider_called_full_hides_no_failure_before_it(time: Time) -> None:
    failures = counted(UnreadableError("x")), MinuteQuotaError("x", retry_after=1.0)
    admission = LoggedAdmission(units=2, refusal=FULL)
    with pytest.raises(UnreadableError) as failed:
        await judge_with(ScriptedAdapter(*map(Step, failures), time=time), time=time, admission=admission).ask(
            question(), deadline=within()
        )
    assert [call.reason for call in failed.value.failed_calls] == ["unreadable"]


@pytest.mark.parametrize("failure", [OverloadedError("x"), MinuteQuotaError("x"), TimedOutError("x")])
async def test_that_no_time_was_left_to_repeat_a_call_does_not_hide_why_it_failed(
    failure: JudgeError, time: Time
) -> None:
    class Slow(LoggedAdmission):
        async def admit(self, call: Call) -> LoggedPermit:
            time.now += 6.0 * len(self.given)  # the second time longer than the deadline
            return await super().admit(call)

    adapter = ScriptedAdapter(Step(failure), time=time)
    judge = judge_with(adapter, time=time, admission=Slow())
    with pytest.raises(type(failure)) as failed:
        await judge.ask(question(), deadline=within(5.0))
    assert failed.value is failure
    assert adapter.calls == 1


@pytest.mark.parametrize(
    ("error", "ending", "charged"),
    [
        (MisconfiguredError("x", sent=False), "release", None),
        (DayQuotaError("x", limit=20), "settle", 0.0),
        (OverloadedError("x"), "settle", 0.0),
        (RefusedError("x"), "settle", "all"),
        (UnreadableError("x"), "settle", "all"),
        (TimedOutError("x"), "settle", "all"),
    ],
)
async def test_a_failed_call_gives_its_unit_back_only_if_it_was_never_sent(
    error: JudgeError, ending: str, charged: float | str | None, time: Time
) -> None:
    admission = LoggedAdmission()
    adapter = ScriptedAdapter(*[Step(error)] * 3, time=time)
    with pytest.raises(type(error)):
        await judge_with(adapter, time=time, admission=admission).ask(question(), deadline=within())
    permit, call = admission.given[0], admission.calls[0]
    assert permit.endings == [ending]
    if ending == "settle":
        assert permit.errors == [error]
        assert permit.costs == [call.max_cost_usd if charged == "all" else charged]


def counted[E: JudgeError](error: E, *, output_tokens: int = 400, model: str | None = None) -> E:
    """A failure of which the provider told what it had counted."""
    error.usage, error.model = Usage(input_tokens=1000, output_tokens=output_tokens), model
    return error


def price(output_tokens: int) -> float:
    return (1000 * 0.30 + output_tokens * 2.50) / 1e6


@pytest.mark.parametrize("error", [RefusedError("x"), UnreadableError("x")])
async def test_a_failed_call_costs_what_the_provider_counted(error: JudgeError, time: Time) -> None:
    admission = LoggedAdmission()
    adapter = ScriptedAdapter(*[Step(counted(error, model="model-of-today"))] * 2, time=time)
    with pytest.raises(type(error)) as failed:
        await judge_with(adapter, time=time, admission=admission).ask(question(), deadline=within())
    assert [permit.costs for permit in admission.given] == [[pytest.approx(price(400))]] * adapter.calls
    calls = failed.value.failed_calls
    assert len(calls) == adapter.calls
    assert {(call.reason, call.provider, call.model, call.prompt_version) for call in calls} == {
        (error.reason, "gemini", "model-of-today", PROMPT.version)
    }
    assert [call.cost_usd for call in calls] == pytest.approx([price(400)] * adapter.calls)


async def test_a_reply_brings_along_the_failed_calls_before_it_that_are_paid_for(time: Time) -> None:
    failures = counted(UnreadableError("x"), output_tokens=10), OverloadedError("x")
    adapter = ScriptedAdapter(*map(Step, failures), time=time)
    reply = await judge_with(adapter, time=time).ask(question(), deadline=within())
    assert (reply.attempts, [call.usage.output_tokens for call in reply.failed_calls]) == (3, [10])
    assert reply.failed_calls[0].model == "gemini-3.5-flash-lite"


async def test_the_last_failure_brings_along_all_that_are_paid_for(time: Time) -> None:
    failures = counted(UnreadableError("x"), output_tokens=10), OverloadedError("x"), TimedOutError("x")
    adapter = ScriptedAdapter(*map(Step, failures), time=time)
    with pytest.raises(TimedOutError) as failed:
        await judge_with(adapter, time=time).ask(question(), deadline=within())
    assert [call.usage.output_tokens for call in failed.value.failed_calls] == [10]


async def test_a_model_that_thinks_is_given_room_for_it_and_the_room_is_reserved() -> None:
    adapter, admission = ScriptedAdapter(), LoggedAdmission()
    judges = judges_with(adapter, admission=admission)
    model = load_registry({}).model("gemini", "evaluate")
    await judges.get("gemini", "evaluate").ask(question(), deadline=within())
    room = question().max_output_tokens + model.thinking_tokens
    assert model.thinking_tokens > 0
    assert [asked.max_output_tokens for asked in adapter.questions] == [room]
    assert (admission.calls[0].max_cost_usd or 0.0) > room * (model.price_out or 0.0) / 1e6


async def test_an_expired_permit_is_given_back_and_another_is_asked_for() -> None:
    stale = LoggedPermit(expired=True)
    admission = LoggedAdmission(stale)
    adapter = ScriptedAdapter()
    await judge_with(adapter, admission=admission).ask(question(), deadline=within())
    assert stale.endings == ["release"]
    assert (len(admission.given), adapter.calls) == (2, 1)


async def test_permits_that_always_expire_end_as_timed_out_with_nothing_sent() -> None:
    admission = LoggedAdmission(*(LoggedPermit(expired=True) for _ in range(50)))
    adapter = ScriptedAdapter()
    with pytest.raises(TimedOutError):
        await judge_with(adapter, admission=admission, time=Time()).ask(question(), deadline=within())
    assert adapter.calls == 0
    assert all(permit.endings == ["release"] for permit in admission.given)


async def test_a_judge_that_hangs_is_left_at_the_deadline_and_stays_paid() -> None:
    adapter = ScriptedAdapter()
    adapter.hang = True
    admission = LoggedAdmission()
    judge = judge_with(adapter, admission=admission)
    begun = real_time.monotonic()
    with pytest.raises(TimedOutError) as caught:
        await judge.ask(question(), deadline=Deadline.after(0.5))
    assert real_time.monotonic() - begun < 30
    assert caught.value.sent is True
    assert admission.given[0].endings == ["settle"]


async def test_a_deadline_that_has_passed_sends_nothing() -> None:
    adapter = ScriptedAdapter()
    admission = LoggedAdmission()
    with pytest.raises(TimedOutError) as caught:
        await judge_with(adapter, admission=admission).ask(question(), deadline=Deadline.after(-1.0))
    assert (caught.value.sent, adapter.calls, admission.given) == (False, 0, [])


async def test_a_question_asked_twice_too_late_spends_nothing(time: Time) -> None:
    adapter = ScriptedAdapter(time=time)
    admission = LoggedAdmission()
    judge = judge_with(adapter, time=time, admission=admission)
    await judge.ask(question(), deadline=within())
    for seconds in (0.0, 0.04):
        with pytest.raises(TimedOutError) as caught:
            await judge.ask(question(), deadline=within(seconds))
        assert caught.value.sent is False
    assert adapter.calls == 1
    assert [permit.endings for permit in admission.given] == [["settle"], ["release"]]


async def test_the_adapter_is_told_less_time_than_is_left_so_that_the_call_can_be_settled(time: Time) -> None:
    adapter = ScriptedAdapter(time=time)
    await judge_with(adapter, time=time, admission=LoggedAdmission()).ask(question(), deadline=within(5.0))
    await judge_with(adapter, time=time).ask(question(), deadline=within(5.0))
    assert adapter.timeouts == pytest.approx([4.95, 5.0])


async def test_a_slow_settlement_does_not_hold_the_reply_beyond_the_deadline_and_is_not_lost() -> None:
    table_answers = asyncio.Event()
    permit = LoggedPermit(held=table_answers)
    adapter = ScriptedAdapter()
    judges = judges_with(adapter, admission=LoggedAdmission(LoggedPermit(), permit))
    judge = judges.get("gemini", "verify")
    await judge.ask(question(), deadline=within())
    reply = await judge.ask(question(), deadline=Deadline.after(0.5))
    assert reply.value == VERDICT
    assert permit.endings == []
    table_answers.set()
    await judges.aclose()
    assert permit.endings == ["settle"]


async def test_a_cancelled_call_stays_spent() -> None:
    adapter = ScriptedAdapter()
    adapter.hang = True
    admission = LoggedAdmission()
    judges = judges_with(adapter, admission=admission)
    asking = asyncio.create_task(judges.get("gemini", "verify").ask(question(), deadline=within()))
    await adapter.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await judges.aclose()
    assert admission.given[0].endings == ["settle"]
    assert isinstance(admission.given[0].errors[0], TimedOutError)


async def test_a_fault_in_an_adapter_keeps_the_unit_spent_and_is_not_hidden() -> None:
    admission = LoggedAdmission()
    judges = judges_with(ScriptedAdapter(Step(ZeroDivisionError())), admission=admission)
    with pytest.raises(ZeroDivisionError):
        await judges.get("gemini", "verify").ask(question(), deadline=within())
    await judges.aclose()
    assert admission.given[0].endings == ["settle"]


@pytest.mark.parametrize("error", [RefusedError("x"), ZeroDivisionError(), TimeoutError()])
async def test_failures_are_told_alike_where_no_quota_is_kept(error: Exception) -> None:
    told, seconds = (TimedOutError, 0.1) if isinstance(error, TimeoutError) else (type(error), 30.0)
    with pytest.raises(told):
        await judge_with(ScriptedAdapter(Step(error))).ask(question(), deadline=within(seconds))


async def test_a_reply_that_was_paid_for_survives_a_store_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    admission = LoggedAdmission(LoggedPermit(settle_error=StoreError("throttled")))
    reply = await judge_with(ScriptedAdapter(), admission=admission).ask(question(), deadline=within())
    await asyncio.sleep(0)
    assert reply.value == VERDICT
    assert "StoreError" in caplog.text


class BrokenCache:
    async def get(self, _key: str, /) -> str | None:
        raise StoreError("throttled")

    async def put(self, _key: str, _reply_json: str, /) -> None:
        raise StoreError("throttled")


async def test_an_identical_question_is_answered_from_the_cache_for_nothing() -> None:
    adapter = ScriptedAdapter()
    admission = LoggedAdmission()
    judge = judge_with(adapter, cache=MemoryCache(), admission=admission)
    first = await judge.ask(question(), deadline=within())
    again = await judge.ask(question(), deadline=within())
    assert (again.value, again.model, again.cached) == (first.value, first.model, True)
    assert (again.cost_usd, again.attempts, again.usage) == (0.0, 0, Usage())
    assert (adapter.calls, len(admission.given)) == (1, 1)


async def test_a_question_that_refuses_the_cache_is_asked_and_not_kept() -> None:
    adapter = ScriptedAdapter()
    cache = MemoryCache()
    judge = judge_with(adapter, cache=cache)
    for _ in range(2):
        assert (await judge.ask(question(use_cache=False), deadline=within())).cached is False
    assert (adapter.calls, len(cache)) == (2, 0)


class OtherVerdict(BaseModel):
    is_correct: bool


PNG = Image(media_type="image/png", data=b"one")
OTHERS: list[JudgeQuestion[BaseModel]] = [
    JudgeQuestion(prompt=PROMPT, reply_type=OtherVerdict),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, temperature=0.0),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, max_output_tokens=99),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, images=(PNG,)),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, images=(Image(media_type="image/png", data=b"two"),)),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, images=(Image(media_type="image/webp", data=b"one"),)),
    JudgeQuestion(prompt=PROMPT, reply_type=Verdict, images=(PNG, PNG)),
    JudgeQuestion(
        prompt=Prompt(name="verify", version="v", system="You check answers.", user="6 × 8?"), reply_type=Verdict
    ),
    JudgeQuestion(
        prompt=Prompt(name="verify", version="v", system="", user="You check answers.6 × 8?"), reply_type=Verdict
    ),
    JudgeQuestion(prompt=Prompt(name="verify", version="v", system="", user="", digest="ab"), reply_type=Verdict),
    JudgeQuestion(prompt=Prompt(name="verify", version="w", system="", user="", digest="ab"), reply_type=Verdict),
]


async def test_no_two_different_questions_share_a_reply() -> None:
    adapter = ScriptedAdapter()
    cache = MemoryCache()
    judges = judges_with(adapter, cache=cache)
    asked = 0
    for each in [question(), *OTHERS]:
        for judge in (judges.get("gemini", "verify"), judges.get("gemini", "strong"), judges.get("openai", "strong")):
            assert (await judge.ask(each, deadline=within())).cached is False
            asked += 1
    assert (adapter.calls, len(cache)) == (asked, asked)


TEMPLATE = parse_prompt(b"=== system ===\nCheck.\n=== user ===\n{{ answer | fenced }}\n", name="verify", language="en")


async def test_the_random_mark_of_a_fence_does_not_hide_an_earlier_reply() -> None:
    adapter = ScriptedAdapter()
    judge = judge_with(adapter, cache=MemoryCache())
    await judge.ask(question(prompt=TEMPLATE.render(answer="42")), deadline=within())
    assert (await judge.ask(question(prompt=TEMPLATE.render(answer="42")), deadline=within())).cached
    assert not (await judge.ask(question(prompt=TEMPLATE.render(answer="43")), deadline=within())).cached


async def test_a_cache_that_fails_costs_a_call_and_nothing_else() -> None:
    adapter = ScriptedAdapter()
    reply = await judge_with(adapter, cache=BrokenCache()).ask(question(), deadline=within())
    assert (reply.value, reply.cached, adapter.calls) == (VERDICT, False, 1)


class SpoiledCache(MemoryCache):
    spoiled: str = ""

    async def get(self, key: str) -> str | None:
        return self.spoiled if key else None


class SlowCache(MemoryCache):
    """A cache that takes so many seconds to find a reply."""

    seconds: float = 60.0

    async def get(self, key: str) -> str | None:
        await asyncio.sleep(self.seconds)
        return await super().get(key)


async def test_a_cache_that_hangs_leaves_the_time_to_ask() -> None:
    reply = await judge_with(ScriptedAdapter(), cache=SlowCache()).ask(question(), deadline=within(2.0))
    assert (reply.value, reply.cached) == (VERDICT, False)


@pytest.mark.parametrize(("seconds", "slow"), [(300.0, 0.6), (2.5, 0.35)])
async def test_a_slow_cache_is_waited_for_and_nothing_is_paid_twice(seconds: float, slow: float) -> None:
    adapter, cache = ScriptedAdapter(), SlowCache()
    cache.seconds = slow
    judge = judge_with(adapter, cache=cache)
    for _ in range(2):
        reply = await judge.ask(question(), deadline=within(seconds))
    assert (reply.value, reply.cached, adapter.calls) == (VERDICT, True, 1)


@pytest.mark.parametrize(
    "stored",
    ["", "not json", "[]", "{}", '{"model": "m"}', '{"model": "m", "value": "{}"}', '{"model": "m", "value": 3}'],
)
async def test_a_spoiled_cache_entry_is_asked_anew(stored: str) -> None:
    cache = SpoiledCache()
    cache.spoiled = stored
    adapter = ScriptedAdapter()
    assert (await judge_with(adapter, cache=cache).ask(question(), deadline=within())).cached is False
    assert adapter.calls == 1


def texts_of(error: BaseException) -> Iterator[str]:
    step: BaseException | None = error
    while step is not None:
        yield repr(step)
        step = step.__cause__ or step.__context__


async def test_a8_nothing_of_a_prompt_a_reply_or_a_key_is_logged_or_raised(
    caplog: pytest.LogCaptureFixture, time: Time
) -> None:
    caplog.set_level(logging.DEBUG)
    prompt = Prompt(name="verify", version="v", system="SYSTEM-CANARY", user="USER-CANARY")
    for failures in ([OverloadedError("busy")] * 3, [TimedOutError("late")], [UnreadableError("garbled")] * 2):
        adapter = ScriptedAdapter(*map(Step, failures), time=time)
        judge = judge_with(adapter, time=time, cache=BrokenCache(), admission=LoggedAdmission())
        try:
            await judge.ask(question(prompt=prompt), deadline=within())
        except JudgeError as error:
            told = "".join(texts_of(error))
            assert "CANARY" not in told
            assert "canary" not in told
    assert caplog.text
    assert "canary" not in caplog.text.lower()
