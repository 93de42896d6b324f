"""A task's way from its creation to its final result, whatever comes twice or too late."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.unit.oracle.samples import dimensions
from touchstone.errors import ConflictError, InputError
from touchstone.oracle.model import Brief, TaskPath
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import (
    LONGEST_CONTEST,
    Task,
    TaskRequest,
    challenged,
    check_open,
    decided,
    ended,
    finalised,
    given_up,
    locked,
    new_task,
    nobody_won,
    ranked,
    with_deadline,
    won,
)

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
DEADLINE = NOW + timedelta(days=7)
AFTER = DEADLINE + timedelta(seconds=1)
PLACES = (Place(submission_id="s1", rank=1, final_score=81.0), Place(submission_id="s2", rank=2, final_score=70.0))


def request(path: TaskPath = "quality_first", **changes: Any) -> TaskRequest:
    brief = Brief(description="Compare three databases.", acceptance_criteria=("Names a source for each figure.",))
    fields = {"brief": brief, "path": path, "owner": "buyer-1", "deadline": DEADLINE, "challenge_seconds": 3600}
    return TaskRequest.model_validate(fields | changes)


def open_task(path: TaskPath = "quality_first", **changes: Any) -> Task:
    return locked(new_task(request(path, **changes), tenant="acme", task_id="t1", now=NOW), dimensions())


def contest_at(state: str) -> Task:
    scoring = ended(open_task(), now=AFTER)
    challenge = ranked(scoring, PLACES, now=AFTER)
    final = finalised(challenge, now=AFTER + timedelta(hours=1))
    return {"open": open_task(), "scoring": scoring, "challenge": challenge, "final": final}[state]


def test_a_contest_goes_from_its_deadline_through_the_challenge_to_its_final_result() -> None:
    task = open_task()
    scoring = ended(task, now=DEADLINE)
    assert (scoring.state, scoring.closed_at) == ("scoring", DEADLINE)
    challenge = ranked(scoring, PLACES, now=AFTER)
    assert (challenge.state, challenge.winner, challenge.places) == ("challenge", "s1", PLACES)
    assert challenge.challenge_until == AFTER + timedelta(hours=1)
    with pytest.raises(ConflictError, match="still be challenged"):
        finalised(challenge, now=AFTER + timedelta(minutes=59))
    final = finalised(challenge, now=AFTER + timedelta(hours=1))
    assert (final.state, final.winner, final.final_at) == ("final", "s1", AFTER + timedelta(hours=1))


def test_the_first_that_passes_closes_a_fastest_first_task_and_no_second_does() -> None:
    closed = won(open_task("fastest_first"), "s1", now=NOW)
    assert (closed.state, closed.winner, closed.closed_at, closed.final_at) == ("final", "s1", NOW, NOW)
    assert won(closed, "s2", now=NOW) is closed
    assert ended(closed, now=AFTER) is closed


def test_a_submission_of_before_the_deadline_may_win_until_the_task_is_ended_and_not_after() -> None:
    task = open_task("fastest_first")
    assert won(task, "s1", now=AFTER).winner == "s1"
    closed = ended(task, now=AFTER)
    assert (closed.state, closed.closed_at, closed.final_at) == ("scoring", AFTER, None)
    late = won(closed, "s1", now=AFTER + timedelta(hours=1))
    assert (late.state, late.winner, late.closed_at) == ("final", "s1", AFTER)
    assert late.final_at == AFTER + timedelta(hours=1)
    over = nobody_won(closed, now=AFTER)
    assert (over.state, over.winner) == ("final", None)
    assert won(over, "s1", now=AFTER) is over


def test_a_contest_is_won_by_nobody_before_its_deadline() -> None:
    with pytest.raises(ConflictError, match="decided at its deadline"):
        won(open_task(), "s1", now=NOW)


def test_a_contest_without_survivors_has_no_winner() -> None:
    challenge = ranked(contest_at("scoring"), (), now=AFTER)
    assert (challenge.state, challenge.winner) == ("challenge", None)
    assert finalised(challenge, now=AFTER + timedelta(hours=1)).winner is None


@pytest.mark.parametrize(
    ("state", "step"),
    [
        ("open", lambda task: locked(task, ())),
        ("open", lambda task: given_up(task, "No judge.")),
        ("scoring", lambda task: ended(task, now=AFTER)),
        ("challenge", lambda task: ranked(task, (), now=AFTER + timedelta(minutes=5))),
        ("final", lambda task: ranked(task, (), now=AFTER)),
        ("final", lambda task: finalised(task, now=AFTER + timedelta(days=1))),
    ],
)
def test_r20_a_step_that_comes_twice_changes_nothing(state: str, step: Callable[[Task], Task]) -> None:
    task = contest_at(state)
    assert step(task) is task


def test_a_result_that_is_final_never_changes() -> None:
    challenge = challenged(contest_at("challenge"), "c1", now=AFTER)
    other = (Place(submission_id="s2", rank=1, final_score=90.0),)
    assert decided(challenge, "c1", other).winner == "s2"
    final = finalised(decided(challenge, "c1", None), now=AFTER + timedelta(hours=1))
    assert decided(final, "c1", other) is final
    with pytest.raises(ConflictError, match="does not change any more"):
        challenged(final, "c2", now=AFTER)


@pytest.mark.parametrize(
    ("task", "at", "words"),
    [
        (open_task(), DEADLINE, "no more submissions"),
        (open_task(), AFTER, "no more submissions"),
        (contest_at("scoring"), NOW, "no more submissions"),
        (won(open_task("fastest_first"), "s1", now=NOW), NOW, "no more submissions"),
        (new_task(request(), tenant="acme", task_id="t1", now=NOW), NOW, "being made"),
        (given_up(new_task(request(), tenant="acme", task_id="t1", now=NOW), "No judge."), NOW, "create it anew"),
    ],
)
def test_r21_a_submission_is_in_before_the_deadline_and_out_from_that_moment_on(
    task: Task, at: datetime, words: str
) -> None:
    with pytest.raises(ConflictError, match=words):
        check_open(task, at)
    check_open(open_task(), DEADLINE - timedelta(microseconds=1))


def test_a_deadline_moves_either_way_while_it_lies_ahead() -> None:
    task = open_task()
    assert with_deadline(task, DEADLINE, now=NOW) is task
    assert with_deadline(task, DEADLINE + timedelta(days=1), now=NOW).deadline == DEADLINE + timedelta(days=1)
    sooner = with_deadline(task, NOW + timedelta(hours=1), now=NOW)
    assert ended(sooner, now=NOW + timedelta(hours=1)).state == "scoring"
    for late in (AFTER, DEADLINE):
        with pytest.raises(ConflictError, match="cannot be moved"):
            with_deadline(task, AFTER + timedelta(days=9), now=late)
    with pytest.raises(ConflictError, match="cannot be moved"):
        with_deadline(contest_at("scoring"), AFTER + timedelta(days=9), now=NOW)


@pytest.mark.parametrize("deadline", [NOW, NOW - timedelta(seconds=1), NOW + LONGEST_CONTEST + timedelta(days=1)])
def test_a_deadline_that_is_past_or_too_far_is_refused_with_its_place(deadline: datetime) -> None:
    asked = request(deadline=deadline)
    attempts: list[Callable[[], Task]] = [
        lambda: new_task(asked, tenant="acme", task_id="t1", now=NOW),
        lambda: with_deadline(open_task(), deadline, now=NOW),
    ]
    for attempt in attempts:
        with pytest.raises(InputError, match="deadline") as refused:
            attempt()
        assert refused.value.where == "deadline"


def test_a_deadline_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="timezone"):
        request(deadline=datetime(2026, 12, 1, 12, 0))  # noqa: DTZ001 - that is the point


def test_a_deadline_that_has_not_come_ends_nothing() -> None:
    with pytest.raises(ConflictError, match="has not come"):
        ended(open_task(), now=NOW)


def test_a_task_is_read_back_as_it_was_stored() -> None:
    for state in ("open", "scoring", "challenge", "final"):
        task = contest_at(state)
        assert Task.model_validate_json(task.model_dump_json()) == task
