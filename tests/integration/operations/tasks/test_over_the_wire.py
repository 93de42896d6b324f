"""A contest whose judges are asked through the providers' own SDKs: what was arranged in memory holds on the wire."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.support import wire
from tests.support.judges import Asked
from tests.support.market import Market
from tests.support.opinions import Opinions
from tests.support.providers import ProviderServer, error, success
from tests.support.wire import Behaviour
from touchstone.errors import JudgeError
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.operations.tasks.judging import check

PROMPTS = {
    "DimensionsReply": "dimensions",
    "GateReply": "gate",
    "IndividualReply": "individual",
    "HorizontalReply": "horizontal",
}


@dataclass
class Wired:
    """Judges behind their SDKs, led to a server on loopback; in the place of a `Script`."""

    server: ProviderServer
    opened: list[Judges] = field(default_factory=list)

    def judges(self, **_: object) -> Judges:
        """Judges of a deployment that has a key of every provider."""
        environ = self.server.environment()
        registry = load_registry(environ)
        self.opened.append(Judges(registry, EnvironmentKeys(registry, environ)))
        return self.opened[-1]


@pytest.fixture
def server(market: Market) -> Iterator[ProviderServer]:
    """The providers, of the market's opinions."""
    script = market.opinions.script()

    def answer(asked: wire.Asked) -> Behaviour:
        provider = "claude" if asked.provider == "anthropic" else asked.provider
        question = Asked(
            provider=provider,
            model=asked.model,
            prompt=PROMPTS[asked.title],
            system=asked.system,
            user=asked.prompt,
            images=0,
            max_output_tokens=0,
        )
        line = script.next(question)
        assert not isinstance(line, JudgeError)
        return success(line)

    with ProviderServer() as running:
        running.script(answer)
        yield running


async def test_a_contest_and_a_challenge_to_it_are_judged_by_two_providers_over_the_wire(
    market: Market, server: ProviderServer
) -> None:
    wired = Wired(server)
    market.script = wired  # type: ignore[assignment] # it opens judges, as a script does
    market.opinions.scores, market.opinions.second = {"ada": 85, "ben": 75, "cleo": 40}, {"ben": 95}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo")
    assert await market.carry_task(task.id) == "challenge"
    assert market.task(task.id).winner == found["ada"].id
    assert {call.provider for call in server.calls} == {"anthropic"}
    asked = len(server.calls)
    assert await market.carry_challenge(market.challenged(task, found["ben"])) == "decided"
    assert {call.provider for call in server.calls[asked:]} == {"openai"}
    assert market.final(task.id).winner == found["ben"].id
    for judges in wired.opened:
        await judges.aclose()


@pytest.mark.parametrize(("kind", "reason"), [("unauthorized", "misconfigured"), ("day_quota", "day_quota")])
async def test_what_a_provider_refuses_puts_the_work_back_and_counts_no_try(
    market: Market, server: ProviderServer, kind: wire.Kind, reason: str
) -> None:
    wired = Wired(server)
    task = await market.opened()
    market.script = wired  # type: ignore[assignment] # it opens judges, as a script does
    one = market.submitted(task, "ada")
    server.script(error(kind))
    progress = await check(market.context(), one.ref)
    assert (progress.state, progress.reason, market.submission(one).attempts.tries) == ("waiting", reason, 0)
    assert progress.until is not None
    market.clock.now = progress.until
    assert await market.carry_submission(one.ref) == "scored"
    for judges in wired.opened:
        await judges.aclose()


def test_every_question_of_a_contest_of_short_texts_has_its_opinion() -> None:
    assert set(PROMPTS.values()) == set(Opinions().script().lines) - {"digest"}
