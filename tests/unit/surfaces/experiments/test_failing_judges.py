"""Experiments while their provider misbehaves, behind its real SDK: a failure is told, and never a score or a tie."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.experiments import experiment
from tests.support.providers import ProviderServer, drip, error, hang
from tests.support.wire import Behaviour
from touchstone.errors import UnavailableModelError
from touchstone.judges import EnvironmentKeys, Judge, Judges, load_registry
from touchstone.surfaces.experiments import run_experiment


async def _no_wait(_seconds: float) -> None:
    """Back-offs take no time here; how long they are is tested elsewhere."""


@pytest.fixture
async def judge(server: ProviderServer) -> AsyncIterator[Judge]:
    registry = load_registry(server.environment())
    judges = Judges(registry, EnvironmentKeys(registry, server.environment()), sleep=_no_wait)
    yield judges.get("openai", "strong")
    await judges.aclose()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (error("server_error"), "overloaded"),
        (error("overloaded"), "overloaded"),
        (error("garbled"), "overloaded"),
        (error("reset"), "overloaded"),
        (error("minute_quota", retry_after=0.1), "minute_quota"),
        (error("refused"), "refused"),
        (error("max_tokens"), "unreadable"),
        (error("truncated"), "unreadable"),
        (error("empty"), "unreadable"),
        (error("off_schema"), "unreadable"),
        (error("bad_request"), "misconfigured"),
        (hang(5.0), "timed_out"),
        (drip(0.2), "timed_out"),
    ],
    ids=lambda one: one.kind if isinstance(one, Behaviour) else one,
)
async def test_r13_what_a_judge_fails_on_is_unscored_with_the_reason_and_the_rest_is_compared(
    behaviour: Behaviour, reason: str, server: ProviderServer, judge: Judge
) -> None:
    server.rule(behaviour)
    seconds = 0.5 if reason == "timed_out" else 30.0  # the first question waits for the SDK to be imported
    conclusion = await run_experiment(experiment(sources=2), judge=judge, seconds=seconds)
    clarity, flaws = conclusion.metrics
    assert (clarity.compared, clarity.difference, clarity.verdict) == (0, None, "not_compared")
    assert {one.reason for one in (*clarity.a.missing, *clarity.b.missing)} == {reason}
    assert (clarity.a.unscored_items, clarity.b.unscored_items) == (2, 2)
    assert flaws.compared == 2
    preferred = conclusion.preference
    assert (preferred.unscored, preferred.ties, preferred.flip_rate) == (2, 0, None)


@pytest.mark.parametrize("behaviour", [error("unauthorized"), error("unknown_model")], ids=["key", "model"])
async def test_r13_a_provider_that_answers_nobody_is_raised(
    behaviour: Behaviour, server: ProviderServer, judge: Judge, tmp_path: Path
) -> None:
    server.rule(behaviour)
    with pytest.raises(UnavailableModelError):
        await run_experiment(experiment(sources=20), judge=judge, folder=tmp_path, seconds=30.0)
    assert len(server.calls) <= 16


async def test_r13_a_spent_day_ends_the_run(server: ProviderServer, judge: Judge) -> None:
    server.rule(error("credit"))
    conclusion = await run_experiment(experiment(sources=20), judge=judge, seconds=30.0)
    assert (conclusion.stopped, conclusion.measured) == ("day_quota", 0)
    assert len(server.calls) <= 16
