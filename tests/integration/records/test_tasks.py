"""A task's way through the table: every step once, won by exactly one, and told to the world exactly once."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.briefs import dimensions
from tests.support.oracle import DEADLINE, a_request, a_submission, scoring
from tests.support.oracle_steps import ended, ended_in_vain, finalised, handed_in, opened, ranked, scored_at
from tests.support.records import START, HandClock
from tests.support.store_faults import cancelled, losing_replies, refusing
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError
from touchstone.oracle.challenge import ChallengeRequest
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task, decided, given_up, locked, with_deadline
from touchstone.records import Challenges, Judgements, Outbox, Submissions, Tasks, new_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


def events_of(outbox: Outbox, task: Task) -> Counter[str]:
    return Counter(one.event.kind for one in outbox.of_task(task.ref))


def passing(task: Task, number: int = 0) -> Submission:
    """A submission whose scores close a task; `win` asks no more of it."""
    one = new_ulid(START + timedelta(seconds=number))
    return a_submission(tenant=task.tenant, task_id=task.id, id=one, state="scored", individual=scoring(80))


def test_a_task_is_read_back_as_it_was_created_and_a_repeat_meets_it_even_after_its_deadline(
    tasks: Tasks, clock: HandClock
) -> None:
    task_id = new_ulid(START)
    created = tasks.add(Reference("acme", "task", task_id), a_request())
    assert tasks.get(Reference("acme", "task", task_id)) == created
    assert (created.state, created.created_at, created.deadline) == ("drafting", clock(), DEADLINE)
    clock.advance(days=30)
    assert tasks.add(Reference("acme", "task", task_id), a_request()) == created
    with pytest.raises(ConflictError, match="another request"):
        tasks.add(Reference("acme", "task", task_id), a_request(owner="buyer-2"))
    with pytest.raises(InputError, match="deadline is past"):
        tasks.add(Reference("acme", "task", new_ulid(START)), a_request())


def test_another_tenants_task_is_just_missing(tasks: Tasks, outbox: Outbox) -> None:
    task = opened(tasks)
    theirs = replace(task.ref, tenant="rival")
    steps: list[Callable[[], object]] = [
        lambda: tasks.get(theirs),
        lambda: tasks.get(Reference("acme", "task", "nonsense")),
        lambda: tasks.change(theirs, lambda one: one),
        lambda: tasks.win(submission=passing(task).model_copy(update={"tenant": "rival"})),
    ]
    for step in steps:
        with pytest.raises(NotFoundError, match="no task with this id"):
            step()
    assert outbox.of_task(theirs) == ()


def test_r20_every_step_of_a_contest_repeated_after_its_effect_changes_nothing_and_tells_nothing_twice(
    tasks: Tasks, outbox: Outbox, clock: HandClock
) -> None:
    task = tasks.add(Reference("acme", "task", new_ulid(START)), a_request())
    places = (Place(submission_id="s1", rank=1, final_score=81.0), Place(submission_id="s2", rank=2, final_score=70.0))
    steps: list[tuple[float, Callable[[], Task]]] = [
        (0, lambda: tasks.change(task.ref, lambda one: locked(one, dimensions()))),
        (7, lambda: ended(tasks, task)),
        (0, lambda: ranked(tasks, task, places)),
        (1, lambda: finalised(tasks, task)),
    ]
    told = [{}, {"task.closed": 1}, {"task.closed": 1}, {"task.closed": 1, "result.final": 1, "payout.due": 1}]
    for done, (days, step) in enumerate(steps):
        clock.advance(days=days)
        first = step()
        for _, repeated in steps[: done + 1]:
            assert repeated() == first
        assert events_of(outbox, task) == told[done]
    final = tasks.get(task.ref)
    assert (final.state, final.winner, final.places) == ("final", "s1", places)
    assert {one.event.winner for one in outbox.of_task(task.ref)} == {None, "s1"}


def test_a_contest_that_nobody_won_is_final_and_pays_nobody(tasks: Tasks, outbox: Outbox, clock: HandClock) -> None:
    task = opened(tasks)
    clock.advance(days=7)
    ended(tasks, task)
    ranked(tasks, task, ())
    clock.advance(days=1)
    assert finalised(tasks, task).winner is None
    assert events_of(outbox, task) == {"task.closed": 1, "result.final": 1}


def test_a_fastest_first_task_ends_without_a_winner_at_its_deadline(
    tasks: Tasks, outbox: Outbox, clock: HandClock
) -> None:
    task = opened(tasks, "fastest_first")
    with pytest.raises(ConflictError, match="has not come"):
        ended(tasks, task)
    clock.advance(days=7)
    assert (ended(tasks, task).state, events_of(outbox, task)) == ("scoring", {"task.closed": 1})
    assert (ended_in_vain(tasks, task).state, tasks.win(submission=passing(task)).winner) == ("final", None)
    assert events_of(outbox, task) == {"task.closed": 1, "result.final": 1}


def test_a_submission_of_before_the_deadline_wins_a_fastest_first_task_after_it(
    tasks: Tasks, outbox: Outbox, clock: HandClock
) -> None:
    task = opened(tasks, "fastest_first")
    clock.advance(days=7)
    closed = ended(tasks, task)
    clock.advance(hours=1)
    won = tasks.win(submission=passing(task))
    assert (won.state, won.closed_at, won.final_at) == ("final", closed.closed_at, clock())
    assert ended_in_vain(tasks, task) == won
    assert events_of(outbox, task) == {"task.closed": 1, "result.final": 1, "payout.due": 1}


def test_a_challenge_may_change_the_ranking_until_it_is_final(
    tasks: Tasks, challenges: Challenges, clock: HandClock
) -> None:
    task = opened(tasks)
    clock.advance(days=7)
    ended(tasks, task)
    ranked(tasks, task, (Place(submission_id="s1", rank=1, final_score=70.0),))
    request = ChallengeRequest(challenger="writer-2", submission_id="s2", reason="Mine is better.")
    made = challenges.add(task.ref, challenge_id=new_ulid(clock()), request=request)
    other = (Place(submission_id="s2", rank=1, final_score=75.0),)
    clock.advance(hours=1)
    with pytest.raises(ConflictError, match="not decided yet"):
        finalised(tasks, task)
    assert tasks.change(task.ref, lambda one: decided(one, made.id, other)).winner == "s2"
    final = finalised(tasks, task)
    assert tasks.change(task.ref, lambda one: decided(one, made.id, ())) == final


def test_a_task_that_could_not_be_set_up_says_why(tasks: Tasks) -> None:
    task = tasks.add(Reference("acme", "task", new_ulid(START)), a_request())
    failed = tasks.change(task.ref, lambda one: given_up(one, "No judge answered."))
    assert (failed.state, failed.failure) == ("failed", "No judge answered.")
    assert tasks.change(task.ref, lambda one: locked(one, dimensions())) == failed


def test_a_deadline_moves_while_it_lies_ahead(tasks: Tasks, clock: HandClock) -> None:
    task = opened(tasks)
    later = DEADLINE + timedelta(days=1)
    assert tasks.change(task.ref, lambda one: with_deadline(one, later, now=clock())).deadline == later
    clock.advance(days=8)
    with pytest.raises(ConflictError, match="cannot be moved"):
        tasks.change(task.ref, lambda one: with_deadline(one, later + timedelta(days=9), now=clock()))


def test_only_scores_that_reach_60_close_a_task_and_only_a_fastest_first_one(
    tasks: Tasks, submissions: Submissions, judgements: Judgements
) -> None:
    task = opened(tasks, "fastest_first")
    low = scored_at(submissions, judgements, task, 59)
    for one in (low, handed_in(submissions, task, "writer-2")):
        with pytest.raises(ConflictError, match="do not reach"):
            tasks.win(submission=one)
    high = scored_at(submissions, judgements, task, 60, "writer-3")
    assert (tasks.win(submission=high).winner, tasks.get(task.ref).state) == (high.id, "final")
    with pytest.raises(ConflictError, match="decided at its deadline"):
        tasks.win(submission=passing(opened(tasks)))


@pytest.mark.parametrize("around", range(20))
def test_r1_of_fifty_that_pass_at_once_one_closes_the_task_and_each_event_is_there_once(
    tasks: Tasks, outbox: Outbox, around: int
) -> None:
    """Every call is made twice, as messages come twice."""
    task = opened(tasks, "fastest_first")
    barrier = Barrier(50)

    def close(number: int) -> list[str | None]:
        barrier.wait()
        one = passing(task, number)
        return [tasks.win(submission=one).winner for _ in range(2)]

    with ThreadPoolExecutor(50) as workers:
        winners = {winner for pair in workers.map(close, range(50)) for winner in pair}
    closed = tasks.get(task.ref)
    assert winners == {closed.winner}
    assert closed.state == "final"
    assert events_of(outbox, task) == {"task.closed": 1, "result.final": 1, "payout.due": 1}
    assert {one.event.winner for one in outbox.of_task(task.ref) if one.event.kind != "task.closed"} == winners


def test_r16_a_close_whose_answer_was_lost_is_the_same_close_when_repeated(
    tasks: Tasks, outbox: Outbox, table: "Table"
) -> None:
    task = opened(tasks, "fastest_first")
    first = passing(task, 1)
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        tasks.win(submission=first)
    assert tasks.win(submission=first).winner == first.id
    assert tasks.win(submission=passing(task, 2)).winner == first.id
    assert events_of(outbox, task) == {"task.closed": 1, "result.final": 1, "payout.due": 1}


@pytest.mark.parametrize(
    "error", ["ThrottlingException", "InternalServerError", cancelled("ValidationError", "None", "None", "None")]
)
def test_r16_a_close_that_the_store_refused_changed_nothing_and_may_be_repeated(
    tasks: Tasks, outbox: Outbox, table: "Table", error: Any
) -> None:
    task = opened(tasks, "fastest_first")
    with refusing(table.meta.client, "TransactWriteItems", error, times=9), pytest.raises(StoreError):
        tasks.win(submission=passing(task))
    assert tasks.get(task.ref) == task
    assert events_of(outbox, task) == {}
    assert tasks.win(submission=passing(task)).state == "final"


def test_r16_collisions_with_other_transactions_pass(tasks: Tasks, outbox: Outbox, table: "Table") -> None:
    task = opened(tasks, "fastest_first")
    collision = cancelled("TransactionConflict", "None", "None", "None")
    with refusing(table.meta.client, "TransactWriteItems", collision, times=3) as refused:
        assert tasks.win(submission=passing(task)).state == "final"
    assert len(refused) == 3
    assert events_of(outbox, task)["payout.due"] == 1


def test_pages_hold_every_task_of_a_tenant_once_newest_first(tasks: Tasks) -> None:
    ids = [new_ulid(START + timedelta(seconds=number)) for number in range(5)]
    for each in ids:
        tasks.add(Reference("acme", "task", each), a_request())
    opened(tasks, tenant="rival")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = tasks.page(tenant="acme", limit=2, cursor=cursor)
        seen += [summary.id for summary in page.items]
        if (cursor := page.cursor) is None:
            break
    assert seen == ids[::-1]
    (theirs,) = tasks.page(tenant="rival").items
    assert (theirs.state, theirs.description, theirs.owner) == ("open", "Compare three databases.", "buyer-1")
    with pytest.raises(InputError, match="cursor"):
        tasks.page(tenant="rival", cursor=tasks.page(tenant="acme", limit=1).cursor)


def test_a_task_is_found_as_unfinished_while_a_step_is_due_and_not_after_its_end(
    tasks: Tasks, clock: HandClock
) -> None:
    task = tasks.add(Reference("acme", "task", new_ulid(START)), a_request())
    late = timedelta(minutes=10)

    def found() -> list[str]:
        clock.advance(minutes=11)
        return [one.id for one in tasks.unfinished(older_than=late)]

    assert found() == [task.id]
    tasks.change(task.ref, lambda one: locked(one, dimensions()))
    assert found() == []
    clock.advance(days=7)
    assert tasks.unfinished(older_than=clock() - DEADLINE) == ()
    assert tasks.unfinished(older_than=clock() - DEADLINE - timedelta(microseconds=1)) == (
        Reference("acme", "task", task.id),
    )
    ended(tasks, task)
    assert tasks.unfinished(older_than=late) == ()
    assert found() == [task.id]
    ranked(tasks, task, ())
    assert found() == []
    clock.advance(hours=1)
    assert found() == [task.id]
    finalised(tasks, task)
    assert found() == []
