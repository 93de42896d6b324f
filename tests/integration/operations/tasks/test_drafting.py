"""A task's dimensions are made once and locked, or the task says why there are none."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support import replies
from tests.support.market import Market
from tests.support.opinions import DIMENSIONS
from tests.support.oracle_steps import ended
from touchstone.attempts import LEASE, MAX_TRIES, RETRY_PERIOD
from touchstone.errors import DayQuotaError, OverloadedError, RefusedError, StoreError
from touchstone.judges import MemoryCache
from touchstone.operations.tasks.drafting import draft
from touchstone.oracle.task import draft_begun

TWICE_THERE = replies.dimensions(
    dynamic_dimensions=[{"id": "credibility", "name": "Looks", "description": "How does it look?", "weight": 35}]
)


async def test_a_task_opens_with_its_dimensions_which_no_repeat_asks_for_again(market: Market) -> None:
    task = market.created()
    progress = await draft(market.context(), task.id)
    assert (progress.state, progress.until) == ("open", task.deadline)
    opened = market.task(task.id)
    assert tuple(one.id for one in opened.dimensions) == DIMENSIONS
    assert [spend.purpose for spend in opened.spends] == ["dimensions"]
    again = await draft(market.context(), task.id)
    assert (again.state, len(market.script.asked)) == ("open", 1)
    market.clock.now = task.deadline
    ended(market.tasks, task)
    assert (await draft(market.context(), task.id)).state == "open"


async def test_a_judge_that_breaks_the_rules_twice_fails_the_task_with_the_reason(market: Market) -> None:
    market.script.lines = {"dimensions": [TWICE_THERE]}
    task = market.created()
    assert (await draft(market.context(), task.id)).state == "failed"
    failed = market.task(task.id)
    assert failed.failure is not None
    assert "invalid_reply" in failed.failure
    assert "Create the task anew." in failed.failure
    assert (len(market.script.asked), len(failed.spends)) == (2, 2)
    assert (await draft(market.context(), task.id)).state == "failed"
    assert len(market.script.asked) == 2


async def test_a_step_that_dies_with_two_replies_of_no_use_pays_for_no_third_one(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.script.lines, market.cache = {"dimensions": [TWICE_THERE]}, MemoryCache()
    task = market.created()

    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("The store is away.")

    with monkeypatch.context() as broken:
        broken.setattr("touchstone.oracle.task.given_up", fail)
        with pytest.raises(StoreError):
            await draft(market.context(), task.id)
    market.clock.now += 2 * LEASE
    assert (await draft(market.context(), task.id)).state == "failed"
    assert len(market.script.asked) == 2


async def test_without_a_key_a_task_waits_for_one_and_says_so_and_no_try_is_used_up(market: Market) -> None:
    market.script.providers = ()
    task = market.created(deadline=market.clock() + timedelta(hours=MAX_TRIES + 1))
    pauses = []
    for _ in range(3 * MAX_TRIES):
        progress = await draft(market.context(), task.id)
        assert (progress.state, progress.reason) == ("waiting", "misconfigured")
        assert progress.until is not None
        pauses.append((progress.until - market.clock()).total_seconds())
        waiting = market.task(task.id)
        assert waiting.failure is not None
        assert "key" in waiting.failure
        assert waiting.drafting.tries == 0
        market.clock.now = progress.until
    assert pauses[0] == 30.0, "whoever sets the key now waits seconds for it to be found"
    assert pauses == sorted(pauses)
    assert pauses[-1] > 100.0, "and one that stays away is asked for less and less often"
    market.script.providers = ("claude",)
    assert (await draft(market.context(), task.id)).state == "open"
    assert market.task(task.id).failure is None


async def test_a_judge_that_is_overloaded_each_time_fails_the_task_after_days(market: Market) -> None:
    market.script.lines = {"dimensions": [OverloadedError("503")]}
    since = market.clock()
    task = market.created(deadline=since + timedelta(days=30))
    while (progress := await draft(market.context(), task.id)).state == "waiting":
        assert progress.until is not None
        market.clock.now = progress.until
    assert progress.state == "failed"
    assert market.clock() - since >= RETRY_PERIOD
    assert "overloaded" in (market.task(task.id).failure or "")


@pytest.mark.parametrize(
    ("error", "state", "tries"),
    [(RefusedError("It refuses."), "failed", 0), (DayQuotaError("No more today."), "waiting", 0)],
)
async def test_a_refusal_is_final_and_a_days_quota_is_not(
    market: Market, error: Exception, state: str, tries: int
) -> None:
    market.script.lines = {"dimensions": [error, replies.dimensions()]}  # type: ignore[list-item] # both are lines
    task = market.created()
    progress = await draft(market.context(), task.id)
    assert (progress.state, market.task(task.id).drafting.tries) == (state, tries)


async def test_tries_that_were_each_interrupted_are_given_up_when_the_last_lease_has_run_out(market: Market) -> None:
    since = market.clock()
    task = market.created(deadline=since + timedelta(days=30))
    while market.clock() - since < RETRY_PERIOD:
        # Whoever begins it is gone then.
        _, ours = market.tasks.begin(task.ref, lambda one: draft_begun(one, now=market.clock()))
        assert ours
        held = await draft(market.context(), task.id)
        assert held.state == "waiting"
        market.clock.now = held.until or since
    assert (await draft(market.context(), task.id)).state == "failed"
    assert "interrupted" in (market.task(task.id).failure or "")
    assert market.script.asked == []


async def test_a_task_without_dimensions_at_its_deadline_fails_and_does_not_wait_beyond_it(market: Market) -> None:
    market.script.providers = ()
    task = market.created(deadline=market.clock() + timedelta(minutes=10))
    market.clock.now = task.deadline - timedelta(seconds=20)
    progress = await draft(market.context(), task.id)
    assert (progress.state, progress.until) == ("waiting", task.deadline)
    market.clock.now = task.deadline
    assert (await draft(market.context(), task.id)).state == "failed"
    failure = market.task(task.id).failure or ""
    assert "deadline" in failure
    assert "key" in failure, "the cause is not forgotten"
