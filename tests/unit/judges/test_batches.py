"""The three batch APIs through the real SDKs: what is sent, what is brought back, and everything that goes wrong."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, ConfigDict

from tests.support.agents import called
from tests.support.providers import ProviderServer, error
from tests.support.scripted_adapters import Verdict, question
from tests.support.wire_batches import DAY, Plan, Refusal
from touchstone.errors import (
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    MismatchedError,
    OverloadedError,
    RefusedError,
    ResultsGoneError,
    UnavailableModelError,
    UnfinishedError,
)
from touchstone.judges import JudgeQuestion, load_registry
from touchstone.judges.adapters import Adapter
from touchstone.judges.batches import BatchLook, BatchReply, ProviderBatches, as_line
from touchstone.judges.batches.base import by_line
from touchstone.judges.conversing import Conversation, Tool, ToolResult, Turn, TurnRequest
from touchstone.judges.opening import batches_of, connect

PROVIDERS = ["claude", "openai", "gemini"]
INTENT = "i0123456789ab"
BEFORE, AFTER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
MODEL = {"claude": "claude-haiku-5-5", "openai": "gpt-5.6-mini", "gemini": "gemini-3.5-flash-lite"}
ASKED = tuple(replace(question(), prompt=replace(question().prompt, user=f"Case {number}?")) for number in range(4))


@dataclass(frozen=True)
class Scene:
    server: ProviderServer
    provider: str
    adapter: Adapter
    batches: ProviderBatches

    @property
    def model(self) -> str:
        return MODEL[self.provider]

    def lines(self, asked: Sequence[JudgeQuestion[Verdict]] = ASKED) -> dict[str, JudgeQuestion[Verdict]]:
        ids = [f"{INTENT}-{number}" for number in range(len(asked))]
        return {line_id: as_line(one, line_id) for line_id, one in zip(ids, asked, strict=True)}

    async def submitted(self) -> BatchLook:
        lines = [self.batches.line(self.model, one) for one in self.lines().values()]
        return await self.batches.submit(self.model, INTENT, lines)

    async def brought(self, plan: Plan) -> dict[str, BatchReply]:
        """The replies of a batch for which this was planned."""
        self.server.batches.plan(plan)
        look = await self.submitted()
        ended = await self.batches.look(look.batch_id)
        replies = () if ended.state == "failed" else await self.batches.collect(look.batch_id)
        return by_line(replies, self.lines().keys(), state=ended.state)

    def read(self, replies: dict[str, BatchReply]) -> list[Any]:
        """What every line's reply is: a value, or the class of a failure."""
        found: list[Any] = []
        for line_id, asked in self.lines().items():
            told, brought = self._told(asked, replies[line_id])
            assert told == line_id, "a record names the line of the batch, of a failure too"
            found.append(brought)
        return found

    def _told(self, asked: JudgeQuestion[Verdict], reply: BatchReply) -> tuple[str | None, Any]:
        try:
            answer = self.batches.read(self.model, asked, reply)
        except JudgeError as failure:
            return failure.line_id, type(failure)
        return answer.line_id, answer.value


@pytest.fixture(params=PROVIDERS)
async def scene(request: pytest.FixtureRequest, server: ProviderServer) -> AsyncIterator[Scene]:
    for number in range(len(ASKED)):
        server.reply({"is_correct": number % 2 == 0, "note": f"{number}"}, prompt=f"Case {number}")
    registry = load_registry(server.environment())
    provider = registry.provider(request.param)
    adapter = connect(provider, "loopback-key")
    batches = batches_of(provider, adapter)
    assert batches is not None
    yield Scene(server, request.param, adapter, batches)
    await adapter.aclose()


VALUES = [Verdict(is_correct=number % 2 == 0, note=f"{number}") for number in range(len(ASKED))]


async def test_a_line_is_what_the_single_adapter_sends_but_for_its_id(scene: Scene) -> None:
    await scene.submitted()
    await scene.adapter.ask(scene.model, ASKED[0], timeout=20)
    by_batch, single = scene.server.calls[0], scene.server.calls[-1]
    assert (by_batch.by_batch, single.by_batch) == (True, False)
    for name in ("provider", "model", "system", "prompt", "images", "title", "temperature"):
        assert getattr(by_batch, name) == getattr(single, name), name
    assert by_batch.schema is not None
    assert single.schema is not None
    assert "line_id" not in single.schema["properties"]
    echo = {"type": "string", "enum": [f"{INTENT}-0"]}
    assert by_batch.schema["properties"] == {**single.schema["properties"], "line_id": echo}
    assert by_batch.schema["required"] == [*single.schema["required"], "line_id"]


