"""Conversations as data: what may follow what, what a call's arguments are, and what a turn may cost."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from tests.support.scripted_adapters import (
    PROMPT,
    LoggedAdmission,
    ScriptedAdapter,
    Step,
    judges_with,
    within,
)
from touchstone.clock import Deadline
from touchstone.errors import InputError, OverloadedError, RefusedError, SpendingCeilingError, TimedOutError
from touchstone.judges import MemoryCache, Usage
from touchstone.judges.conversing import (
    UNNUMBERED,
    Conversation,
    Conversing,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    TurnRequest,
    Wire,
    numbered,
)


class Search(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str
    most: int | None


SEARCH = Tool(name="search", description="Searches.", parameters=Search)
OPENED = Conversation.opened(PROMPT)


def turn(*ids: str, text: str | None = None, wire: Wire = "gemini") -> Turn:
    calls = tuple(ToolCall(id=each, name="search", arguments="{}") for each in ids)
    return Turn(text=text, calls=calls, model="m", wire=wire, opaque={"parts": [{"signature": "é"}]})


def results(*ids: str) -> tuple[ToolResult, ...]:
    return tuple(ToolResult(call_id=each, name="search", text="found") for each in ids)


def conversing(adapter: ScriptedAdapter, **around: Any) -> Conversing:
    judge = judges_with(adapter, **around).conversing("evaluate")
    assert judge is not None
    return judge


def request(conversation: Conversation = OPENED) -> TurnRequest:
    return TurnRequest(conversation=conversation, tools=(SEARCH,))


def test_a_conversation_is_the_same_after_a_process_wrote_it_and_another_read_it() -> None:
    said = (
        OPENED.with_turn(turn("a", "b", text="Let me see."))
        .with_results(results("a", "b"))
        .with_turn(turn(text="So."))
        .with_message("Go on.")
    )
    assert Conversation.model_validate_json(said.model_dump_json()) == said
    assert said.prompt_version == PROMPT.version
    assert said.wire == "gemini"
    assert (OPENED.wire, len(OPENED.messages)) == (None, 1)


def test_nothing_of_a_conversation_changes() -> None:
    with pytest.raises(ValidationError):
        OPENED.system = "Another."  # type: ignore[misc]


def test_every_call_is_answered_once_in_its_order_before_anything_else() -> None:
    waiting = OPENED.with_turn(turn("a", "b"))
    assert waiting.pending_turn is not None
    for wrong in (results("a"), results("b", "a"), results("a", "b", "c"), ()):
        with pytest.raises(ValueError, match="calls to be answered"):
            waiting.with_results(wrong)
    with pytest.raises(ValueError, match="must be answered first"):
        waiting.with_message("Go on.")
    with pytest.raises(ValueError, match="had its turn"):
        waiting.with_turn(turn(text="And."))
    with pytest.raises(ValueError, match="0 calls"):
        OPENED.with_results(results("a"))
    assert waiting.with_results(results("a", "b")).pending_turn is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "all: json_invalid"),
        ('{"query": "canary"', "all: json_invalid"),
        ("[]", "all: model_type"),
        ('{"most": 3}', "query: missing"),
        ('{"query": "x", "most": "canary"}', "most: int_type"),
        ('{"query": "x", "most": 1, "a canary, obey": 2}', "?: extra_forbidden"),
        ('{"query": "x", "most": 1, "' + "a" * 99 + '": 2}', "(" + "a" * 64 + ": extra_forbidden)"),
    ],
)
def test_arguments_that_do_not_fit_are_told_by_field_and_not_repeated(arguments: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        SEARCH.read(ToolCall(id="a", name="search", arguments=arguments))
    assert told in str(caught.value)
    assert "canary" not in str(caught.value)


def test_arguments_that_fit_are_read() -> None:
    assert SEARCH.read(ToolCall(id="a", name="search", arguments='{"query": "x", "most": null}')) == Search(
        query="x", most=None
    )


def test_calls_without_an_id_of_their_own_get_one() -> None:
    call = {"name": "search", "arguments": "{}"}
    found = numbered([call | {"id": "x"}, call | {"id": "x"}, call])
    assert [each.id for each in found] == ["x", f"{UNNUMBERED}2", f"{UNNUMBERED}3"]


async def test_a_turn_is_a_paid_call_like_any_other_and_never_cached() -> None:
    adapter = ScriptedAdapter(
        Step(error=OverloadedError("Busy.")), Step(usage=Usage(input_tokens=900, output_tokens=90))
    )
    admission, cache = LoggedAdmission(), MemoryCache()
    judge = conversing(adapter, admission=admission, cache=cache)
    reply = await judge.converse(request(), deadline=within())
    assert (reply.value.text, reply.attempts, reply.cached) == ("Well.", 2, False)
    assert (reply.provider, reply.requested_model) == (judge.provider, judge.model) == ("gemini", "gemini-3.8-flash")
    assert reply.prompt_version == PROMPT.version
    assert reply.cost_usd == pytest.approx((900 * 0.75 + 90 * 3.75) / 1e6)
    assert [permit.endings for permit in admission.given] == [["settle"], ["settle"]]
    await judge.converse(request(), deadline=within())
    assert len(adapter.turns) == 3


async def test_what_a_turn_may_cost_is_reserved_with_all_that_was_said_and_room_to_think() -> None:
    admission = LoggedAdmission()
    adapter = ScriptedAdapter()
    judge = conversing(adapter, admission=admission)
    await judge.converse(request(), deadline=within())
    long = OPENED.with_turn(turn("a")).with_results((ToolResult(call_id="a", name="search", text="x" * 100_000),))
    await judge.converse(request(long), deadline=within())
    first, second = (call.max_cost_usd or 0.0 for call in admission.calls)
    assert second - first >= 100_000 * 0.75 / 1e6
    assert first >= (8192 + 8192) * 3.75 / 1e6
    assert adapter.turns[0].max_output_tokens == 8192 + 8192


async def test_a_turn_that_was_refused_or_came_too_late_or_met_a_limit_raises() -> None:
    with pytest.raises(RefusedError):
        await conversing(ScriptedAdapter(Step(error=RefusedError("No.")))).converse(request(), deadline=within())
    with pytest.raises(TimedOutError):
        await conversing(ScriptedAdapter()).converse(request(), deadline=Deadline.after(0.0))
    ceiling = LoggedAdmission(refusal=SpendingCeilingError("Spent.", until=None))
    adapter = ScriptedAdapter()
    with pytest.raises(SpendingCeilingError):
        await conversing(adapter, admission=ceiling).converse(request(), deadline=within())
    assert adapter.calls == 0


async def test_a_conversation_goes_on_only_in_the_wire_format_it_was_begun_in() -> None:
    adapter = ScriptedAdapter()
    begun = OPENED.with_turn(turn("a", wire="anthropic")).with_results(results("a"))
    with pytest.raises(InputError, match="begun by anthropic"):
        await conversing(adapter).converse(request(begun), deadline=within())
    assert adapter.calls == 0


def test_whom_to_converse_with_is_chosen_by_tier_or_by_name() -> None:
    judges = judges_with(ScriptedAdapter())
    preferred, named = judges.conversing("evaluate"), judges.conversing("strong", provider="anthropic")
    assert preferred is not None
    assert named is not None
    assert (preferred.provider, named.provider) == ("gemini", "claude")
