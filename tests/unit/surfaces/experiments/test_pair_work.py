"""The pairs of an experiment as records: steps are pure, a pair ends once, and what was paid is told once."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.quizzes import experiment
from tests.support.records import a_spend
from touchstone.attempts import RETRY_PERIOD
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pair_work import PairKept, PairSums, PairTask, PairWork, pair_over, pair_put_back
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.preference import no_preference
from touchstone.surfaces.measurement import Unmeasured

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
WHY = Unmeasured(reason="overloaded", details=("It is busy.",))
PAIR = PairWork(tenant="acme", experiment_id="e", number=7, at=NOW)


def _result(*costs: float, cached: bool = False) -> PairResult:
    side = Measured(material=None, results={})
    spends = tuple(a_spend(cost_usd=cost, cached=cached) for cost in costs)
    preference = no_preference("not_asked")
    return PairResult(
        number=7, item="i", source="s", language="en", a=side, b=side, preference=preference, spends=spends
    )


def test_one_at_a_time_tries_a_pair_and_for_days_at_most() -> None:
    one, now = PAIR, NOW
    while now - NOW < RETRY_PERIOD:
        one = one.begun(now=now)
        assert (one.attempts.tries, one.at) == (0, now)
        assert one.begun(now=now) is one
        now = one.attempts.not_before or NOW
    assert one.begun(now=now) is one


def test_a_pair_that_is_put_back_says_why_and_when_and_what_it_cost_so_far() -> None:
    back = pair_put_back(PAIR.begun(now=NOW), WHY, PairSums(cost_usd=0.5), until=LATER, ended="limited", now=NOW)
    assert (back.attempts.tries, back.attempts.not_before, back.failure, back.cost_usd) == (0, LATER, WHY, 0.5)
    over = pair_over(back, None, PairSums(cost_usd=0.7), now=LATER)
    assert (over.over, over.failure, over.cost_usd, over.id) == (True, None, 0.7, "e-7")


def test_a_pair_ends_once_and_what_came_later_is_only_paid() -> None:
    over = pair_over(PAIR, WHY, PairSums(cost_usd=0.5), now=NOW)
    assert over.begun(now=LATER) is over
    assert pair_over(over, None, PairSums(cost_usd=0.5), now=LATER) is over
    assert pair_put_back(over, WHY, PairSums(cost_usd=0.2), until=LATER, ended="unread", now=LATER) is over
    late = pair_put_back(over, WHY, PairSums(cost_usd=0.9), until=LATER, ended="unread", now=LATER)
    assert (late.over, late.failure, late.cost_usd) == (True, WHY, 0.9)


def test_what_a_later_try_found_in_the_cache_is_not_paid_again() -> None:
    first = PairKept.of(_result(0.1, 0.2), None)
    again = PairKept.of(_result(0.0, 0.0, cached=True), first)
    assert [one.cost_usd for one in again.paid] == [0.1, 0.2]
    more = PairKept.of(_result(0.3), again)
    assert [one.cost_usd for one in more.paid] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("passages", [False, True])
def test_the_task_of_a_pair_is_the_pair(passages: bool) -> None:
    body = experiment(2)
    if passages:
        body["variants"][1]["passages"] = {"s1": {"id": "s1", "markdown": "Cut up otherwise."}}
    whole = Experiment.model_validate(body)
    for pair in whole.pairs:
        task = PairTask.of(pair, whole.terms)
        assert PairTask.model_validate_json(task.model_dump_json()).pair == pair
        assert (task.passages_b is not None) is (passages and pair.number == 1)