async def test_replies_are_told_by_their_ids_in_whatever_order(scene: Scene) -> None:
    replies = await scene.brought(Plan(order=(2, 0, 3, 1)))
    assert scene.read(replies) == VALUES
    line_id, asked = next(iter(scene.lines().items()))
    answer = scene.batches.read(scene.model, asked, replies[line_id])
    single = await scene.adapter.ask(scene.model, ASKED[0], timeout=20)
    assert (answer.usage, answer.model, answer.value) == (single.usage, single.model, single.value)


async def test_a_batch_says_when_it_ends_at_the_latest(scene: Scene) -> None:
    scene.server.batches.plan(Plan(looks=1))
    look = await scene.submitted()
    assert look.state == "under_way"
    assert look.ends_by is not None
    created = scene.server.batches.stored[look.batch_id].created
    assert look.ends_by == created + (2 * DAY if scene.provider == "gemini" else DAY)
    assert (await scene.batches.look(look.batch_id)).state == "under_way"
    assert (await scene.batches.look(look.batch_id)).state == "completed"


async def test_a_reply_under_anothers_id_is_refused(scene: Scene) -> None:
    found = scene.read(await scene.brought(Plan(swapped=((1, 2),))))
    assert found == [VALUES[0], MismatchedError, MismatchedError, VALUES[3]]


async def test_a_reply_without_an_id_is_refused(scene: Scene) -> None:
    scene.server.reply('{"is_correct": true, "note": "no id"}', prompt="Case 1")
    assert scene.read(await scene.brought(Plan()))[1] is MismatchedError


async def test_a_line_answered_twice_counts_once(scene: Scene) -> None:
    assert scene.read(await scene.brought(Plan(twice=(0, 3)))) == VALUES


async def test_a_line_that_does_not_come_is_missing(scene: Scene) -> None:
    assert scene.read(await scene.brought(Plan(missing=(2,)))) == [*VALUES[:2], OverloadedError, VALUES[3]]


@pytest.mark.parametrize("end", ["expired", "cancelled"])
async def test_what_a_batch_had_done_when_it_ended_is_taken(scene: Scene, end: Any) -> None:
    found = scene.read(await scene.brought(Plan(end=end, late=(1, 3))))
    assert found == [VALUES[0], UnfinishedError, VALUES[2], UnfinishedError]


async def test_a_line_that_failed_fails_as_a_single_call_does(scene: Scene) -> None:
    scene.server.rule(error("overloaded"), prompt="Case 0")
    scene.server.rule(error("refused"), prompt="Case 1")
    scene.server.rule(error("bad_request"), prompt="Case 2")
    scene.server.rule(error("unauthorized"), prompt="Case 3")
    found = scene.read(await scene.brought(Plan()))
    assert found == [OverloadedError, RefusedError, MisconfiguredError, UnavailableModelError]


async def test_a_batch_that_failed_brings_nothing(scene: Scene) -> None:
    kind = OverloadedError if scene.provider == "claude" else UnfinishedError  # Anthropic's batches only ever end
    assert scene.read(await scene.brought(Plan(end="failed"))) == [kind] * 4
    if scene.provider == "openai":
        look = await scene.batches.look(next(iter(scene.server.batches.stored)))
        assert look.failure == "token_limit_exceeded"


async def test_a_cancelled_batch_ends(scene: Scene) -> None:
    scene.server.batches.plan(Plan(looks=100))
    look = await scene.submitted()
    await scene.batches.cancel(look.batch_id)
    assert scene.server.batches.cancelled == [look.batch_id]
    assert (await scene.batches.look(look.batch_id)).state == (
        "completed" if scene.provider == "claude" else "cancelled"
    )


