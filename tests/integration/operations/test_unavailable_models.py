"""A model that is gone, or a key that is refused: real adapters, a real server, and the quotas in the table."""

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import replies
from tests.support.house import House, build
from tests.support.providers import ProviderServer, error
from tests.support.wire import Kind
from touchstone.answers.model import AnswerRecord, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.budgets import DynamoAdmission, Spending
from touchstone.budgets.ledger import FIRST_PAUSE
from touchstone.clock import Deadline
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.steps import verify_own_answer
from touchstone.records import new_ulid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mypy_boto3_dynamodb.service_resource import Table

KEY_OF = {"gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY"}
REQUESTS = 30


@pytest.fixture
def server(sdks: None) -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


@pytest.fixture
def house(table: "Table") -> House:
    return build(table, {})


@asynccontextmanager
async def _context(house: House, server: ProviderServer, provider: str) -> "AsyncIterator[AnswerContext]":
    """What steps work with in a deployment that has a key of this provider alone."""
    environ = server.environment()
    environ = {name: value for name, value in environ.items() if name.endswith("_URL") or name == KEY_OF[provider]}
    registry = load_registry(environ)
    admission = DynamoAdmission(house.quotas, Spending(house.table, clock=house.clock), ceiling_usd=10.0)
    judges = Judges(registry, EnvironmentKeys(registry, environ), admission=admission, clock=house.clock)
    yield replace(house.context(), judges=judges)
    await judges.aclose()


async def _verified(context: AnswerContext, number: int) -> AnswerRecord:
    request = VerifyRequest(problem=f"Name city {number} of Australia.", answer="Canberra")
    record = new_record(request, tenant=context.tenant, answer_id=new_ulid(context.clock()), now=context.clock())
    context.answers.create(record)
    return await verify_own_answer(context, record.id, deadline=Deadline.after(10.0))


CASES: list[tuple[str, Kind, str]] = [
    ("gemini", "unknown_model", "does not know the model"),
    ("openai", "unknown_model", "does not know the model"),
    ("claude", "unknown_model", "does not know the model"),
    ("gemini", "unauthorized", "refuses the API key"),
    ("gemini", "forbidden", "refuses the API key"),
]


@pytest.mark.parametrize(("provider", "kind", "why"), CASES)
async def test_r15_fresh_requests_for_a_model_that_is_gone_start_no_storm(
    house: House, server: ProviderServer, provider: str, kind: Kind, why: str
) -> None:
    server.rule(error(kind))
    async with _context(house, server, provider) as context:
        for number in range(REQUESTS):
            record = await _verified(context, number)
            (attempt,) = record.attempts
            assert attempt.verification is not None
            assert (record.verification_status, attempt.verification.skip_reason) == ("unverified", "misconfigured")
            assert why in (attempt.verification.error or "")
            house.clock.advance(seconds=59 / REQUESTS)
    assert 1 <= len(server.calls) <= 3
    assert Spending(house.table, clock=house.clock).today("acme").spent_usd == 0.0


async def test_r15_a_model_that_is_back_is_asked_again(house: House, server: ProviderServer) -> None:
    async with _context(house, server, "gemini") as context:
        server.script(error("unknown_model"))
        server.reply(replies.verify(), schema="VerifyReply")
        statuses: list[Any] = [(await _verified(context, 0)).verification_status]
        house.clock.now += FIRST_PAUSE
        statuses += [(await _verified(context, number)).verification_status for number in (1, 2, 3)]
    assert statuses == ["unverified", "verified", "verified", "verified"]


async def test_r15_of_many_at_once_the_first_moment_sees_a_minutes_calls_and_every_later_one_a_single_probe(
    house: House, server: ProviderServer
) -> None:
    server.rule(error("unknown_model"))
    per_minute = load_registry({}).model("gemini", "fast").limits.per_minute
    async with _context(house, server, "gemini") as context:
        seen = list[int]()
        for moment in range(3):
            before = len(server.calls)
            await asyncio.gather(*(_verified(context, 100 * moment + number) for number in range(20)))
            seen.append(len(server.calls) - before)
            house.clock.advance(minutes=10)
    assert per_minute == 15
    assert (seen[0] <= per_minute, seen[1:]) == (True, [1, 1])


async def test_r15_a_request_that_the_provider_rejects_holds_up_nobody_else(
    house: House, server: ProviderServer
) -> None:
    async with _context(house, server, "gemini") as context:
        server.script(error("bad_request"))
        server.reply(replies.verify(), schema="VerifyReply")
        assert [(await _verified(context, number)).verification_status for number in (0, 1)] == [
            "unverified",
            "verified",
        ]
