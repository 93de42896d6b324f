"""Comparisons in the table: begun once, each dimension by one at a time, its first result kept."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.comparisons import FOUND, JUDGE
from tests.support.oracle import unjudged
from tests.support.oracle_steps import opened
from tests.support.records import HandClock, a_spend
from tests.support.store_faults import losing_replies
from touchstone.attempts import LEASE
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.judges.spends import paying
from touchstone.oracle import comparison as steps
from touchstone.oracle.compared import PURPOSE
from touchstone.oracle.comparison import RANKING_ROUND_ID, DimensionComparison
from touchstone.oracle.task import Task
from touchstone.records import Comparisons, Statistics, Tasks
from touchstone.records.artifacts import Artifacts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

DIMENSIONS = ("credibility", "clarity")
FINALISTS = ("s1", "s2", "s3")
WHY = unjudged("comparison")
_X, _Y = FOUND.orders[0].scores
FLIPPED = replace(
    FOUND,
    orders=(
        FOUND.orders[0],
        FOUND.orders[1].model_copy(
            update={"scores": (_X.model_copy(update={"score": _Y.score}), _Y.model_copy(update={"score": _X.score}))}
        ),
    ),
    spends=(a_spend(purpose=PURPOSE, model="m"), a_spend(purpose=PURPOSE, model="m", cached=True, cost_usd=0.0)),
)
"""One judge gave both orders of two of three finalists, the other way round, with one call."""


@pytest.fixture
def task(tasks: Tasks) -> Task:
    return opened(tasks)


@pytest.fixture
def statistics(table: "Table", artifacts: Artifacts, clock: HandClock) -> Statistics:
    return Statistics(table, artifacts, clock=clock)


@pytest.fixture
def begun(comparisons: Comparisons, task: Task) -> dict[str, DimensionComparison]:
    """The contest's own round, by dimension."""
    comparisons.begin_round(task.ref, round_id=RANKING_ROUND_ID, dimensions=DIMENSIONS, finalists=FINALISTS)
    return {one.dimension: one for one in comparisons.of_round(task.ref, round_id=RANKING_ROUND_ID)}


def test_a_round_is_begun_once_and_another_one_is_apart(
    comparisons: Comparisons, task: Task, begun: dict[str, DimensionComparison]
) -> None:
    assert set(begun) == set(DIMENSIONS)
    comparisons.change(begun["clarity"], lambda each: steps.with_result(each, FOUND))
    comparisons.begin_round(task.ref, round_id=RANKING_ROUND_ID, dimensions=DIMENSIONS, finalists=FINALISTS)
    states = {one.dimension: one.state for one in comparisons.of_round(task.ref, round_id=RANKING_ROUND_ID)}
    assert states == {"credibility": "waiting", "clarity": "compared"}
    with pytest.raises(ConflictError, match="another request"):
        comparisons.begin_round(task.ref, round_id=RANKING_ROUND_ID, dimensions=DIMENSIONS, finalists=("s1", "s2"))
    comparisons.begin_round(task.ref, round_id="c1", dimensions=("credibility",), finalists=("s1", "s2"))
    assert [one.finalists for one in comparisons.of_round(task.ref, round_id="c1")] == [("s1", "s2")]
    assert comparisons.of_round(task.ref, round_id="c") == ()


def test_another_tenants_comparisons_are_just_missing(
    comparisons: Comparisons, task: Task, begun: dict[str, DimensionComparison]
) -> None:
    assert comparisons.of_round(replace(task.ref, tenant="rival"), round_id=RANKING_ROUND_ID) == ()
    with pytest.raises(NotFoundError, match="no comparison"):
        comparisons.begin(replace(task.ref, tenant="rival"), round_id=RANKING_ROUND_ID, dimension="clarity")
    with pytest.raises(NotFoundError, match="no comparison"):
        comparisons.change(
            begun["clarity"].model_copy(update={"tenant": "rival"}), lambda each: steps.with_result(each, FOUND)
        )


def test_r1_of_many_who_would_compare_a_dimension_one_does_until_its_lease_runs_out(
    comparisons: Comparisons, task: Task, begun: dict[str, DimensionComparison], clock: HandClock
) -> None:
    barrier = Barrier(8)

    def begin(_: int) -> bool:
        barrier.wait()
        return comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")[1]

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(begin, range(8))) == 1
    assert comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="credibility")[1]
    clock.now += LEASE
    one, ours = comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")
    assert (ours, one.attempts.tries, one.attempts.not_before) == (True, 0, clock() + LEASE)


def test_the_first_result_is_kept_and_what_was_paid_before_it(
    comparisons: Comparisons, task: Task, begun: dict[str, DimensionComparison], clock: HandClock
) -> None:
    one, _ = comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")
    until = clock() + timedelta(minutes=1)
    comparisons.change(one, paying(partial(steps.put_back, why=WHY, until=until, ended="unread"), [a_spend()]))
    kept = comparisons.change(one, lambda each: steps.with_result(each, FOUND))
    assert (kept.state, kept.failure, len(kept.spends)) == ("compared", None, 2)
    assert comparisons.change(one, lambda each: steps.given_up(each, WHY)) == kept
    other = comparisons.change(begun["credibility"], lambda each: steps.given_up(each, WHY))
    assert (other.state, comparisons.change(other, lambda each: steps.with_result(each, FOUND))) == ("unscored", other)


def test_r16_a_try_whose_answer_was_lost_is_nobodys_until_its_lease_runs_out(
    comparisons: Comparisons,
    task: Task,
    begun: dict[str, DimensionComparison],
    table: "Table",
    clock: HandClock,
) -> None:
    with losing_replies(table.meta.client, "PutItem"), pytest.raises(StoreError):
        comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")
    assert not comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")[1]
    clock.now += LEASE
    assert comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")[1]


def test_what_a_comparison_counts_for_its_judge_counts_once_and_can_be_counted_again(
    comparisons: Comparisons,
    task: Task,
    begun: dict[str, DimensionComparison],
    table: "Table",
    statistics: Statistics,
) -> None:
    one, _ = comparisons.begin(task.ref, round_id=RANKING_ROUND_ID, dimension="clarity")
    assert statistics.judges("acme") == {}
    unread = [a_spend(purpose=PURPOSE, model="m", failure="unreadable")]
    until = one.created_at + timedelta(minutes=1)
    comparisons.change(one, paying(partial(steps.put_back, why=WHY, until=until, ended="unread"), unread))
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        comparisons.change(one, lambda each: steps.with_result(each, FLIPPED))
    for _ in range(2):
        comparisons.change(one, lambda each: steps.with_result(each, FLIPPED))
    comparisons.change(begun["credibility"], paying(partial(steps.given_up, why=WHY), unread))
    comparisons.change(begun["credibility"], paying(partial(steps.given_up, why=WHY), unread))
    (card,) = statistics.judges("acme").items()
    assert card[0] == JUDGE
    assert (card[1].answered, card[1].cached, card[1].unreadable) == (1, 1, 2)
    assert (card[1].both_orders, card[1].flips, card[1].one_order) == (1, 1, 2)

    def counters() -> dict[tuple[str, str], Any]:
        found = statistics.counters("acme").items()
        return {key: {name: value for name, value in item.items() if value} for key, item in found}

    before = counters()
    statistics.rebuild("acme")
    assert counters() == before
    table.delete_item(Key=dict(zip(("pk", "sk"), next(iter(before)), strict=True)))
    statistics.rebuild("acme")
    assert counters() == before
    assert statistics.judges("rival") == {}
