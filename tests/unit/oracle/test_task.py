"""A task's way from its creation to its final result, whatever comes twice or too late."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.briefs import dimensions
from tests.support.records import a_spend
from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.errors import ConflictError, InputError
from touchstone.judges.spends import paying
from touchstone.oracle.events import events_between
from touchstone.oracle.model import Brief, TaskPath
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import (
    LONGEST_CONTEST,
    MAX_CHALLENGES,
    MAX_DEADLINE_MOVES,
    Task,
    TaskRequest,
    carried,
    challenged,
    check_open,
    decided,
    draft_begun,
    draft_put_back,
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
LOCK_PAID = paying(partial(locked, dimensions=dimensions()), [a_spend()])
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


def test_a_deadline_moves_so_often_and_not_more_and_is_kept_in_utc() -> None:
    east = timezone(timedelta(hours=8))
    task = open_task()
    for hours in range(1, MAX_DEADLINE_MOVES + 1):
        task = with_deadline(task, (DEADLINE + timedelta(hours=hours)).astimezone(east), now=NOW)
    assert (task.deadline_moves, task.deadline.utcoffset()) == (MAX_DEADLINE_MOVES, timedelta(0))
    assert with_deadline(task, task.deadline.astimezone(east), now=NOW) is task
    with pytest.raises(ConflictError, match="all that it can be"):
        with_deadline(task, DEADLINE, now=NOW)
    asked = request(deadline=DEADLINE.astimezone(east))
    assert new_task(asked, tenant="acme", task_id="t1", now=NOW).deadline.utcoffset() == timedelta(0)


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


def test_tries_to_make_the_dimensions_are_one_at_a_time_and_say_why_they_failed() -> None:
    task = new_task(request(), tenant="acme", task_id="t1", now=NOW)
    begun = draft_begun(task, now=NOW)
    assert (begun.drafting.tries, begun.drafting.not_before, draft_begun(begun, now=NOW) is begun) == (
        0,
        NOW + LEASE,
        True,
    )
    in_vain = partial(draft_put_back, failure="No key.", until=NOW, ended="limited")
    back = paying(in_vain, [a_spend()])(begun)
    assert (back.drafting.tries, back.failure, len(back.spends)) == (0, "No key.", 1)
    opened = LOCK_PAID(back)
    assert (opened.failure, len(opened.spends)) == (None, 2)
    assert draft_begun(opened, now=NOW) is opened
    assert draft_put_back(opened, "No key.", until=NOW, ended="limited") is opened
    while (now := task.drafting.not_before or NOW) - NOW < RETRY_PERIOD:
        task = draft_begun(task, now=now)
    assert draft_begun(task, now=now) is task


def test_challenges_hold_the_result_open_until_each_is_decided() -> None:
    one = contest_at("challenge")
    until = AFTER + timedelta(hours=1)
    both = challenged(challenged(one, "c1", now=AFTER), "c2", now=AFTER)
    assert (both.undecided, both.challenges, challenged(both, "c1", now=AFTER) is both) == (("c1", "c2"), 2, True)
    left = decided(both, "c1", PLACES[::-1])
    assert (left.undecided, left.challenges, left.places, left.winner) == (("c2",), 2, PLACES[::-1], "s1")
    assert decided(left, "c1", ()) is left
    with pytest.raises(ConflictError, match="not decided yet"):
        finalised(left, now=until)
    assert finalised(decided(left, "c2", None), now=until).places == PLACES[::-1]


@pytest.mark.parametrize(
    ("task", "at", "words"),
    [
        (open_task(), NOW, "no ranking yet"),
        (new_task(request(), tenant="acme", task_id="t1", now=NOW), NOW, "no ranking yet"),
        (contest_at("scoring"), AFTER, "no ranking yet"),
        (contest_at("final"), AFTER, "time for challenges is over"),
        (contest_at("challenge"), AFTER + timedelta(hours=1), "time for challenges is over"),
        (won(open_task("fastest_first"), "s1", now=NOW), NOW, "paid when it closes"),
        (contest_at("challenge").model_copy(update={"challenges": MAX_CHALLENGES}), AFTER, "all that it can be"),
    ],
)
def test_a_ranking_is_challenged_in_its_time_and_so_often(task: Task, at: datetime, words: str) -> None:
    with pytest.raises(ConflictError, match=words):
        challenged(task, "c9", now=at)


def test_steps_of_the_other_path_are_refused() -> None:
    with pytest.raises(ConflictError, match="ends with its ranking"):
        nobody_won(contest_at("scoring"), now=AFTER)
    race = open_task("fastest_first")
    assert nobody_won(race, now=NOW) is race


STEPS: dict[str, Callable[[Task, datetime], Task]] = {
    "begin": lambda task, now: draft_begun(task, now=now),
    "lock": lambda task, _: LOCK_PAID(task),
    "give up": lambda task, _: given_up(task, "No judge."),
    "move": lambda task, now: with_deadline(task, DEADLINE + timedelta(days=1), now=now),
    "carry": lambda task, now: carried(task, now + timedelta(hours=1)),
    "win": lambda task, now: won(task, "s1", now=now),
    "win again": lambda task, now: won(task, "s2", now=now),
    "end": lambda task, now: ended(task, now=now),
    "nobody": lambda task, now: nobody_won(task, now=now),
    "rank": lambda task, now: ranked(task, PLACES, now=now),
    "challenge": lambda task, now: challenged(task, "c1", now=now),
    "uphold": lambda task, _: decided(task, "c1", PLACES[::-1]),
    "reject": lambda task, _: decided(task, "c1", None),
    "finalise": lambda task, now: finalised(task, now=now),
}
ORDER = ("drafting", "open", "scoring", "challenge", "final", "failed")


@given(
    st.sampled_from(["fastest_first", "quality_first"]),
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.sampled_from([0.0, 0.0, 0.02, 1.0, 7.0])), max_size=30),
)
def test_r20_whatever_comes_in_whatever_order_and_twice_goes_one_way_tells_each_event_once_and_ends_for_good(
    path: TaskPath, moves: list[tuple[str, float]]
) -> None:
    task, now = new_task(request(path), tenant="acme", task_id="t1", now=NOW), NOW
    told: list[str] = []
    for name, days in moves:
        now += timedelta(days=days)
        try:
            after = STEPS[name](task, now)
        except (ConflictError, InputError):
            continue
        if name not in {"challenge", "move"}:
            assert STEPS[name](after, now) is after
        assert ORDER.index(after.state) >= ORDER.index(task.state)
        told += [event.kind for event in events_between(task, after)]
        if task.state in {"final", "failed"}:
            assert after is task
        if after.state == "final":
            assert after.undecided == ()
            assert after.final_at is not None
        if task.closed_at is not None:
            assert after.closed_at == task.closed_at
        task = after
    assert len(told) == len(set(told))
    assert ("payout.due" in told) == (task.state == "final" and task.winner is not None)
    assert Task.model_validate_json(task.model_dump_json()) == task
