"""Challenges in the table: each counted with its task, once, and found as long as it is not settled."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.support.oracle import DEADLINE, PLACES, READING, scoring, unjudged
from tests.support.oracle_steps import ended, finalised, opened, ranked
from tests.support.records import HandClock, a_spend
from tests.support.store_faults import losing_replies, refusing
from touchstone.attempts import LEASE
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.judges.spends import paying
from touchstone.oracle import challenge as steps
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import Task
from touchstone.records import Artifacts, Tasks, new_ulid
from touchstone.records.challenges import CHALLENGE, Challenges
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

REQUEST = ChallengeRequest(challenger="writer-2", submission_id="s2", reason="Mine is better.")
STANDS = (Place(submission_id="s1", rank=1, final_score=70.0),)


@pytest.fixture
def task(tasks: Tasks, clock: HandClock) -> Task:
    """A contest that is ranked, and may be challenged for an hour."""
    task = opened(tasks)
    clock.now = DEADLINE
    ended(tasks, task)
    return ranked(tasks, task, STANDS)


@pytest.fixture
def made(challenges: Challenges, task: Task, clock: HandClock) -> Challenge:
    return challenges.add(task.ref, challenge_id=new_ulid(clock()), request=REQUEST)


def test_a_challenge_is_counted_with_its_task_and_met_again_by_a_repeat_even_after_its_time(
    challenges: Challenges, tasks: Tasks, task: Task, made: Challenge, clock: HandClock
) -> None:
    assert challenges.get(made.ref) == made
    assert (tasks.get(task.ref).challenges, tasks.get(task.ref).undecided) == (1, (made.id,))
    clock.advance(days=1)
    assert challenges.add(task.ref, challenge_id=made.id, request=REQUEST) == made
    assert tasks.get(task.ref).challenges == 1
    with pytest.raises(ConflictError, match="another request"):
        challenges.add(task.ref, challenge_id=made.id, request=REQUEST.model_copy(update={"reason": "So."}))
    with pytest.raises(ConflictError, match="time for challenges is over"):
        challenges.add(task.ref, challenge_id=new_ulid(clock()), request=REQUEST)
    assert challenges.of_task(task.ref) == (made,)


def test_another_tenants_challenge_is_just_missing(challenges: Challenges, task: Task, made: Challenge) -> None:
    theirs = replace(task.ref, tenant="rival")
    steps: list[Callable[[], object]] = [
        lambda: challenges.add(theirs, challenge_id=made.id, request=REQUEST),
        lambda: challenges.get(replace(made.ref, tenant="rival")),
        lambda: challenges.get(replace(made.ref, id="RECORD")),
        lambda: challenges.begin(replace(made.ref, tenant="rival"), lambda one: one),
    ]
    for step in steps:
        with pytest.raises(NotFoundError, match=r"no (task|challenge) with this id"):
            step()
    assert challenges.of_task(theirs) == ()


def test_r1_many_challenges_at_once_are_all_counted_and_one_delivered_often_is_one(
    challenges: Challenges, tasks: Tasks, task: Task, clock: HandClock
) -> None:
    ids = [new_ulid(clock() + timedelta(seconds=number)) for number in range(4)]
    barrier = Barrier(8)

    def add(each: str) -> str:
        barrier.wait()
        return challenges.add(task.ref, challenge_id=each, request=REQUEST).id

    with ThreadPoolExecutor(8) as workers:
        assert sorted(workers.map(add, ids * 2)) == sorted(ids * 2)
    held = tasks.get(task.ref)
    assert (held.challenges, sorted(held.undecided)) == (4, ids)
    assert [one.id for one in challenges.of_task(task.ref)] == ids


def test_r16_a_challenge_whose_answer_was_lost_is_the_same_when_repeated_and_a_refused_one_is_none(
    challenges: Challenges, tasks: Tasks, task: Task, table: "Table", clock: HandClock
) -> None:
    challenge_id = new_ulid(clock())
    with refusing(table.meta.client, "TransactWriteItems", "ThrottlingException"), pytest.raises(StoreError):
        challenges.add(task.ref, challenge_id=challenge_id, request=REQUEST)
    assert (challenges.of_task(task.ref), tasks.get(task.ref)) == ((), task)
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        challenges.add(task.ref, challenge_id=challenge_id, request=REQUEST)
    assert challenges.add(task.ref, challenge_id=challenge_id, request=REQUEST).id == challenge_id
    assert tasks.get(task.ref).challenges == 1


def test_r1_of_many_who_would_score_again_one_does(challenges: Challenges, made: Challenge, clock: HandClock) -> None:
    barrier = Barrier(8)

    def begin(_: int) -> bool:
        barrier.wait()
        return challenges.begin(made.ref, lambda one: steps.begun(one, now=clock()))[1]

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(begin, range(8))) == 1
    until = clock() + timedelta(minutes=1)
    step = partial(steps.put_back, why=unjudged("scoring"), until=until, ended="limited")
    back = challenges.change(made.ref, paying(step, [a_spend()]))
    assert (back.attempts.tries, back.attempts.not_before, back.failure) == (0, until, unjudged("scoring"))


def test_r20_a_decision_is_kept_once(challenges: Challenges, made: Challenge, clock: HandClock) -> None:
    def stored(step: Callable[[Challenge], Challenge]) -> Challenge:
        return challenges.change(made.ref, step)

    rescored = partial(steps.rescored, scoring=scoring(90), readings=[READING], passages=[])
    again = stored(paying(rescored, [a_spend()]))
    assert stored(lambda one: steps.rescored(one, scoring(10), readings=[], passages=[])) == again
    assert stored(lambda one: steps.to_compare(one, ["s1", "s2"])).finalists == ("s1", "s2")
    upheld = stored(paying(partial(steps.decided, state="upheld", places=PLACES, now=clock()), [a_spend()]))
    assert (upheld.state, upheld.places, upheld.decided_at, len(upheld.spends)) == ("upheld", PLACES, clock(), 2)
    clock.advance(hours=1)
    assert stored(lambda one: steps.decided(one, "rejected", now=clock())) == upheld
    assert stored(lambda one: steps.unresolved(one, unjudged("scoring"), now=clock())) == upheld
    assert stored(lambda one: steps.carried(one, clock())) == upheld


def test_a_challenge_is_found_as_unfinished_until_it_is_settled_unless_somebody_carries_it(
    challenges: Challenges, task: Task, made: Challenge, clock: HandClock
) -> None:
    late = timedelta(minutes=10)

    def found() -> list[str]:
        return [one.id for one in challenges.unfinished(older_than=late)]

    assert found() == []
    clock.advance(minutes=11)
    (one,) = challenges.unfinished(older_than=late)
    assert one == Reference("acme", "challenge", made.id, task.id)
    challenges.change(made.ref, lambda one: steps.begun(one, now=clock()))
    assert found() == []
    clock.now += LEASE + late + timedelta(seconds=1)
    assert found() == [made.id]
    challenges.change(made.ref, lambda one: steps.carried(one, clock() + timedelta(hours=1)))
    assert found() == []
    clock.advance(hours=2)
    assert found() == [made.id]
    left = challenges.change(made.ref, lambda one: steps.unresolved(one, unjudged("scoring"), now=clock()))
    assert (left.state, found()) == ("unresolved", [made.id])
    challenges.change(made.ref, steps.settled)
    clock.advance(days=1)
    assert found() == []


def test_r21_a_challenge_in_the_last_moment_is_made_or_refused_and_never_left_behind_a_final_result(
    tasks: Tasks, table: "Table", artifacts: Artifacts, task: Task, clock: HandClock
) -> None:
    """The clocks of two machines differ: one challenges before the period ends while the other finalises at its end."""
    assert task.challenge_until is not None
    slow = HandClock(task.challenge_until - timedelta(microseconds=1))
    challenges = Challenges(CHALLENGE, table, artifacts, clock=slow, pause=lambda _: None)
    clock.now = task.challenge_until
    barrier = Barrier(5)

    def challenge(_: int) -> str | None:
        barrier.wait()
        try:
            return challenges.add(task.ref, challenge_id=new_ulid(slow()), request=REQUEST).id
        except ConflictError:
            return None

    def finalise() -> bool:
        barrier.wait()
        try:
            return finalised(tasks, task).state == "final"
        except ConflictError:
            return False

    with ThreadPoolExecutor(5) as workers:
        ending = workers.submit(finalise)
        made = {one for one in workers.map(challenge, range(4)) if one is not None}
    held = tasks.get(task.ref)
    assert (held.state == "final") == ending.result() == (not made)
    assert set(held.undecided) == {one.id for one in challenges.of_task(task.ref)} == made
