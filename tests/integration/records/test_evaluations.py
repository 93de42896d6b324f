"""A deep evaluation as a state of its record: asked for once, held by one, done once, and never out of sight."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import START, HandClock, a_spend, an_answer, an_evaluation, finished
from tests.support.store_faults import losing_replies, one_call_at_a_time
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import RETRY_PERIOD
from touchstone.errors import ConflictError, NotFoundError, StoreError
from touchstone.records import Answers, Artifacts, Evaluations, Statistics, evaluation_request_id, is_ulid, new_ulid
from touchstone.records.evaluations import INTERRUPTED
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def statistics(table: "Table", artifacts: Artifacts, clock: HandClock) -> Statistics:
    return Statistics(table, artifacts, clock=clock)


@pytest.fixture
def asked(answers: Answers) -> AnswerRecord:
    """A finished answer whose evaluation is waiting."""
    return finished(answers, an_answer(deep_evaluation_wanted=True))


def test_the_whole_way(answers: Answers, evaluations: Evaluations, statistics: Statistics) -> None:
    record = finished(answers, an_answer())
    assert evaluations.request(record.ref).evaluation.state == "waiting"
    claim = evaluations.claim(record.ref)
    assert claim.granted
    assert (claim.record.evaluation.state, claim.record.evaluation.tries) == ("running", 0)
    done = evaluations.complete(record.ref, evaluation=an_evaluation(), spends=[a_spend(purpose="evaluate")])
    assert answers.get(record.ref) == done
    assert (done.evaluation.state, done.deep_evaluation) == ("done", an_evaluation())
    counted = {"waiting": 0, "deferred": 0, "submitted": 0, "running": 0, "done": 1, "failed": 0}
    assert statistics.evaluations("acme") == counted
    assert statistics.trends("acme", days=1)[0].evaluations == 1


def test_what_was_asked_for_already_stays_as_it_is(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock
) -> None:
    clock.advance(hours=1)
    assert evaluations.request(asked.ref) == asked
    evaluations.claim(asked.ref)
    assert evaluations.request(asked.ref).evaluation.state == "running"


def test_an_unfinished_answer_is_not_evaluated(answers: Answers, evaluations: Evaluations) -> None:
    record = answers.create(an_answer())
    with pytest.raises(ConflictError):
        evaluations.request(record.ref)


def test_what_nobody_asked_for_cannot_be_claimed_done_or_put_back(answers: Answers, evaluations: Evaluations) -> None:
    record = finished(answers, an_answer())
    steps: list[Callable[[], object]] = [
        lambda: evaluations.claim(record.ref),
        lambda: evaluations.complete(record.ref, evaluation=an_evaluation()),
        lambda: evaluations.defer(record.ref, until=START, reason="timed_out"),
        lambda: evaluations.fail(record.ref, failure="refused"),
    ]
    for step in steps:
        with pytest.raises(ConflictError):
            step()


def test_another_tenants_evaluation_is_just_missing(evaluations: Evaluations, asked: AnswerRecord) -> None:
    with pytest.raises(NotFoundError):
        evaluations.claim(Reference("rival", "answer", asked.id))
    with pytest.raises(NotFoundError):
        evaluations.complete(Reference("rival", "answer", asked.id), evaluation=an_evaluation())


def test_r7_a_second_worker_is_not_granted_what_the_first_still_holds(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock
) -> None:
    assert evaluations.claim(asked.ref, lease_seconds=60).granted
    clock.advance(seconds=59)
    second = evaluations.claim(asked.ref, lease_seconds=60)
    assert (second.granted, second.record.evaluation.state) == (False, "running")
    clock.advance(seconds=1)
    third = evaluations.claim(asked.ref, lease_seconds=60)
    assert (third.granted, third.record.evaluation.tries) == (True, 0)


def test_r1_of_many_workers_at_once_exactly_one_is_granted(
    evaluations: Evaluations, asked: AnswerRecord, table: "Table"
) -> None:
    barrier = Barrier(8)

    def claim(_: int) -> bool:
        barrier.wait()
        return evaluations.claim(asked.ref).granted

    with one_call_at_a_time(table.meta.client), ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(claim, range(8))) == 1


def test_r1_of_many_results_at_once_exactly_one_counts(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, asked: AnswerRecord, table: "Table"
) -> None:
    evaluations.claim(asked.ref)
    barrier = Barrier(8)

    def complete(worker: int) -> float:
        barrier.wait()
        done = evaluations.complete(asked.ref, evaluation=an_evaluation(worker / 10), spends=[a_spend()])
        assert done.deep_evaluation is not None
        return done.deep_evaluation.overall

    with one_call_at_a_time(table.meta.client), ThreadPoolExecutor(8) as workers:
        seen = set(workers.map(complete, range(8)))
    kept = answers.get(asked.ref)
    assert kept.deep_evaluation is not None
    assert seen == {kept.deep_evaluation.overall}
    trend = statistics.trends("acme", days=1)[0]
    assert (trend.evaluations, trend.means["overall"]) == (1, kept.deep_evaluation.overall)
    assert len(kept.spends) == len(asked.spends) + 1


def test_r1_what_an_evaluation_cost_that_came_too_late_is_kept_once(
    answers: Answers, evaluations: Evaluations, asked: AnswerRecord
) -> None:
    lost = evaluations.claim(asked.ref, lease_seconds=0.0).record.evaluation.not_before
    evaluations.claim(asked.ref, lease_seconds=60.0)
    put_back: dict[str, Any] = {"until": lost, "reason": "unreadable", "lease": lost}
    failed = a_spend(purpose="evaluate", failure="unreadable", latency_ms=1.5)
    for _ in range(2):
        taken = evaluations.defer(asked.ref, **put_back, spends=[failed])
        assert taken.evaluation.state == "running"
    done = evaluations.complete(asked.ref, evaluation=an_evaluation(0.9), spends=[a_spend(latency_ms=2.5)])
    for _ in range(2):
        late = evaluations.complete(asked.ref, evaluation=an_evaluation(0.1), spends=[a_spend(latency_ms=3.5)])
        late = evaluations.fail(asked.ref, failure="refused", spends=[a_spend(latency_ms=4.5)])
    assert late == answers.get(asked.ref)
    assert (late.evaluation, late.deep_evaluation) == (done.evaluation, done.deep_evaluation)
    assert [spend.latency_ms for spend in late.spends[len(asked.spends) :]] == [1.5, 2.5, 3.5, 4.5]


def test_r2_a_redelivery_after_the_end_finds_it_done(evaluations: Evaluations, asked: AnswerRecord) -> None:
    evaluations.claim(asked.ref)
    done = evaluations.complete(asked.ref, evaluation=an_evaluation(0.8))
    again = evaluations.claim(asked.ref)
    assert (again.granted, again.record) == (False, done)
    assert evaluations.complete(asked.ref, evaluation=an_evaluation(0.1)) == done
    assert evaluations.fail(asked.ref, failure="timed_out") == done
    assert evaluations.defer(asked.ref, until=START, reason="timed_out") == done


def test_r3_a_claim_whose_reply_was_lost_is_free_again_after_its_lease(
    evaluations: Evaluations, asked: AnswerRecord, table: "Table", clock: HandClock
) -> None:
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        evaluations.claim(asked.ref, lease_seconds=60)
    assert not evaluations.claim(asked.ref, lease_seconds=60).granted
    clock.advance(seconds=60)
    assert evaluations.claim(asked.ref, lease_seconds=60).granted


def test_a_record_that_kills_its_evaluator_fails_in_the_end(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock
) -> None:
    evaluations.defer(asked.ref, until=clock(), reason="quota")
    claims = 0
    while (claim := evaluations.claim(asked.ref, lease_seconds=60)).granted:
        claims += 1
        assert claim.record.evaluation.not_before is not None
        clock.now = claim.record.evaluation.not_before
    assert clock() - START >= RETRY_PERIOD
    assert claims < 50, "each may have been paid for"
    last = claim.record.evaluation
    assert (last.state, last.failure, last.tries) == ("failed", INTERRUPTED, 0), "and not for the quota of before"


def test_a_failed_one_is_asked_for_anew_only_on_purpose(evaluations: Evaluations, asked: AnswerRecord) -> None:
    failed = evaluations.fail(asked.ref, failure="refused", spends=[a_spend()])
    assert evaluations.request(asked.ref) == failed
    again = evaluations.request(asked.ref, retry_failed=True)
    assert (again.evaluation.state, again.evaluation.tries, again.evaluation.failure) == ("waiting", 0, None)


def test_a_late_result_of_a_record_given_up_is_a_result(evaluations: Evaluations, asked: AnswerRecord) -> None:
    evaluations.claim(asked.ref)
    evaluations.fail(asked.ref, failure="timed_out")
    assert evaluations.complete(asked.ref, evaluation=an_evaluation()).evaluation.state == "done"


@pytest.mark.parametrize("days", [1, 8])
def test_a_spent_quota_takes_no_try_however_many_days_it_lasts(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock, days: int
) -> None:
    for _ in range(days):
        claim = evaluations.claim(asked.ref)
        assert claim.granted
        lease = claim.record.evaluation.not_before
        reset = clock() + timedelta(days=1)
        deferred = evaluations.defer(asked.ref, until=reset, reason="quota", lease=lease)
        assert (deferred.evaluation.state, deferred.evaluation.tries) == ("deferred", 0)
        clock.advance(days=1)


def test_the_days_in_a_backlog_are_no_days_of_trying(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock
) -> None:
    lease = evaluations.claim(asked.ref).record.evaluation.not_before
    evaluations.defer(asked.ref, until=clock() + timedelta(days=1), reason="quota", lease=lease)
    clock.advance(days=10)
    assert evaluations.claim(asked.ref).record.evaluation.since == clock()


def test_a_counted_failure_takes_its_try(evaluations: Evaluations, asked: AnswerRecord, clock: HandClock) -> None:
    evaluations.claim(asked.ref)
    soon = clock() + timedelta(seconds=30)
    later = evaluations.defer(asked.ref, until=soon, reason="unreadable", ended="unread").evaluation
    assert (later.state, later.tries, later.not_before, later.failure) == ("deferred", 1, soon, "unreadable")
    assert evaluations.defer(asked.ref, until=soon, reason="unreadable", ended="unread").evaluation == later


def test_who_lost_the_lease_cannot_put_back_what_another_holds(
    evaluations: Evaluations, asked: AnswerRecord, clock: HandClock
) -> None:
    late = evaluations.claim(asked.ref, lease_seconds=60).record.evaluation.not_before
    clock.advance(seconds=61)
    held = evaluations.claim(asked.ref, lease_seconds=60).record
    assert evaluations.defer(asked.ref, until=clock(), reason="timed_out", lease=late) == held


def test_the_backlog_is_counted_exactly_and_drained_oldest_first(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, clock: HandClock
) -> None:
    records = []
    for number in range(6):
        tenant = ("acme", "rival")[number % 2]
        records.append(finished(answers, an_answer(tenant=tenant, at=clock(), deep_evaluation_wanted=True)))
        clock.advance(seconds=1)
    for record in reversed(records):
        evaluations.defer(record.ref, until=START + timedelta(days=1), reason="quota")
    backlog = evaluations.backlog()
    assert (backlog.count, backlog.oldest_requested_at) == (6, records[0].evaluation.requested_at)
    assert [statistics.evaluations(tenant)["deferred"] for tenant in ("acme", "rival")] == [3, 3]
    oldest = evaluations.oldest_deferred(limit=4)
    assert [(each.tenant, each.answer_id) for each in oldest] == [(each.tenant, each.id) for each in records[:4]]
    assert oldest[0].request_id == evaluation_request_id(records[0])
    assert oldest[0].due is None
    assert is_ulid(oldest[0].request_id)
    assert len(evaluations.oldest_deferred(limit=9, not_after=START + timedelta(seconds=2))) == 3
    assert evaluations.oldest_deferred(limit=0) == ()
    for each in oldest:
        assert evaluations.claim(Reference(each.tenant, "answer", each.answer_id)).granted
    backlog = evaluations.backlog()
    assert (backlog.count, backlog.oldest_requested_at) == (2, records[4].evaluation.requested_at)


def test_no_backlog_is_zero_since_never(evaluations: Evaluations) -> None:
    assert (evaluations.backlog().count, evaluations.backlog().oldest_requested_at) == (0, None)


def test_a_sweep_finds_what_lost_its_carrier(answers: Answers, evaluations: Evaluations, clock: HandClock) -> None:
    waiting, running, deferred = (
        finished(answers, an_answer(answer_id=new_ulid(START), deep_evaluation_wanted=True)) for _ in range(3)
    )
    evaluations.claim(running.ref, lease_seconds=60)
    evaluations.defer(deferred.ref, until=clock(), reason="quota")
    assert evaluations.stalled(older_than=timedelta(minutes=5)) == ()
    clock.advance(minutes=7)
    finished(answers, an_answer(answer_id=new_ulid(clock()), at=clock(), deep_evaluation_wanted=True))
    clock.advance(minutes=3)
    found = evaluations.stalled(older_than=timedelta(minutes=5))
    assert [(each.answer_id, each.state) for each in found] == [(waiting.id, "waiting"), (running.id, "running")]
    assert found[1].due == START + timedelta(seconds=60)
    assert [each.state for each in evaluations.stalled(older_than=timedelta(minutes=5), limit=1)] == ["waiting"]


@pytest.mark.parametrize("end", ["done", "failed"])
def test_what_is_over_is_in_no_index(evaluations: Evaluations, asked: AnswerRecord, clock: HandClock, end: str) -> None:
    evaluations.defer(asked.ref, until=clock(), reason="quota")
    if end == "done":
        evaluations.complete(asked.ref, evaluation=an_evaluation())
    else:
        evaluations.fail(asked.ref, failure="refused")
    clock.advance(days=30)
    assert evaluations.oldest_deferred(limit=9) == evaluations.stalled(older_than=timedelta(0)) == ()
    assert evaluations.backlog().count == 0


def test_a_record_that_was_read_ahead_and_changed_by_somebody_else_meanwhile_is_met_as_it_is(
    evaluations: Evaluations, asked: AnswerRecord
) -> None:
    ahead = evaluations.preloaded([asked.ref, Reference("acme", "answer", new_ulid(asked.created_at))])
    first = evaluations.complete(asked.ref, evaluation=an_evaluation(0.9), spends=[a_spend(purpose="evaluate")])
    late = [a_spend(purpose="evaluate", line_id="late-0")]
    after = ahead.complete(asked.ref, evaluation=an_evaluation(0.1), spends=late)
    assert after.deep_evaluation == first.deep_evaluation, "the first result stays"
    assert after.spends == (*first.spends, *late)
    assert ahead.get(asked.ref) == after, "read again once it was written to"
    with pytest.raises(NotFoundError):
        ahead.get(Reference("acme", "answer", new_ulid(asked.created_at)))