@pytest.mark.parametrize(("status", "kind"), [(429, MinuteQuotaError), (400, MisconfiguredError)])
async def test_a_create_that_is_refused_has_created_nothing(scene: Scene, status: int, kind: type[JudgeError]) -> None:
    scene.server.batches.refuse(Refusal(status=status, body={"error": {"message": "loopback-key Case 1"}}))
    with pytest.raises(kind) as caught:
        await scene.submitted()
    assert "loopback-key" not in str(caught.value)
    assert scene.server.batches.stored == {}
    assert (await scene.batches.find(INTENT, since=BEFORE, until=AFTER, known=())).batch_id is None


async def test_a_create_whose_answer_was_lost_is_found_again(scene: Scene) -> None:
    server = scene.server.batches
    server.plan(Plan(looks=1), Plan(looks=1))
    other = [scene.batches.line(scene.model, as_line(ASKED[0], "iother-0"))]
    await scene.batches.submit(scene.model, "iother", other)
    server.refuse(Refusal(lost=True))
    with pytest.raises(OverloadedError) as caught:
        await scene.submitted()
    assert caught.value.sent, "the batch may be there"
    orphan = list(server.stored)[-1]
    found = await scene.batches.find(INTENT, since=BEFORE, until=AFTER, known=())
    if scene.provider == "claude":
        assert found.batch_id is None
        assert {look.batch_id for look in found.open} == set(server.stored), "nobody knows before they have ended"
        for batch_id in server.stored:
            for _ in range(2):
                await scene.batches.look(batch_id)
        found = await scene.batches.find(INTENT, since=BEFORE, until=AFTER, known=())
    assert found.batch_id == orphan
    assert (await scene.batches.find("inever", since=BEFORE, until=AFTER, known=())).batch_id is None
    if scene.provider == "claude":  # whose batches bear no name
        found = await scene.batches.find("inever", since=BEFORE, until=datetime.now(UTC) - timedelta(hours=1), known=())
        assert found.open == (), "what was created later is another's"
    if scene.provider != "gemini":  # whose list is in no order, so that all of it is looked through
        later = datetime.now(UTC) + timedelta(hours=1)
        assert (await scene.batches.find(INTENT, since=later, until=AFTER, known=())).batch_id is None


async def test_results_that_are_gone_are_said_to_be(scene: Scene) -> None:
    look = await scene.submitted()
    await scene.batches.look(look.batch_id)
    scene.server.batches.forget()
    with pytest.raises(ResultsGoneError, match=look.batch_id):
        await scene.batches.collect(look.batch_id)


async def test_an_upload_that_fails_has_certainly_created_nothing(scene: Scene, unused_tcp_port: int) -> None:
    provider = load_registry({}).provider(scene.provider)
    nowhere = provider.model_copy(update={"base_url": f"http://127.0.0.1:{unused_tcp_port}"})
    adapter = connect(nowhere, "key")
    batches = batches_of(nowhere, adapter)
    assert batches is not None
    with pytest.raises(OverloadedError) as caught:
        await batches.submit(scene.model, INTENT, [batches.line(scene.model, as_line(ASKED[0], f"{INTENT}-0"))])
    assert not caught.value.sent
    await adapter.aclose()


@pytest.mark.parametrize("scene", ["openai", "gemini"], indirect=True)
async def test_an_upload_that_is_refused_has_certainly_created_nothing(scene: Scene) -> None:
    scene.server.batches.refuse_uploads(10)
    with pytest.raises(OverloadedError) as caught:
        await scene.submitted()
    assert not caught.value.sent
    assert scene.server.batches.stored == {}


@pytest.mark.parametrize("scene", ["openai"], indirect=True)
async def test_what_openai_keeps_outlives_the_batch_and_what_it_brought_a_month(scene: Scene) -> None:
    look = await scene.submitted()
    kept = scene.server.batches.stored[look.batch_id].kept
    assert kept is not None
    assert kept >= timedelta(days=29)
    assert min(scene.server.batches.uploads_kept) > DAY


@pytest.mark.parametrize("scene", ["gemini"], indirect=True)
@pytest.mark.filterwarnings("ignore:.*JobState:UserWarning")
async def test_a_batch_of_which_a_part_succeeded_has_ended(scene: Scene) -> None:
    found = await scene.brought(Plan(partial=True, missing=(1,)))
    assert scene.read(found) == [VALUES[0], OverloadedError, *VALUES[2:]]
    assert (await scene.batches.look(next(iter(scene.server.batches.stored)))).state == "completed"


