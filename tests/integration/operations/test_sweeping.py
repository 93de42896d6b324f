"""R3: answers whose work stopped somewhere get an end: nobody who waits for one waits for ever."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.support.house import House
from tests.support.records import an_answer, an_attempt
from tests.support.store_faults import refusing
from touchstone.answers.model import AnswerRecord, Attempt, Solution
from touchstone.errors import StoreError
from touchstone.operations.answers import sweeping
from touchstone.operations.answers.sweeping import UNFINISHED_AFTER, AnswerSweep, SweptAnswers
from touchstone.records import Statistics
from touchstone.references import Reference
from touchstone.workflows import MachineName, Workflows

UNJUDGED = Attempt(number=1, solution=Solution(answer="4", provider="caller", model="caller"))


def _sweep(house: House, start: Callable[[str], None] = lambda _: None) -> SweptAnswers:
    class Starts(Workflows):
        def start(self, machine: MachineName, record: Reference, *, run: str | None = "1", **_: object) -> None:  # noqa: ARG002 - the real one's
            assert machine == "evaluate"
            start(record.id)

    workflows = Starts(sfn=None, arns={})  # type: ignore[arg-type] # nothing is started for real
    return AnswerSweep(
        answers=house.answers,
        evaluations=house.evaluations,
        queue=house.queue,
        workflows=lambda: workflows,
        again=lambda _: None,
        clock=house.clock,
    ).run()


def _received(house: House, record: AnswerRecord) -> AnswerRecord:
    return house.answers.create(record)


def _now(house: House, record: AnswerRecord) -> AnswerRecord:
    return house.answers.get(Reference(record.tenant, "answer", record.id))


def _garble(house: House, record: AnswerRecord) -> None:
    """Leave a body that nothing here can read, as a later version of the library might."""
    house.table.update_item(
        Key={"pk": f"T#{record.tenant}#ANSWER#{record.id}", "sk": "RECORD"},
        UpdateExpression="SET body = :body",
        ExpressionAttributeValues={":body": '{"stage": "canary"}'},
    )


def _old(house: House) -> None:
    house.clock.advance(seconds=UNFINISHED_AFTER.total_seconds() + 1)


@pytest.mark.parametrize("kind", ["verify", "solve"])
def test_r3_an_answer_that_nobody_verified_is_unverified_in_the_end(house: House, kind: str) -> None:
    record = _received(house, an_answer(kind=kind, attempts=(UNJUDGED,)))
    _old(house)
    (ended,) = _sweep(house).ended
    assert ended == _now(house, record)
    assert (ended.stage, ended.verification_status, ended.best_attempt) == ("finished", "unverified", 1)
    assert ended.attempts[0].verification is not None
    assert ended.attempts[0].verification.skip_reason == "timed_out"


def test_r3_a_verdict_that_was_stored_before_the_crash_is_kept(house: House) -> None:
    _received(house, an_answer(attempts=(an_attempt(),)))
    _old(house)
    (ended,) = _sweep(house).ended
    assert (ended.verification_status, ended.verification_confidence) == ("verified", 0.9)


def test_r3_a_problem_without_an_attempt_fails_and_says_why(house: House) -> None:
    _received(house, an_answer())
    _received(house, an_answer(problem=None, image_key="acme/images/a", tenant="rival"))
    _old(house)
    ended = _sweep(house).ended
    assert {(record.tenant, record.stage) for record in ended} == {("acme", "failed"), ("rival", "failed")}
    assert all("interrupted" in (record.failure or "") for record in ended)
    assert {record.failure_reason for record in ended} == {"timed_out"}


def test_r3_what_may_still_be_worked_on_and_what_has_an_end_is_left_alone(house: House) -> None:
    over = _received(house, an_answer(attempts=(UNJUDGED,)))
    house.answers.fail(Reference("acme", "answer", over.id), failure="The judge refused.")
    house.clock.advance(seconds=UNFINISHED_AFTER.total_seconds() - 60)
    working = _received(house, an_answer(at=house.clock.now - timedelta(minutes=40)))
    assert _sweep(house).ended == ()
    assert _now(house, working) == working
    assert _now(house, over).failure == "The judge refused."


def test_r3_a_second_sweep_ends_nothing_twice(house: House) -> None:
    for _ in range(3):
        _received(house, an_answer(attempts=(UNJUDGED,)))
    _old(house)
    assert [len(_sweep(house).ended) for _ in range(2)] == [3, 0]
    (volume,) = Statistics(house.table, house.artifacts, clock=house.clock).volume("acme", days=1)
    assert volume.statuses == {"unverified": 3}


def test_one_that_ended_while_the_sweep_read_is_not_ended_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    record = _received(house, an_answer())
    _old(house)
    listed = house.answers.unfinished(older_than=UNFINISHED_AFTER)
    house.answers.fail(record.ref, failure="The judge refused.")
    monkeypatch.setattr(type(house.answers), "unfinished", lambda *_, **__: listed)
    swept = _sweep(house)
    assert (swept.ended, swept.stuck) == ((), 0)


def test_a_deep_evaluation_that_was_wanted_waits_once_its_answer_has_an_end(house: House) -> None:
    record = _received(house, an_answer(attempts=(UNJUDGED,), deep_evaluation_wanted=True))
    _old(house)
    _sweep(house)
    assert _now(house, record).evaluation.state == "waiting"


def test_one_that_the_store_refuses_does_not_keep_the_others_from_their_end(house: House) -> None:
    for _ in range(3):
        _received(house, an_answer())
    _old(house)
    with refusing(house.table.meta.client, "TransactWriteItems", "InternalServerError"):
        swept = _sweep(house)
    assert (len(swept.ended), swept.stuck) == (2, 1)
    assert len(_sweep(house).ended) == 1


def test_a_sweep_takes_up_no_more_than_it_has_time_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MOST", 2)
    oldest_first = [_received(house, an_answer(at=house.clock.now - timedelta(hours=1, minutes=n))) for n in range(3)]
    assert [record.id for record in _sweep(house).ended] == [record.id for record in oldest_first[:0:-1]]
    assert [record.id for record in _sweep(house).ended] == [oldest_first[0].id]


def test_one_that_cannot_be_read_is_named_and_does_not_keep_the_others_from_their_end(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    unreadable, *_ = [_received(house, an_answer(attempts=(UNJUDGED,))) for _ in range(3)]
    _garble(house, unreadable)
    _old(house)
    swept = _sweep(house)
    assert (len(swept.ended), swept.stuck) == (2, 1)
    assert unreadable.id in caplog.text
    assert "canary" not in caplog.text


def test_those_at_the_head_that_never_get_an_end_do_not_block_the_ones_behind_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MOST", 2)
    monkeypatch.setattr(sweeping, "MOST_PASSED_OVER", 2)
    for minutes in (50, 40):
        _garble(house, _received(house, an_answer(at=house.clock.now - timedelta(hours=1, minutes=minutes))))
    behind = [_received(house, an_answer(at=house.clock.now - timedelta(hours=1, minutes=n))) for n in (30, 20, 10)]
    first, second = _sweep(house), _sweep(house)
    assert [[record.id for record in swept.ended] for swept in (first, second)] == [
        [record.id for record in behind[:2]],
        [behind[2].id],
    ]
    assert (first.stuck, second.stuck) == (2, 2)


def test_an_evaluation_that_cannot_be_started_again_keeps_neither_the_others_nor_the_answers_waiting(
    house: House,
) -> None:
    lost = house.asked_for(3, state="waiting")
    abandoned = _received(house, an_answer(attempts=(UNJUDGED,)))
    _old(house)
    started: list[str] = []

    def start(answer_id: str) -> None:
        if answer_id == lost[0].id:
            raise StoreError("Throttled.")
        started.append(answer_id)

    swept = _sweep(house, start)
    assert started == [record.id for record in lost[1:]]
    assert (swept.restarted, swept.stuck) == (2, 1)
    assert [record.id for record in swept.ended] == [abandoned.id]
