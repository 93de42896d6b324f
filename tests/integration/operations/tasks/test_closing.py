"""At its deadline a task takes nothing more, waits for what is in work, and ends with a ranking or a winner."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from tests.support.deaths import Dying
from tests.support.market import Market
from tests.support.opinions import text_of
from tests.support.oracle_steps import ended
from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.errors import ConflictError, OverloadedError, RefusedError, StoreError
from touchstone.judges import MemoryCache
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.context import SETTLED_WITHIN
from touchstone.operations.tasks.judging import check, score
from touchstone.operations.tasks.ranking import finalise, rank_contest
from touchstone.oracle import task as steps
from touchstone.oracle.feedback import ScoringFeedback
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.records import Submissions, Tasks

SPREAD = {"ada": 85, "ben": 75, "cleo": 65, "dora": 61, "emil": 60}
LONG = "The frost came late and took the early varieties. " * 500
"""Too long to be shown whole beside others: a judge reads such a finalist first, in sections."""

UNKNOWN = {"topic": "no_dimension", "quote": "The frost came late", "observation": "It was cold."}
"""A note that breaks the rules."""


def places(market: Market, task: Task, found: dict[str, Submission]) -> list[tuple[str, int | None, float | None]]:
    """The ranking, by writer."""
    writers = {one.id: writer for writer, one in found.items()}
    return [(writers[place.submission_id], place.rank, place.final_score) for place in market.task(task.id).places]


async def test_a_contest_of_five_compares_the_best_three_and_ranks_the_others_behind_them(market: Market) -> None:
    market.opinions.scores = dict(SPREAD)
    market.opinions.beside = {"ada": 80, "ben": 90}
    task = await market.opened()
    found = await market.judged(task, *SPREAD)
    assert await market.carry_task(task.id) == "challenge"
    expected = [("ben", 1, 90.0), ("ada", 2, 80.0), ("cleo", 3, 65.0), ("dora", 4, 61.0), ("emil", 5, 60.0)]
    assert places(market, task, found) == expected
    assert market.script.prompts().count("claude/horizontal") == 10
    assert market.final(task.id).winner == found["ben"].id
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]


async def test_a_band_below_c_on_any_dimension_eliminates_however_good_the_rest_is(market: Market) -> None:
    market.opinions.scores = {"ada": {"usable_advice": 49}, "ben": 70, "cleo": {"credibility": 49}, "dora": 66}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo", "dora")
    await market.carry_task(task.id)
    assert places(market, task, found) == [("ben", 1, 70.0), ("dora", 2, 66.0)]
    view = market.reader("ada").submission(task.id, found["ada"].id)
    assert view.standing == "eliminated"
    scoring = view.feedback[-1]
    assert isinstance(scoring, ScoringFeedback)
    assert (scoring.eliminated_by, scoring.rank) == (("usable_advice",), None)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [({}, []), ({"ada": 49, "ben": 30}, []), ({"ada": 71, "ben": 30}, [("ada", 1, 71.0)])],
)
async def test_without_rivals_nothing_is_compared(
    market: Market, scores: dict[str, int], expected: list[tuple[str, int, float]]
) -> None:
    market.opinions.scores = dict(scores)
    task = await market.opened()
    found = await market.judged(task, *scores)
    assert await market.carry_task(task.id) == "challenge"
    assert places(market, task, found) == expected
    assert "claude/horizontal" not in market.script.prompts()
    final = market.final(task.id)
    assert final.winner == (found["ada"].id if expected else None)
    assert market.bus.kinds() == [*(["payout.due"] if expected else []), "result.final", "task.closed"]


async def test_equal_scores_fall_to_the_own_total_and_then_to_the_earlier_submission(market: Market) -> None:
    market.opinions.scores = {"ada": 70, "ben": 75, "cleo": 70}
    market.opinions.beside = {"ada": 80, "ben": 80, "cleo": 80}
    task = await market.opened()
    found = await market.judged(task, "cleo", "ada", "ben")
    await market.carry_task(task.id)
    assert [writer for writer, _, _ in places(market, task, found)] == ["ben", "cleo", "ada"]


async def test_what_is_in_work_at_the_deadline_is_waited_for_and_counts(market: Market) -> None:
    market.opinions.scores = {"ada": 70, "ben": 90}
    task = await market.opened()
    await market.judged(task, "ada")
    late = market.submitted(task, "ben")
    market.clock.now = task.deadline
    for word in ("received", "gate_passed"):
        progress = await close(market.context(), task.id, deadline=task.deadline)
        assert (progress.state, market.submission(late).state) == ("waiting", word)
        assert progress.until is not None
        assert progress.until > market.clock()
        await (check if word == "received" else score)(market.context(), late.ref)
    assert await market.carry_task(task.id) == "challenge"
    assert market.final(task.id).winner == late.id


async def test_a_wait_for_work_looks_again_ever_less_often_and_gives_up_after_a_day_and_a_half(market: Market) -> None:
    task = await market.opened()
    late, unscored = market.submitted(task, "ada"), market.submitted(task, "ben")
    await check(market.context(), unscored.ref)
    market.clock.now = task.deadline
    pauses = []
    for minutes in (0, 1, 8, 60, 24 * 60):
        market.clock.now = task.deadline + timedelta(minutes=minutes)
        progress = await close(market.context(), task.id, deadline=task.deadline)
        assert progress.state == "waiting"
        assert progress.until is not None
        pauses.append((progress.until - market.clock()).total_seconds())
        market.clock.now = progress.until
        assert market.tasks.unfinished(older_than=timedelta(seconds=1)) == ()
    assert pauses == [5.0, 15.0, 120.0, 300.0, 300.0]
    market.clock.now = task.deadline + SETTLED_WITHIN
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "challenge"
    for one, stage in ((late, "gate"), (unscored, "scoring")):
        failure = market.submission(one).failure
        assert failure is not None
        assert (market.submission(one).state, failure.stage, failure.reason) == ("unscored", stage, "timed_out")


async def test_a_fastest_first_task_is_won_after_its_deadline_by_whoever_was_first_of_those_that_pass(
    market: Market, dying: Dying
) -> None:
    market.opinions.scores = {"ada": 40}
    task = await market.opened("fastest_first")
    await market.judged(task, "ada")
    lost = []
    for writer in ("ben", "cleo"):
        one = market.submitted(task, writer)
        await check(market.context(), one.ref)
        with dying(Tasks, "win"):
            await score(market.context(), one.ref)
        lost.append(one)
    market.clock.now = task.deadline
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "final"
    assert market.task(task.id).winner == lost[0].id
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]


async def test_a_fastest_first_task_that_nothing_passed_is_final_and_pays_nobody(market: Market) -> None:
    market.opinions.scores = {"ada": 59}
    task = await market.opened("fastest_first")
    await market.judged(task, "ada")
    assert await market.carry_task(task.id) == "final"
    assert (market.task(task.id).winner, market.bus.kinds()) == (None, ["result.final", "task.closed"])
    for _ in range(2):
        assert (await close(market.context(), task.id, deadline=task.deadline)).state == "final"
    assert market.bus.kinds() == ["result.final", "task.closed"]


async def test_of_two_deadlines_the_old_one_is_superseded_and_the_new_one_closes(market: Market) -> None:
    task = await market.opened()
    later = task.deadline + timedelta(days=1)
    market.intake().move_deadline(task.id, later)
    assert [run.partition(" ")[0] for run in market.starts.runs] == ["task", "task"]
    market.clock.now = task.deadline
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "superseded"
    early = await close(market.context(), task.id, deadline=later)
    assert (early.state, early.until) == ("waiting", later)
    assert market.task(task.id).state == "open"
    market.clock.now = later
    assert (await close(market.context(), task.id, deadline=later)).state == "challenge"
    with pytest.raises(ConflictError, match="cannot be moved"):
        market.intake().move_deadline(task.id, later + timedelta(days=1))


async def test_r21_a_task_closed_twice_at_once_while_work_comes_in_keeps_all_that_it_took(market: Market) -> None:
    task = await market.opened()
    market.clock.now = task.deadline - timedelta(microseconds=1)
    intake, barrier = market.intake(), Barrier(10)

    def hand_in(number: int) -> Submission | None:
        barrier.wait()
        try:
            request = SubmissionRequest(submitter=f"writer{number}", text=text_of(f"writer{number}"))
            return intake.submit(task.id, request, key=None)
        except ConflictError:
            return None

    def end(_: int) -> str:
        barrier.wait()
        market.clock.now = task.deadline
        return asyncio.run(close(market.context(), task.id, deadline=task.deadline)).state

    with ThreadPoolExecutor(10) as workers:
        ends = [workers.submit(end, number) for number in range(2)]
        taken = [one for one in workers.map(hand_in, range(8)) if one is not None]
    assert {one.result() for one in ends} <= {"waiting", "challenge"}
    assert {one.id for one in market.submissions.of_task(task.ref)} == {one.id for one in taken}
    for one in taken:
        assert await market.carry_submission(one.ref) == "scored"
    if market.task(task.id).state == "scoring":
        await market.carry_task(task.id)
    assert len(market.task(task.id).places) == len(taken)
    with pytest.raises(ConflictError, match="no more submissions"):
        market.submitted(task, "late")


async def test_a_crash_anywhere_after_the_comparison_ends_in_the_same_ranking(market: Market, dying: Dying) -> None:
    """Two of three could not be compared; whoever takes the task up again must not take the third for the only one."""
    market.opinions.scores = {"ada": 85, "ben": 75, "cleo": 65}
    market.opinions.beside = {"cleo": 90}
    market.opinions.misquoted = {("credibility", "ada"), ("credibility", "ben")}
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", "cleo")
    market.clock.now = task.deadline
    for dimension in (await close(market.context(), task.id, deadline=task.deadline)).dimensions:
        await market.compared(task.id, dimension)
    with dying(steps, "ranked"):
        rank_contest(market.context(), task.id)
    assert await market.carry_task(task.id) == "challenge"
    assert places(market, task, found) == [("cleo", 1, 90.0), ("ada", None, None), ("ben", None, None)]


async def test_a_finalist_that_nobody_could_read_is_unscored_and_the_others_are_compared(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75, "cleo": 65}
    task = await market.opened()
    found = await market.judged(task, "ben", "cleo")
    one = market.submitted(task, "ada", more=LONG)
    await market.carry_submission(one.ref)
    assert market.submission(one).state == "scored"
    market.script.lines = {**market.script.lines, "digest": [OverloadedError("503")]}
    assert await market.carry_task(task.id) == "challenge"
    assert [writer for writer, _, _ in places(market, task, found | {"ada": one})] == ["ben", "cleo", "ada"]
    assert market.task(task.id).places[-1].rank is None
    view = market.reader("ada").submission(task.id, one.id)
    assert (view.standing, view.unscored) == ("unscored", "overloaded")


async def test_of_finalists_of_whom_all_but_one_cannot_be_read_that_one_wins_on_its_own_score(market: Market) -> None:
    market.opinions.scores = {"ada": 85, "ben": 75}
    task = await market.opened()
    found = await market.judged(task, "ben")
    one = market.submitted(task, "ada", more=LONG)
    await market.carry_submission(one.ref)
    market.script.lines = {**market.script.lines, "digest": [RefusedError("It refuses.")]}
    assert await market.carry_task(task.id) == "challenge"
    assert places(market, task, found | {"ada": one}) == [("ben", 1, 75.0), ("ada", None, None)]


async def test_a_finalists_reader_that_died_holds_the_task_until_its_lease_runs_out(market: Market) -> None:
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", more=LONG)
    market.clock.now = task.deadline
    ended(market.tasks, task)
    market.judgements.begin(found["ada"].ref, at="scored")
    held = await close(market.context(), task.id, deadline=task.deadline)
    assert (held.state, held.until) == ("waiting", market.clock() + LEASE)
    assert await market.carry_task(task.id) == "challenge"


async def test_a_finalists_reader_that_dies_with_two_replies_of_no_use_pays_for_no_third_one(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.cache = MemoryCache()
    task = await market.opened()
    await market.judged(task, "ada", "ben", more=LONG)
    market.script.lines = {**market.script.lines, "digest": [{"steering": [], "observations": [UNKNOWN]}]}
    market.script.asked.clear()
    market.clock.now = task.deadline

    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("The store is away.")

    with monkeypatch.context() as broken:
        broken.setattr("touchstone.operations.tasks.finalists.paid", fail)
        with pytest.raises(StoreError):
            await close(market.context(), task.id, deadline=task.deadline)
    assert len(market.script.asked) == 2
    market.clock.now += 2 * LEASE
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "challenge"
    assert market.script.prompts() == ["claude/digest"] * 4, "two for each finalist"


async def test_a_finalist_whose_readers_were_each_interrupted_is_unscored(market: Market) -> None:
    task = await market.opened()
    found = await market.judged(task, "ben", "cleo") | await market.judged(task, "ada", more=LONG)
    market.clock.now = task.deadline
    ended(market.tasks, task)
    while market.clock() - task.deadline < RETRY_PERIOD:
        begun, ours = market.judgements.begin(found["ada"].ref, at="scored")
        assert ours
        market.clock.now = begun.attempts.not_before or task.deadline
    assert await market.carry_task(task.id) == "challenge"
    assert [writer for writer, _, _ in places(market, task, found)] == ["ben", "cleo", "ada"]
    view = market.reader("ada").submission(task.id, found["ada"].id)
    assert (view.standing, view.unscored) == ("unscored", "timed_out")


async def test_a_want_of_a_key_at_the_deadline_is_waited_for_a_day_and_a_half_and_not_longer(market: Market) -> None:
    task = await market.opened()
    found = await market.judged(task, "ada", "ben", more=LONG)
    market.script.providers = ()
    market.clock.now = task.deadline
    progress = await close(market.context(), task.id, deadline=task.deadline)
    assert (progress.state, progress.reason, progress.until) == (
        "waiting",
        "misconfigured",
        market.clock() + timedelta(hours=1),
    )
    market.clock.now = task.deadline + SETTLED_WITHIN
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "challenge"
    assert places(market, task, found) == [("ada", None, None), ("ben", None, None)]
    view = market.reader("ada").submission(task.id, found["ada"].id)
    assert (view.standing, view.unscored) == ("unscored", "misconfigured")


async def test_what_the_index_does_not_show_yet_is_waited_for_as_well(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await market.opened()
    late = market.submitted(task, "ada")
    market.clock.now = task.deadline
    monkeypatch.setattr(Submissions, "in_work", lambda *_, **__: False)  # as an index that is a moment behind
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "waiting"
    await market.carry_submission(late.ref)
    assert await market.carry_task(task.id) == "challenge"
    assert len(market.task(task.id).places) == 1


async def test_a_result_becomes_final_when_its_challenges_are_over_and_stays_so(market: Market) -> None:
    task = await market.opened()
    found = await market.judged(task, "ada")
    await market.carry_task(task.id)
    early = finalise(market.context(), task.id)
    assert (early.state, early.until) == ("challenge", market.task(task.id).challenge_until)
    final = market.final(task.id)
    market.clock.advance(days=3)
    assert (finalise(market.context(), task.id).state, market.task(task.id)) == ("final", final)
    assert final.winner == found["ada"].id
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]


async def test_a_task_that_is_being_drafted_has_nothing_to_close(market: Market) -> None:
    task = market.created()
    progress = await close(market.context(), task.id, deadline=task.deadline)
    assert progress.state == "drafting"