class Search(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str
    most: int | None


class Read(BaseModel):
    path: str


TOOLS: tuple[Tool[BaseModel], ...] = (
    Tool(name="search", description="Searches.", parameters=Search),
    Tool(name="read", description="Reads.", parameters=Read),
)
TURNS = {
    f"{INTENT}-{number}": TurnRequest(conversation=Conversation.opened(asked.prompt), tools=TOOLS)
    for number, asked in enumerate(ASKED)
}


def search(number: int, **more: Any) -> tuple[str, dict[str, Any]]:
    return "search", {"query": f"box {number}", "most": None, **more}


def turning(scene: Scene, *turns: Any) -> None:
    """What the model's first turns are, by the numbers of their lines; the others look around."""
    for number in range(len(ASKED)):
        turn = turns[number] if number < len(turns) and turns[number] else called(search(number), text=f"{number}.")
        scene.server.rule(turn, prompt=f"Case {number}")


def _turn_told(scene: Scene, asked: TurnRequest, reply: BatchReply) -> tuple[str | None, Any]:
    try:
        answer = scene.batches.read_turn(scene.model, asked, reply)
    except JudgeError as failure:
        paid = failure.usage is not None
        return failure.line_id, type(
            failure
        ) if paid or failure.reason != "unreadable" else "nothing is said of its cost"
    return answer.line_id, answer.value


async def turns_of(scene: Scene, plan: Plan) -> list[Any]:
    """What every line's reply is for a batch of turns: a turn, or the class of a failure."""
    scene.server.batches.plan(plan)
    asked = {line_id: as_line(one, line_id) for line_id, one in TURNS.items()}
    look = await scene.batches.submit(
        scene.model, INTENT, [scene.batches.line(scene.model, one) for one in asked.values()]
    )
    ended = await scene.batches.look(look.batch_id)
    replies = by_line(await scene.batches.collect(look.batch_id), asked.keys(), state=ended.state)
    found: list[Any] = []
    for line_id, one in asked.items():
        told, brought = _turn_told(scene, one, replies[line_id])
        assert told == line_id, "a record names the line of the batch, of a failure too"
        found.append(brought)
    return found


async def test_a_line_for_a_turn_is_what_the_single_adapter_sends_but_for_its_id(scene: Scene) -> None:
    turning(scene)
    await turns_of(scene, Plan())
    await scene.adapter.converse(scene.model, TURNS[f"{INTENT}-0"], timeout=20)
    by_batch, single = scene.server.calls[0], scene.server.calls[-1]
    assert (by_batch.by_batch, single.by_batch) == (True, False)
    for name in ("provider", "model", "system", "prompt", "tools", "turn", "form", "temperature"):
        assert getattr(by_batch, name) == getattr(single, name), name
    assert len(single.parameters) == len(TOOLS)
    echo = {"type": "string", "enum": [f"{INTENT}-0"]}
    for mine, plain in zip(by_batch.parameters, single.parameters, strict=True):
        assert "line_id" not in plain["properties"]
        assert mine["properties"] == {**plain["properties"], "line_id": echo}
        assert mine["required"] == [*plain["required"], "line_id"]


async def test_turns_are_told_by_their_ids_in_whatever_order_and_gone_on_with_at_once(scene: Scene) -> None:
    turning(scene)
    found: list[Turn] = await turns_of(scene, Plan(order=(2, 0, 3, 1), twice=(1,)))
    assert [turn.text for turn in found] == ["0.", "1.", "2.", "3."]
    for number, turn in enumerate(found):
        [call] = turn.calls
        assert TOOLS[0].read(call) == Search(query=f"box {number}", most=None)
    first = TURNS[f"{INTENT}-0"]
    single = (await scene.adapter.converse(scene.model, first, timeout=20)).value
    assert (found[0].usage, found[0].model, found[0].wire) == (single.usage, single.model, single.wire)
    scene.server.script(called(search(9, line_id="copied from the turn before")))
    [call] = found[0].calls
    answered = first.conversation.with_turn(found[0]).with_results(
        [ToolResult(call_id=call.id, name=call.name, text="A box.")]
    )
    later = await scene.adapter.converse(scene.model, TurnRequest(conversation=answered, tools=TOOLS), timeout=20)
    assert (scene.server.calls[-1].turn, scene.server.calls[-1].results) == (1, ("A box.",))
    assert TOOLS[0].read(later.value.calls[0]) == Search(query="box 9", most=None)


async def test_a_turn_that_stands_under_anothers_id_is_refused(scene: Scene) -> None:
    turning(scene)
    first, *between, last = await turns_of(scene, Plan(swapped=((1, 2),)))
    assert between == [MismatchedError, MismatchedError]
    assert (first.text, last.text) == ("0.", "3.")


async def test_a_turn_whose_calls_do_not_all_repeat_the_id_is_refused(scene: Scene) -> None:
    one_of_two = called(search(0), search(0, line_id=f"{INTENT}-1"))
    odd = called(search(1, line_id=[f"{INTENT}-1"]))
    words_alone = called(text="I shall look around.")
    no_object = called(("search", '{"query": "line_id'))
    turning(scene, one_of_two, odd, words_alone, no_object)
    assert await turns_of(scene, Plan()) == [MismatchedError] * 4


async def test_a_turn_that_a_batch_did_not_bring_fails_as_a_question_does(scene: Scene) -> None:
    turning(scene, None, error("refused"))
    first, refused, missing, late = await turns_of(scene, Plan(end="expired", missing=(2,), late=(3,)))
    assert (first.text, refused) == ("0.", RefusedError)
    assert missing in {UnfinishedError, OverloadedError}
    assert late is UnfinishedError


def test_the_providers_refuse_what_they_do_refuse(server: ProviderServer) -> None:
    """The loopback server is as strict as the services, where an SDK would let a wrong line pass."""
    params = {"model": "m", "max_tokens": 1, "messages": [], "extra_body": {}}
    batch = {"requests": [{"custom_id": "a", "params": params}]}
    url = f"{server.base_url}/v1/messages/batches"
    assert httpx.post(url, json=batch, headers={"x-api-key": "k"}).status_code == 400
    server.batches.files["files/f"] = json.dumps({"key": "a", "request": {"systemInstruction": ["s"]}}).encode()
    create = {"batch": {"displayName": "n", "inputConfig": {"fileName": "files/f"}}}
    url = f"{server.base_url}/v1beta/models/m:batchGenerateContent"
    assert httpx.post(url, json=create, headers={"x-goog-api-key": "k"}).status_code == 400


def test_a_server_that_is_only_compatible_has_no_batches() -> None:
    registry = load_registry({"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://x", "TOUCHSTONE_COMPATIBLE_MODEL": "m"})
    provider = registry.provider("compatible")
    assert batches_of(provider, connect(provider, None)) is None


def test_a_batch_costs_half_and_an_unknown_price_stays_so() -> None:
    registry = load_registry({"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://x", "TOUCHSTONE_COMPATIBLE_MODEL": "m"})
    half = registry.by_batch()
    for model in registry.models():
        cheap = half.find(model.provider, model.name)
        if model.price_in is None:
            assert cheap.price_in is None
            continue
        assert cheap.price_in == (model.price_in or 0) / 2
        assert cheap.price_out == (model.price_out or 0) / 2
        assert cheap.price_cached_in == (None if model.price_cached_in is None else model.price_cached_in / 2)
        assert [one.price_in for one in cheap.later_prices] == [(one.price_in or 0) / 2 for one in model.later_prices]
        if model.long_prompt is not None and cheap.long_prompt is not None:
            assert cheap.long_prompt.price_in == (model.long_prompt.price_in or 0) / 2


def test_nobody_waits(server: ProviderServer) -> None:
    """Several steps of one batch may be asked at once; the client serves them all."""

    async def all_of_them() -> list[BatchLook]:
        provider = load_registry(server.environment()).provider("openai")
        adapter = connect(provider, "k")
        batches = batches_of(provider, adapter)
        assert batches is not None
        look = await batches.submit("m", "ix", [batches.line("m", as_line(ASKED[0], "ix-0"))])
        found = await asyncio.gather(*(batches.look(look.batch_id) for _ in range(4)))
        await adapter.aclose()
        return found

    assert {look.state for look in asyncio.run(all_of_them())} == {"completed"}
