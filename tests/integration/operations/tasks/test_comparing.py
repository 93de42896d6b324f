"""Finalists are compared dimension by dimension, and no number is ever made up for what nobody could compare."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.judges import Line
from tests.support.market import Market
from tests.support.opinions import DIMENSIONS, unless
from tests.support.oracle_steps import ended
from touchstone.attempts import RETRY_PERIOD
from touchstone.errors import MisconfiguredError, NotFoundError, OverloadedError, RefusedError
from touchstone.judges.cache import MemoryCache
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.comparing import compare_dimension
from touchstone.operations.tasks.context import SETTLED_WITHIN
from touchstone.operations.tasks.ranking import rank_contest
from touchstone.oracle.comparison import COMPARISON_TRIES, RANKING_ROUND_ID, DimensionComparison
from touchstone.oracle.feedback import ScoringFeedback
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task

EMPTY: Line = {"entries": []}


async def at_its_deadline(market: Market, **scores: int) -> tuple[Task, dict[str, Submission]]:
    """A contest whose finalists are about to be compared."""
    market.opinions.scores = dict(scores)
    task = await market.opened()
    found = await market.judged(task, *scores)
    market.clock.now = task.deadline
    progress = await close(market.context(), task.id, deadline=task.deadline)
    assert (progress.state, progress.dimensions) == ("comparing", DIMENSIONS)
    return task, found


def kept(market: Market, task: Task, dimension: str) -> DimensionComparison:
    """What is stored of a dimension."""
    said = market.comparisons.of_round(task.ref, round_id=RANKING_ROUND_ID)
    return next(one for one in said if one.dimension == dimension)


def ranks(market: Market, task: Task, found: dict[str, Submission]) -> dict[str, int | None]:
    """The ranks, by writer."""
    writers = {one.id: writer for writer, one in found.items()}
    return {writers[place.submission_id]: place.rank for place in market.task(task.id).places}


async def test_an_entry_that_the_judge_fails_on_one_dimension_is_unscored_and_the_others_are_ranked(
    market: Market,
) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75, cleo=65, dora=61)
    market.opinions.misquoted = {("credibility", "ada")}
    for dimension in DIMENSIONS:
        assert await market.compared(task.id, dimension) == "compared"
    asked = market.script.prompts().count("claude/horizontal")
    assert asked > 2 * len(DIMENSIONS), "the dimension was tried again"
    assert kept(market, task, "credibility").attempts.tries == COMPARISON_TRIES - 1, "the last keeps what it can"
    assert rank_contest(market.context(), task.id).state == "challenge"
    assert ranks(market, task, found) == {"ben": 1, "cleo": 2, "ada": None, "dora": 4}
    view = market.reader("ada").submission(task.id, found["ada"].id)
    scoring = view.feedback[-1]
    assert isinstance(scoring, ScoringFeedback)
    assert (view.standing, scoring.unscored) == ("unscored", ("credibility",))
    assert (scoring.final_score, scoring.weighted_base, scoring.penalty, scoring.rank) == (None, None, None, None)
    assert {one.dimension for one in scoring.dimension_scores} == set(DIMENSIONS) - {"credibility"}
    assert market.final(task.id).winner == found["ben"].id


@pytest.mark.parametrize("line", [OverloadedError("503"), RefusedError("It refuses."), EMPTY])
async def test_a_judge_that_is_down_on_one_dimension_leaves_every_finalist_without_rank(
    market: Market, line: Line
) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75, cleo=65, dora=61)
    market.script.lines = {
        **market.script.lines,
        "horizontal": [unless("credibility", line, market.opinions.horizontal)],
    }
    assert await market.carry_task(task.id) == "challenge"
    assert kept(market, task, "credibility").state == "unscored"
    assert ranks(market, task, found) == {"ada": None, "ben": None, "cleo": None, "dora": 4}
    assert (market.task(task.id).winner, market.final(task.id).winner) == (None, None)
    assert market.bus.kinds() == ["result.final", "task.closed"]


async def test_finalists_are_compared_by_several_judges_and_each_is_paid_once(market: Market) -> None:
    market.script.providers, market.cache = ("claude", "openai", "gemini"), MemoryCache()
    market.opinions.scores = {"ada": 85, "ben": 75}
    market.opinions.second = {"ada": 65, "ben": 75}
    task = await market.opened(scoring_judges=3)
    found = await market.judged(task, "ada", "ben")
    market.clock.now = task.deadline
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "comparing"
    over = market.clock() + timedelta(minutes=5)
    market.script.lines = {
        **market.script.lines,
        "gemini/horizontal": [
            lambda asked: OverloadedError("503") if market.clock() < over else market.opinions.horizontal(asked)
        ],
    }
    first = await compare_dimension(market.context(), task.id, dimension="credibility")
    assert (first.state, first.reason) == ("waiting", "overloaded")
    assert await market.carry_task(task.id) == "challenge"
    prompts = market.script.prompts()
    for provider in ("claude", "openai"):
        assert prompts.count(f"{provider}/horizontal") == 2 * len(DIMENSIONS), "never paid twice"
    assert ranks(market, task, found) == {"ben": 1, "ada": 2}, "by the median, where the first judge prefers ada"
    view = market.reader("ada").submission(task.id, found["ada"].id)
    scoring = view.feedback[-1]
    assert isinstance(scoring, ScoringFeedback)
    assert scoring.final_score == 65.0
    for one in scoring.dimension_scores:
        assert sorted(vote.score or 0 for vote in one.votes) == [65.0, 65.0, 85.0]


async def test_an_overloaded_judge_is_waited_for_within_its_tries_and_what_it_then_says_counts(market: Market) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75)
    over = market.clock() + timedelta(minutes=5)
    market.script.lines = {
        **market.script.lines,
        "horizontal": [
            lambda asked: OverloadedError("503") if market.clock() < over else market.opinions.horizontal(asked)
        ],
    }
    first = await compare_dimension(market.context(), task.id, dimension="credibility")
    assert (first.state, first.reason) == ("waiting", "overloaded")
    assert market.tasks.unfinished(older_than=timedelta(0)) == ()
    for word in ("comparing", "comparing"):
        early = rank_contest(market.context(), task.id)
        assert (early.state, early.dimensions) == (word, DIMENSIONS)
    assert await market.carry_task(task.id) == "challenge"
    assert ranks(market, task, found) == {"ada": 1, "ben": 2}


async def test_a_want_of_a_key_waits_and_is_given_up_after_a_day_and_a_half(market: Market) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75)
    market.script.providers = ()
    first = await compare_dimension(market.context(), task.id, dimension="credibility")
    assert (first.state, first.reason, kept(market, task, "credibility").attempts.tries) == (
        "waiting",
        "misconfigured",
        0,
    )
    market.clock.now = task.deadline + SETTLED_WITHIN
    assert (await compare_dimension(market.context(), task.id, dimension="credibility")).state == "unscored"
    market.script.providers = ("claude",)
    assert await market.carry_task(task.id) == "challenge"
    assert ranks(market, task, found) == {"ada": None, "ben": None}


async def test_tries_that_were_each_interrupted_are_given_up(market: Market) -> None:
    task, _ = await at_its_deadline(market, ada=85, ben=75)
    since = market.clock()
    while market.clock() - since < RETRY_PERIOD:
        assert market.comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="credibility")[1]
        held = await compare_dimension(market.context(), task.id, dimension="credibility")
        assert held.state == "waiting"
        market.clock.now = held.until or since
    assert (await compare_dimension(market.context(), task.id, dimension="credibility")).state == "unscored"
    failure = kept(market, task, "credibility").failure
    assert failure is not None
    assert "interrupted" in failure.details[0]


async def test_r20_every_step_delivered_twice_and_at_once_asks_and_ranks_once(market: Market) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75, cleo=65)
    context = market.context()
    twice = [compare_dimension(context, task.id, dimension=each) for each in DIMENSIONS for _ in range(2)]
    assert {progress.state for progress in await asyncio.gather(*twice)} <= {"compared", "waiting"}
    assert market.script.prompts().count("claude/horizontal") == 2 * len(DIMENSIONS)
    assert await market.carry_task(task.id) == "challenge"
    ranked = market.task(task.id)
    assert rank_contest(market.context(), task.id).state == "challenge"
    assert (await compare_dimension(market.context(), task.id, dimension="credibility")).state == "compared"
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "challenge"
    assert market.task(task.id) == ranked
    assert ranks(market, task, found) == {"ada": 1, "ben": 2, "cleo": 3}
    assert market.script.prompts().count("claude/horizontal") == 2 * len(DIMENSIONS)


async def test_a_contest_whose_comparison_was_not_begun_is_not_ranked(market: Market) -> None:
    task = await market.opened()
    await market.judged(task, "ada", "ben")
    market.clock.now = task.deadline
    ended(market.tasks, task)
    progress = rank_contest(market.context(), task.id)
    assert (progress.state, progress.dimensions) == ("comparing", DIMENSIONS)
    with pytest.raises(NotFoundError, match="no comparison"):
        await compare_dimension(market.context(), task.id, dimension="credibility")


async def test_finalists_are_compared_by_labels_in_two_orders_that_are_kept(market: Market) -> None:
    task, found = await at_its_deadline(market, ada=85, ben=75, cleo=65)
    await market.compared(task.id, "credibility")
    said = kept(market, task, "credibility")
    assert set(said.labels.values()) == {one.id for one in found.values()}
    first, second = (order.order for order in said.orders)
    assert sorted(first) == sorted(second) == ["X", "Y", "Z"]
    assert all(one != other for one, other in zip(first, second, strict=True))
    for asked in market.script.asked:
        if asked.prompt == "horizontal":
            assert not [one.id for one in found.values() if one.id in asked.user]
            assert not [writer for writer in found if f"submitter: {writer}" in asked.user]


async def test_a_request_that_the_provider_takes_of_nobody_is_tried_and_then_given_up(market: Market) -> None:
    task, _ = await at_its_deadline(market, ada=85, ben=75)
    market.script.lines = {**market.script.lines, "horizontal": [MisconfiguredError("400")]}
    assert await market.compared(task.id, "credibility") == "unscored"
