"""Tasks that the first passing submission wins: a step that dies takes the win from nobody."""

import dataclasses

import pytest

from tests.support.deaths import Dying
from tests.support.market import Market
from tests.support.opinions import text_of
from touchstone.budgets.memory import MemoryAdmission
from touchstone.errors import ConflictError
from touchstone.judges import load_registry
from touchstone.operations.tasks.drafting import draft
from touchstone.operations.tasks.judging import LONGEST_SPREAD, check, score
from touchstone.oracle import submission as steps
from touchstone.oracle.choice import OracleChoice, open_judge
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.records import Tasks


async def broken_off(market: Market, dying: Dying) -> tuple[Task, Submission]:
    """A race whose first submission passed, and whose step died before the task knew."""
    task = await market.opened("fastest_first")
    first = market.submitted(task, "ada")
    await check(market.context(), first.ref)
    with dying(Tasks, "win"):
        await score(market.context(), first.ref)
    assert (market.submission(first).passes, market.task(task.id).state) == (True, "open")
    return task, market.submission(first)


async def test_a_win_that_broke_off_is_taken_up_by_the_sweep_long_before_the_deadline(
    market: Market, dying: Dying
) -> None:
    task, first = await broken_off(market, dying)
    market.clock.advance(hours=1)
    market.starts.runs.clear()
    assert market.sweep().run().restarted == 1
    assert [first.id in run for run in market.starts.runs] == [True]
    assert await market.carry_submission(first.ref) == "scored"
    assert (market.task(task.id).winner, market.clock() < task.deadline) == (first.id, True)
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]
    market.clock.advance(hours=2)
    assert market.sweep().run().restarted == 0


async def test_nobody_behind_it_wins_because_the_first_ones_step_died(market: Market, dying: Dying) -> None:
    task, first = await broken_off(market, dying)
    market.clock.advance(minutes=1)
    (second,) = (await market.judged(task, "ben")).values()
    assert (market.task(task.id).winner, second.state) == (first.id, "scored")
    market.clock.advance(hours=1)
    assert market.sweep().run().restarted == 1, "the first does not know yet that it won"
    assert await market.carry_submission(first.ref) == "scored"
    market.clock.advance(hours=2)
    assert market.sweep().run().restarted == 0
    assert (market.task(task.id).winner, market.bus.kinds()) == (
        first.id,
        ["payout.due", "result.final", "task.closed"],
    )


async def test_an_id_that_was_asked_for_before_the_task_was_open_is_no_earlier_place(
    market: Market, dying: Dying
) -> None:
    """A request that came too soon leaves its key, and the id that belongs to it is older than the work."""
    task = market.created("fastest_first")
    request = SubmissionRequest(submitter="ben", text=text_of("ben"))
    with pytest.raises(ConflictError, match="being made"):
        market.intake().submit(task.id, request, key="too soon")
    await draft(market.context(), task.id)
    first = market.submitted(task, "ada")
    market.clock.advance(seconds=1)
    second = market.intake().submit(task.id, request, key="too soon")
    assert second.id < first.id
    for one in (first, second):
        await check(market.context(), one.ref)
    with dying(Tasks, "win"):
        await score(market.context(), second.ref)
    await score(market.context(), first.ref)
    assert market.task(task.id).winner == first.id


async def test_a_step_that_died_once_the_task_was_won_is_taken_up_and_changes_nothing(
    market: Market, dying: Dying
) -> None:
    task = await market.opened("fastest_first")
    one = market.submitted(task, "ada")
    await check(market.context(), one.ref)
    with dying(steps, "race_settled"):
        await score(market.context(), one.ref)
    won = market.task(task.id)
    assert (won.state, won.winner, market.bus.kinds()) == ("final", one.id, [])
    market.clock.advance(hours=1)
    assert market.sweep().run().restarted == 1
    assert await market.carry_submission(one.ref) == "scored"
    assert market.task(task.id) == won
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]
    market.clock.advance(hours=2)
    assert market.sweep().run().restarted == 0


@pytest.mark.parametrize("passing", [True, False])
async def test_only_what_passes_a_race_is_kept_to_be_settled(market: Market, passing: bool) -> None:
    market.opinions.scores = {"ada": 85 if passing else 50}
    for path in ("quality_first", "fastest_first"):
        task = await market.opened(path)
        await market.judged(task, "ada")
    market.clock.advance(hours=1)
    assert market.sweep().run().restarted == 0


async def test_those_that_wait_for_one_slot_a_minute_do_not_all_come_back_at_once(market: Market) -> None:
    judges = market.script.judges(
        clock=market.clock,
        tenant="acme",
        admission=MemoryAdmission(clock=market.clock),
        overrides={"claude": {"models": {"claude-sonnet-5-5": {"per_minute": 1}}}},
    )
    task = await market.opened()
    waiting = [market.submitted(task, f"writer{number}") for number in range(8)]
    choice = OracleChoice(registry=load_registry(environ={}), provider="claude")
    context = dataclasses.replace(market.context(), judge=lambda: open_judge(judges, choice))
    market.clock.advance(minutes=20)
    found = [await check(context, one.ref) for one in waiting]
    assert [one.state for one in found] == ["gate_passed", *("waiting" for _ in found[1:])]
    untils = [one.until - market.clock() for one in found if one.until is not None]
    assert len(set(untils)) == len(untils) == len(waiting) - 1
    assert max(untils) <= LONGEST_SPREAD * 1.2
    assert {market.submission(one).attempts.tries for one in waiting[1:]} == {0}
