"""A submission is in or out, judged once, and never moves once its task is decided."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.oracle import COMPARED, DEADLINE, failed_gate, passed_gate, scoring, unjudged
from tests.support.oracle_steps import ended, finalised, handed_in, opened, ranked, scored_at
from tests.support.records import START, HandClock, a_spend
from tests.support.store_faults import cancelled, losing_replies, refusing
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError, TooLargeError
from touchstone.oracle.handing_in import MAX_SUBMISSION_BYTES, SubmissionRequest
from touchstone.oracle.model import MAX_SUBMISSION_CHARS, CriterionCheck, GateCheck
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import (
    MAX_REVISIONS,
    Submission,
    compared,
    gated,
    given_up,
    recompared,
    rescored,
    scored,
)
from touchstone.oracle.task import Task
from touchstone.records import Artifacts, Judgements, Tasks, new_ulid
from touchstone.records.judgements import CHALLENGED
from touchstone.records.submissions import SUBMISSION, Submissions
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

REQUEST = SubmissionRequest(submitter="writer-1", text="# Apples\n\nThe harvest was good.")


@pytest.fixture
def task(tasks: Tasks) -> Task:
    return opened(tasks)


def decided(tasks: Tasks, task: Task, clock: HandClock, *places: str) -> Task:
    """The contest with its ranking."""
    clock.now = DEADLINE
    ended(tasks, task)
    ranking = tuple(Place(submission_id=one, rank=rank, final_score=70.0) for rank, one in enumerate(places, start=1))
    return ranked(tasks, task, ranking)


def test_a_submission_is_read_back_with_its_text_and_met_again_by_a_repeat_even_after_the_deadline(
    submissions: Submissions, task: Task, clock: HandClock
) -> None:
    submission_id = new_ulid(START)
    added = submissions.add(task.ref, submission_id=submission_id, request=REQUEST)
    assert (added.state, added.revision, added.submitted_at) == ("received", 1, clock())
    assert submissions.get(added.ref) == added
    assert submissions.text(added) == REQUEST.text
    clock.advance(days=30)
    assert submissions.add(task.ref, submission_id=submission_id, request=REQUEST) == added
    for changes in ({"text": "Another text."}, {"submitter": "writer-2"}):
        with pytest.raises(ConflictError, match="another request"):
            submissions.add(task.ref, submission_id=submission_id, request=REQUEST.model_copy(update=changes))
    assert list(submissions.of_task(task.ref)) == [added]


def test_a_file_is_kept_as_it_was_when_it_was_handed_in(
    submissions: Submissions, task: Task, artifacts: Artifacts
) -> None:
    key = "acme/uploads/report.md"
    artifacts.put_bytes(tenant="acme", key=key, data=b"\xef\xbb\xbf# Apples")
    request = SubmissionRequest(submitter="writer-1", text_key=key)
    one = submissions.add(task.ref, submission_id=new_ulid(START), request=request)
    artifacts.put_bytes(tenant="acme", key=key, data=b"# Pears")
    assert (submissions.text(one), one.uploaded_key) == ("# Apples", key)
    assert submissions.add(task.ref, submission_id=one.id, request=request) == one


def test_what_cannot_be_taken_is_refused_and_leaves_the_submitter_free(
    submissions: Submissions, task: Task, artifacts: Artifacts
) -> None:
    artifacts.put_bytes(tenant="acme", key="acme/uploads/large", data=b"x" * (MAX_SUBMISSION_BYTES + 1))
    artifacts.put_bytes(tenant="acme", key="acme/uploads/picture", data=b"\x89PNG\r\n")
    artifacts.put_bytes(tenant="rival", key="rival/uploads/1", data=b"Theirs.")
    artifacts.put_bytes(tenant="acme", key="acme/submissions/theirs.md", data=b"Another submitter's work.")
    refused: list[tuple[dict[str, str], type[Exception]]] = [
        ({"text": " \n"}, InputError),
        ({"text": "x" * (MAX_SUBMISSION_CHARS + 1)}, TooLargeError),
        ({"text_key": "acme/uploads/large"}, TooLargeError),
        ({"text_key": "acme/uploads/picture"}, InputError),
        ({"text_key": "acme/uploads/none"}, NotFoundError),
        ({"text_key": "rival/uploads/1"}, NotFoundError),
        ({"text_key": "acme/submissions/theirs.md"}, NotFoundError),
        ({"text_key": "acme/../rival/uploads/1"}, NotFoundError),
    ]
    for fields, error in refused:
        request = SubmissionRequest.model_validate({"submitter": "writer-1"} | fields)
        with pytest.raises(error):
            submissions.add(task.ref, submission_id=new_ulid(START), request=request)
    assert list(submissions.of_task(task.ref)) == []
    assert not submissions.has_submitted(task.ref, "writer-1")
    assert handed_in(submissions, task).revision == 1


def test_another_tenants_task_and_submissions_are_just_missing(
    submissions: Submissions, judgements: Judgements, tasks: Tasks, task: Task
) -> None:
    one = handed_in(submissions, task)
    theirs, elsewhere = replace(one.ref, tenant="rival"), replace(one.ref, task_id=opened(tasks).id)
    there = replace(task.ref, tenant="rival")
    steps: list[Callable[[], object]] = [
        lambda: submissions.add(there, submission_id=one.id, request=REQUEST),
        lambda: submissions.get(theirs),
        lambda: submissions.get(elsewhere),
        lambda: submissions.get(replace(one.ref, id="RECORD")),
        lambda: judgements.judged(theirs, lambda it: gated(it, passed_gate())),
        lambda: judgements.judged(elsewhere, lambda it: scored(it, scoring(80))),
    ]
    for step in steps:
        with pytest.raises(NotFoundError, match=r"no (task|submission) with this id"):
            step()
    assert list(submissions.of_task(there)) == []
    assert list(submissions.of_task_from(there, behind=None)) == []
    assert submissions.of_submitter(there, "writer-1") == ()


def test_work_that_failed_its_gate_may_be_revised_ten_times_and_work_that_passed_stands(
    submissions: Submissions, judgements: Judgements, task: Task
) -> None:
    for revision in range(1, MAX_REVISIONS + 1):
        one = handed_in(submissions, task, text=f"Revision {revision}.")
        assert one.revision == revision
        with pytest.raises(ConflictError, match="being checked"):
            handed_in(submissions, task)
        judgements.judged(one.ref, lambda it: gated(it, failed_gate()))
    with pytest.raises(ConflictError, match="all that a task takes"):
        handed_in(submissions, task)
    mine = submissions.of_submitter(task.ref, "writer-1")
    assert [one.revision for one in mine] == list(range(1, MAX_REVISIONS + 1))
    other = handed_in(submissions, task, "writer-2")
    judgements.judged(other.ref, lambda it: gated(it, passed_gate()))
    with pytest.raises(ConflictError, match="passed the gate"):
        handed_in(submissions, task, "writer-2")


def test_r1_of_one_submitters_many_at_once_one_is_taken(submissions: Submissions, task: Task) -> None:
    barrier = Barrier(8)

    def hand_in(number: int) -> Submission | ConflictError:
        barrier.wait()
        try:
            return handed_in(submissions, task, text=f"Version {number}.")
        except ConflictError as error:
            return error

    with ThreadPoolExecutor(8) as workers:
        taken = [one for one in workers.map(hand_in, range(8)) if isinstance(one, Submission)]
    assert list(submissions.of_task(task.ref)) == taken
    assert len(taken) == 1


def test_r1_one_submission_delivered_many_times_at_once_is_one(submissions: Submissions, task: Task) -> None:
    barrier, submission_id = Barrier(8), new_ulid(START)

    def hand_in(_: int) -> Submission:
        barrier.wait()
        return submissions.add(task.ref, submission_id=submission_id, request=REQUEST)

    with ThreadPoolExecutor(8) as workers:
        got = {one.model_dump_json() for one in workers.map(hand_in, range(8))}
    (stored,) = submissions.of_task(task.ref)
    assert got == {stored.model_dump_json()}


@pytest.mark.parametrize("around", range(10))
def test_r21_what_is_read_after_the_deadline_is_all_there_will_ever_be(
    tasks: Tasks, table: "Table", artifacts: Artifacts, clock: HandClock, around: int
) -> None:
    """The clocks of two machines differ: one hands in before the deadline while the other ends the task at it."""
    task = opened(tasks)
    slow = HandClock(DEADLINE - timedelta(microseconds=1))
    submissions = Submissions(SUBMISSION, table, artifacts, clock=slow, pause=lambda _: None)
    clock.now = DEADLINE
    barrier = Barrier(9)

    def hand_in(number: int) -> Submission | None:
        barrier.wait()
        try:
            return handed_in(submissions, task, f"writer-{number}")
        except ConflictError:
            return None

    def end() -> list[Submission]:
        barrier.wait()
        ended(tasks, task)
        return list(submissions.of_task(task.ref))

    with ThreadPoolExecutor(9) as workers:
        ending = workers.submit(end)
        taken = {one.id for one in workers.map(hand_in, range(8)) if one is not None}
    assert {one.id for one in ending.result()} == taken
    assert {one.id for one in submissions.of_task(task.ref)} == taken


def test_r21_a_submission_in_the_deadlines_own_moment_is_out(
    submissions: Submissions, task: Task, clock: HandClock
) -> None:
    clock.now = DEADLINE
    with pytest.raises(ConflictError, match="no more submissions"):
        handed_in(submissions, task)
    clock.now = DEADLINE - timedelta(microseconds=1)
    assert handed_in(submissions, task).submitted_at < DEADLINE


def test_the_whole_way_keeps_every_part_once(submissions: Submissions, judgements: Judgements, task: Task) -> None:
    one = handed_in(submissions, task)
    spends = [a_spend()]
    steps: list[Callable[[], Submission]] = [
        lambda: judgements.judged(one.ref, lambda it: gated(it, passed_gate()), spends=spends),
        lambda: judgements.judged(one.ref, lambda it: scored(it, scoring(80)), spends=spends),
        lambda: judgements.judged(one.ref, lambda it: compared(it, COMPARED), spends=spends),
        lambda: judgements.judged(one.ref, lambda it: given_up(it, unjudged("scoring")), spends=spends),
    ]
    for done, step in enumerate(steps):
        first = step()
        for repeated in steps[: done + 1]:
            assert repeated() == first
    stored = submissions.get(one.ref)
    assert (stored.state, stored.individual) == ("scored", scoring(80))
    assert (stored.comparisons, len(stored.spends)) == (COMPARED, 3)


def test_a_submission_that_nobody_could_judge_says_so(
    submissions: Submissions, judgements: Judgements, task: Task
) -> None:
    one = handed_in(submissions, task)
    judgements.judged(one.ref, lambda it: gated(it, passed_gate()))
    after = judgements.judged(one.ref, lambda it: given_up(it, unjudged("scoring")))
    assert (after.state, after.failure, after.contender) == ("unscored", unjudged("scoring"), None)


def test_nothing_moves_once_a_contest_is_ranked_but_by_a_challenge_and_nothing_at_all_once_it_is_final(
    submissions: Submissions, judgements: Judgements, tasks: Tasks, task: Task, clock: HandClock
) -> None:
    one = scored_at(submissions, judgements, task, 80)
    late = handed_in(submissions, task, "writer-2")
    assert judgements.judged(one.ref, lambda it: rescored(it, scoring(90)), during=CHALLENGED) == one
    decided(tasks, task, clock, one.id)
    assert judgements.judged(one.ref, lambda it: compared(it, COMPARED)) == one
    missed = judgements.judged(late.ref, lambda it: gated(it, passed_gate()), spends=[a_spend()])
    assert (missed.state, missed.gate, len(missed.spends)) == ("overtaken", None, 1)
    assert judgements.judged(late.ref, lambda it: gated(it, passed_gate()), spends=[a_spend()]) == missed
    judgements.judged(one.ref, lambda it: rescored(it, scoring(90)), during=CHALLENGED)
    again = judgements.judged(one.ref, lambda each: recompared(each, COMPARED), during=CHALLENGED)
    assert (again.individual, again.comparisons) == (scoring(90), COMPARED)
    clock.advance(hours=1)
    finalised(tasks, task)
    assert judgements.judged(one.ref, lambda it: rescored(it, scoring(10)), during=CHALLENGED) == again
    assert judgements.judged(one.ref, lambda each: recompared(each, ()), during=CHALLENGED) == again
    assert submissions.get(one.ref) == again


def test_a_task_that_is_decided_while_scores_are_written_stays_as_it_was_decided(
    submissions: Submissions, judgements: Judgements, tasks: Tasks, table: "Table"
) -> None:
    """The step read the task as open; another one wins before its transaction, which then does not hold."""
    task = opened(tasks, "fastest_first")
    winner, slow = (scored_at(submissions, judgements, task, 80), handed_in(submissions, task, "writer-2"))
    judgements.judged(slow.ref, lambda it: gated(it, passed_gate()))
    client = table.meta.client
    won: list[bool] = []

    def win_first(**_: Any) -> None:
        if not won:
            won.append(True)
            tasks.win(submission=winner)

    client.meta.events.register_first("before-call.dynamodb.TransactWriteItems", win_first)
    try:
        after = judgements.judged(slow.ref, lambda it: scored(it, scoring(95)))
    finally:
        client.meta.events.unregister("before-call.dynamodb.TransactWriteItems", win_first)
    assert (after.state, after.individual) == ("overtaken", None)
    assert tasks.get(task.ref).winner == winner.id


def test_every_submission_of_a_task_is_read_once_newest_or_oldest_first(
    submissions: Submissions, tasks: Tasks, task: Task
) -> None:
    ids = [new_ulid(START + timedelta(seconds=number)) for number in range(5)]
    for number, each in enumerate(ids):
        request = SubmissionRequest(submitter=f"writer-{number}", text="Apples.")
        submissions.add(task.ref, submission_id=each, request=request)
    handed_in(submissions, opened(tasks))
    assert [one.id for one in submissions.of_task_from(task.ref, behind=None)] == ids[::-1]
    assert [one.id for one in submissions.of_task_from(task.ref, behind=ids[3])] == ids[2::-1]
    assert [one.id for one in submissions.of_task_from(task.ref, behind=ids[1], oldest=True)] == ids[2:]
    assert [one.id for one in submissions.of_task(task.ref)] == ids


def test_a_submission_is_found_as_unfinished_until_it_is_judged(
    submissions: Submissions, judgements: Judgements, task: Task, clock: HandClock
) -> None:
    one = handed_in(submissions, task)
    assert submissions.unfinished(older_than=timedelta(minutes=10)) == ()
    clock.advance(minutes=11)
    (found,) = submissions.unfinished(older_than=timedelta(minutes=10))
    assert found == Reference("acme", "submission", one.id, task.id)
    judgements.judged(one.ref, lambda it: gated(it, passed_gate()))
    assert len(submissions.unfinished(older_than=timedelta(minutes=10))) == 1
    judgements.judged(one.ref, lambda it: scored(it, scoring(80)))
    assert submissions.unfinished(older_than=timedelta(minutes=10)) == ()


def test_r16_a_submission_whose_answer_was_lost_is_the_same_submission_when_repeated(
    submissions: Submissions, task: Task, table: "Table"
) -> None:
    submission_id = new_ulid(START)
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        submissions.add(task.ref, submission_id=submission_id, request=REQUEST)
    again = submissions.add(task.ref, submission_id=submission_id, request=REQUEST)
    assert list(submissions.of_task(task.ref)) == [again]


@pytest.mark.parametrize("error", ["ThrottlingException", cancelled("ItemCollectionSizeLimitExceeded", "None", "None")])
def test_r16_a_submission_that_the_store_refused_is_out_and_may_be_repeated(
    submissions: Submissions, task: Task, table: "Table", error: Any
) -> None:
    with refusing(table.meta.client, "TransactWriteItems", error), pytest.raises(StoreError):
        handed_in(submissions, task)
    assert list(submissions.of_task(task.ref)) == []
    assert handed_in(submissions, task).revision == 1


def test_r16_a_task_that_keeps_changing_is_reported_and_the_submission_may_be_repeated(
    submissions: Submissions, task: Task, table: "Table"
) -> None:
    changed = cancelled("None", "ConditionalCheckFailed", "None")
    with (
        refusing(table.meta.client, "TransactWriteItems", changed, times=100),
        pytest.raises(StoreError, match="repeat"),
    ):
        handed_in(submissions, task)
    with refusing(table.meta.client, "TransactWriteItems", changed, times=3):
        assert handed_in(submissions, task).revision == 1


def test_r16_feedback_larger_than_an_item_is_never_lost_or_cut(
    submissions: Submissions, judgements: Judgements, task: Task
) -> None:
    one = handed_in(submissions, task, text="解" * 900_000)
    long = CriterionCheck(criterion="c", passed=False, reason="理" * 20_000, revision_hint="h")
    check = GateCheck(criteria_checks=(long,) * 20)
    judged = judgements.judged(one.ref, lambda it: gated(it, check))
    assert submissions.get(one.ref) == judged
    assert judged.gate == check
    assert submissions.text(one) == "解" * 900_000


def test_r16_scores_whose_answer_was_lost_are_kept_once(
    submissions: Submissions, judgements: Judgements, task: Task, table: "Table"
) -> None:
    one = handed_in(submissions, task)
    judgements.judged(one.ref, lambda it: gated(it, passed_gate()))
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        judgements.judged(one.ref, lambda it: scored(it, scoring(80)), spends=[a_spend()])
    again = judgements.judged(one.ref, lambda it: scored(it, scoring(20)), spends=[a_spend()])
    assert (again.individual, len(again.spends)) == (scoring(80), 1)


def test_r1_of_many_gate_checks_of_one_submission_at_once_the_first_counts(
    submissions: Submissions, judgements: Judgements, task: Task
) -> None:
    one, barrier = handed_in(submissions, task), Barrier(8)

    def check(number: int) -> Submission:
        barrier.wait()
        return judgements.judged(one.ref, lambda it: gated(it, passed_gate() if number % 2 else failed_gate()))

    with ThreadPoolExecutor(8) as workers:
        got = {each.model_dump_json() for each in workers.map(check, range(8))}
    assert got == {submissions.get(one.ref).model_dump_json()}
