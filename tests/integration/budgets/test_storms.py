"""Ten lines side by side against an endpoint that refuses: real SDKs, a real server, and time that jumps."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.support.clocks import JumpingClock
from tests.support.providers import ProviderServer, error, success
from tests.support.questions import PROVIDERS, Verdict, question
from tests.support.wire import Asked, Behaviour, Kind
from touchstone.budgets import BudgetAdmission, DynamoAdmission, MemoryAdmission, QuotaKey, Quotas, Spending
from touchstone.clock import Deadline
from touchstone.judges import EnvironmentKeys, Judge, Judges, load_registry
from touchstone.judges.base import Reply
from touchstone.operations.jobs.patience import PatientJudge

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
MINUTE = timedelta(seconds=60)
LINES, SIDE_BY_SIDE = 60, 10
CALL_SECONDS = 0.02


@pytest.fixture
def server(sdks: None) -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


@dataclass
class Endpoint:
    """A provider that answers a call after 20 ms, or refuses it by `refuses`, and takes down when."""

    clock: JumpingClock
    refuses: Callable[["Endpoint"], Behaviour | None]
    answered: list[datetime] = field(default_factory=list)
    refused: list[datetime] = field(default_factory=list)

    def __call__(self, _: Asked) -> Behaviour:
        refusal = self.refuses(self)
        if refusal is None:
            self.answered.append(self.clock())
            return success(Verdict(passed=True, confidence=0.9).model_dump(), seconds=CALL_SECONDS)
        self.refused.append(self.clock())
        return refusal.model_copy(update={"seconds": CALL_SECONDS})

    @property
    def most_refused_in_a_minute(self) -> int:
        """The most that were refused in any 60 seconds."""
        return max((sum(at <= other <= at + MINUTE for other in self.refused) for at in self.refused), default=0)


def spent_after(calls: int, kind: Kind, *, free_after: timedelta) -> Callable[[Endpoint], Behaviour | None]:
    """A quota that is spent after so many calls, and free again so long after the beginning."""

    def refuses(endpoint: Endpoint) -> Behaviour | None:
        free = len(endpoint.answered) < calls or endpoint.clock() >= NOON + free_after
        return None if free else error(kind, retry_after=1.0)

    return refuses


def a_minute(calls: int) -> Callable[[Endpoint], Behaviour | None]:
    """A quota of so many calls in any 60 seconds, of which a refusal does not tell."""

    def refuses(endpoint: Endpoint) -> Behaviour | None:
        recent = sum(endpoint.clock() - at < MINUTE for at in endpoint.answered)
        return None if recent < calls else error("unknown_quota", retry_after=1.0)

    return refuses


def environment(server: ProviderServer, provider: str) -> dict[str, str]:
    if provider == "compatible":
        return {"TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url, "TOUCHSTONE_COMPATIBLE_MODEL": "small"}
    name = {"gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}[provider]
    return {key: value for key, value in server.environment().items() if key.endswith("_URL") or key == name}


async def all_lines(
    server: ProviderServer, provider: str, endpoint: Endpoint, admission: BudgetAdmission
) -> list[Reply[Verdict] | BaseException]:
    """What comes of the lines, `SIDE_BY_SIDE` at once; every question is another one."""
    server.script(endpoint)
    clock, environ = endpoint.clock, environment(server, provider)
    registry = load_registry(environ)
    judges = Judges(registry, EnvironmentKeys(registry, environ), admission=admission, clock=clock, sleep=clock.sleep)
    judge: Judge = PatientJudge(
        inner=judges.get("claude" if provider == "anthropic" else provider, "verify"),
        clock=clock,
        sleep=clock.sleep,
    )
    waiting, found = iter(range(LINES)), list[Reply[Verdict] | BaseException]()

    async def work() -> None:
        for _ in waiting:
            try:
                found.append(await judge.ask(question(), deadline=Deadline.after(3600.0)))
            except Exception as failure:  # noqa: BLE001 - what is raised is what the test looks at
                found.append(failure)
        clock.leave()

    await asyncio.gather(*(work() for _ in range(SIDE_BY_SIDE)))
    await judges.aclose()
    return found


def _clock() -> JumpingClock:
    return JumpingClock(NOON, workers=SIDE_BY_SIDE)


BOOKS: dict[str, Callable[["Table", JumpingClock], BudgetAdmission]] = {
    "memory": lambda _, clock: MemoryAdmission(clock=clock, slow_start=True),
    "table": lambda table, clock: DynamoAdmission(
        Quotas(table, clock=clock), Spending(table, clock=clock), ceiling_usd=None, slow_start=True
    ),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("book", BOOKS)
async def test_r24_a_quota_that_is_spent_is_refused_three_times_a_minute_by_all_lines_together(
    table: "Table", server: ProviderServer, book: str, provider: str
) -> None:
    clock = _clock()
    endpoint = Endpoint(clock, spent_after(30, "unknown_quota", free_after=timedelta(minutes=4)))
    found = await all_lines(server, provider, endpoint, BOOKS[book](table, clock))
    assert all(isinstance(each, Reply) for each in found), found
    assert len(endpoint.answered) == LINES
    assert 1 <= endpoint.most_refused_in_a_minute <= 3
    print(f"{provider} ({book}): {len(endpoint.refused)} refused, {endpoint.most_refused_in_a_minute} a minute at most")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_r24_a_limit_a_minute_that_nobody_names_is_met_by_three_refusals_a_minute(
    table: "Table", server: ProviderServer, provider: str
) -> None:
    clock = _clock()
    endpoint = Endpoint(clock, a_minute(10))
    found = await all_lines(server, provider, endpoint, BOOKS["memory"](table, clock))
    assert all(isinstance(each, Reply) for each in found), found
    assert 1 <= endpoint.most_refused_in_a_minute <= 3
    assert clock.now - NOON < timedelta(minutes=12)


@pytest.mark.parametrize("book", BOOKS)
async def test_an_endpoint_that_refuses_nothing_is_asked_by_all_lines_at_once(
    table: "Table", server: ProviderServer, book: str
) -> None:
    clock = _clock()
    endpoint = Endpoint(clock, lambda _: None)
    found = await all_lines(server, "compatible", endpoint, BOOKS[book](table, clock))
    assert all(isinstance(each, Reply) for each in found), found
    assert (len(endpoint.answered), endpoint.refused) == (LINES, [])
    assert clock.now - NOON <= timedelta(seconds=5)


async def test_r24_after_a_first_burst_without_a_slow_start_no_minute_sees_more_than_three(
    table: "Table", server: ProviderServer
) -> None:
    """Who does not wait is let through at once: then as many as were in flight may be refused, that one time."""
    clock = _clock()
    endpoint = Endpoint(clock, spent_after(30, "unknown_quota", free_after=timedelta(minutes=4)))
    await all_lines(server, "compatible", endpoint, MemoryAdmission(clock=clock))
    burst = [at for at in endpoint.refused if at == endpoint.refused[0]]
    assert len(burst) <= SIDE_BY_SIDE
    later = Endpoint(clock, endpoint.refuses, refused=endpoint.refused[len(burst) :])
    assert later.most_refused_in_a_minute <= 3
    assert later.refused[0] - burst[0] > MINUTE


async def test_what_is_held_back_says_what_why_and_until_when(table: "Table", server: ProviderServer) -> None:
    clock = JumpingClock(NOON, workers=1)
    admission = BOOKS["table"](table, clock)
    server.rule(error("unauthorized"))
    environ = environment(server, "compatible")
    registry = load_registry(environ)
    judges = Judges(registry, EnvironmentKeys(registry, environ), admission=admission, clock=clock)
    judge = judges.get("compatible", "verify")
    said = []
    for _ in range(2):
        with pytest.raises(Exception, match="refuses the API key") as failed:
            await judge.ask(question(), deadline=Deadline.after(5.0))
        said.append(str(failed.value))
    assert "Nothing was sent; the next call may be made at 2026-11-21 20:00:10 UTC." in said[1]
    seat = judges.tier_model("verify")
    assert seat is not None
    key = QuotaKey(seat.model.provider, seat.model.name, seat.account)
    usage = admission.quotas.usage(key, seat.model.limits)
    assert (usage.blocked_until, usage.blocked_why) == (NOON + timedelta(seconds=10), said[0])
    server.rule(success(Verdict(passed=True, confidence=0.9).model_dump()))
    clock.forward(seconds=10)
    for _ in range(5):  # the first one finds it mended, and all others are served at once
        assert (await judge.ask(question(), deadline=Deadline.after(5.0))).value.passed
    await judges.aclose()
    assert len(server.calls) == 6
