"""A task as it is shown: its ranking to the parties alone, and not before there is one."""

from datetime import timedelta
from functools import partial

import pytest

from tests.support.briefs import dimensions
from tests.support.oracle import DEADLINE, NOW, a_request, a_task
from tests.support.records import a_spend
from touchstone.judges.spends import paying
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import Task, challenged, ended, finalised, given_up, locked, new_task, ranked, won
from touchstone.oracle.view import TaskView

PLACES = (Place(submission_id="s1", rank=1, final_score=81.0), Place(submission_id="s2", rank=None, final_score=None))
RANKED = ranked(ended(a_task(), now=DEADLINE), PLACES, now=DEADLINE)
FINAL = finalised(RANKED, now=DEADLINE + timedelta(hours=1))
DRAFTING = new_task(a_request(), tenant="acme", task_id="t1", now=NOW)


@pytest.mark.parametrize("party", [True, False])
@pytest.mark.parametrize(
    ("task", "ranking", "winner"),
    [
        (DRAFTING, None, None),
        (a_task(), None, None),
        (ended(a_task(), now=DEADLINE), None, None),
        (RANKED, PLACES, "s1"),
        (FINAL, PLACES, "s1"),
        (won(a_task("fastest_first"), "s9", now=NOW), None, "s9"),
    ],
)
def test_a_ranking_is_shown_to_parties_from_the_ranking_on(
    task: Task, ranking: tuple[Place, ...] | None, winner: str | None, *, party: bool
) -> None:
    view = TaskView.of(task, party=party)
    assert view.ranking == (ranking if party else None)
    assert (view.winner, view.state, view.deadline) == (winner, task.state, DEADLINE)


def test_what_the_dimensions_cost_is_told_where_it_is_known() -> None:
    task = paying(partial(locked, dimensions=dimensions()), [a_spend(), a_spend(cost_usd=None)])(DRAFTING)
    view = TaskView.of(task, party=False)
    assert (view.tokens, view.cost_usd, len(view.dimensions)) == (240, 0.000_123, 4)


def test_a_task_says_what_holds_its_result_open_and_why_it_could_not_be_set_up() -> None:
    open_result = challenged(RANKED, "c1", now=DEADLINE)
    assert TaskView.of(open_result, party=True).undecided_challenges == 1
    assert TaskView.of(given_up(DRAFTING, "No judge."), party=False).failure == "No judge."
