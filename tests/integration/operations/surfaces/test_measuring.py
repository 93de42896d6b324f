"""A try at a metric in every way that it may go: out of time or quota, refused, interrupted, made by two at once."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from pydantic import TypeAdapter

from tests.support.aws import REGION
from tests.support.deployment import BUCKET
from tests.support.judges import Line, Script
from tests.support.quizzes import measurement, quiz
from tests.support.records import HandClock
from tests.support.scripted_adapters import FreeTicket
from tests.support.store_faults import refusing
from touchstone.attempts import RETRY_PERIOD
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, QuotaExceededError, RefusedError, SettingsError, StoreError
from touchstone.judges.base import Call, Permit
from touchstone.judges.cache import MemoryCache
from touchstone.judges.caller import ATTEMPTS
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend
from touchstone.judges.sureness import JudgeThresholds, SureFrom
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.surfaces.context import MeasuringContext
from touchstone.operations.surfaces.measuring import MEASURED_WITHIN, measure, measure_once
from touchstone.records import MEASUREMENT, Artifacts, Measurements
from touchstone.references import Reference
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import (
    AnyMeasurementRequest,
    Measurement,
    MeasurementRequest,
    begun,
    new_measurement,
)
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import metric_judges

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

ID = "01M7YCR9J0YEPNXK2F1F80QC0C"
REQUEST: TypeAdapter[AnyMeasurementRequest] = TypeAdapter(MeasurementRequest)
GOOD: dict[str, Any] = {
    "questions": [
        {"number": number, "reason": "It is plain.", "label": "CLEAR", "confidence": 0.9, "suggestion": None}
        for number in range(1, 5)
    ]
}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def measurements(table: "Table", clock: HandClock) -> Measurements:
    s3 = boto3.client("s3", region_name=REGION)
    s3.create_bucket(Bucket=BUCKET)
    return Measurements(MEASUREMENT, table, Artifacts(lambda: s3, BUCKET), clock=clock, pause=lambda _: None)


class Room:
    """One measurement of a quiz's clarity, and a judge that follows a script."""

    def __init__(self, measurements: Measurements, clock: HandClock, *lines: Line, **changes: Any) -> None:
        self.script = Script({"quiz_clarity": list(lines)})
        self.paid: list[Spend] = []
        self.clock = clock
        judges = self.script.judges(clock=clock)

        def pay(spends: Sequence[Spend]) -> None:
            self.paid.extend(spends)

        self.context = MeasuringContext(
            tenant="acme",
            measurements=measurements,
            judge=lambda _: judges.get("claude", "strong"),
            several=lambda _, wanted: metric_judges(judges, wanted),
            paid=pay,
            clock=clock,
        )
        body = measurement(**{"material": quiz(4), "metrics": ["quiz_clarity"]} | changes)
        request = REQUEST.validate_python(body)
        measurements.create(new_measurement(request, tenant="acme", measurement_id=ID, now=clock()))

    def tries(self, metric: MetricName = "quiz_clarity", *, seconds: float = 30.0) -> StepProgress:
        """One try."""
        return asyncio.run(measure(self.context, ID, metric, deadline=Deadline.after(seconds)))

    @property
    def record(self) -> Measurement:
        """The measurement as it is stored."""
        return self.context.measurements.get(Reference("acme", "measurement", ID))


def test_a_metric_is_measured_once(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD)
    assert room.tries().state == "measured"
    assert room.tries() == StepProgress(state="measured")
    assert len(room.script.asked) == len(room.paid) == 1
    assert room.record.state == "done"


def test_r13_tries_that_fail_are_spaced_for_three_days_and_then_it_stays_unscored(
    measurements: Measurements, clock: HandClock
) -> None:
    room = Room(measurements, clock, OverloadedError("It is busy."))
    pauses = []
    since = clock()
    while (progress := room.tries()).state == "waiting":
        assert progress.reason == "overloaded"
        assert progress.until is not None
        pauses.append((progress.until - clock()).total_seconds())
        clock.now = progress.until
    assert pauses == sorted(pauses)
    assert progress.state == "unscored"
    assert clock() - since >= MEASURED_WITHIN
    assert len(pauses) < 40
    work = room.record.work("quiz_clarity")
    assert (work.over, room.record.state) == (True, "failed")
    assert work.result is not None
    assert (work.result.score, len(work.result.unscored)) == (None, 4)


def test_a_want_of_quota_gives_the_try_back_for_three_days(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock)

    class Spent:
        provider, model = "claude", "claude-sonnet-5-5"

        async def ask(self, *_: Any, **__: Any) -> Any:
            raise QuotaExceededError("The day is spent.", window="day", until=clock() + timedelta(hours=8))

    object.__setattr__(room.context, "judge", lambda _: Spent())
    while (progress := room.tries()).state == "waiting":
        assert progress.until is not None
        clock.now = progress.until
    work = room.record.work("quiz_clarity")
    assert (progress.state, work.attempts.tries) == ("unscored", 0)
    assert clock() - room.record.created_at >= MEASURED_WITHIN
    assert work.failure is not None
    assert work.failure.reason == "quota"


def test_a_judge_that_declines_is_not_asked_again(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, RefusedError("It declined."))
    assert room.tries().state == "unscored"
    assert len(room.script.asked) == 1


def test_a_reply_that_breaks_the_rules_twice_leaves_what_is_good_of_it(
    measurements: Measurements, clock: HandClock
) -> None:
    broken = {"questions": GOOD["questions"][:3]}
    room = Room(measurements, clock, broken)
    assert room.tries().state == "measured"
    result = room.record.work("quiz_clarity").result
    assert result is not None
    assert (result.score, len(result.items)) == (100.0, 3)
    assert [one.reason for one in result.unscored] == ["invalid_reply"]


def test_without_time_left_nobody_is_asked_and_the_try_counts(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD)
    progress = room.tries(seconds=0.0)
    assert (progress.state, progress.reason, room.script.asked) == ("waiting", "timed_out", [])
    assert progress.until is not None
    clock.now = progress.until
    assert room.tries().state == "measured"


def test_without_a_judge_it_waits_and_says_what_is_missing(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD)

    def nobody(_: str | None) -> Any:
        raise SettingsError("No judge can be asked without a key.")

    object.__setattr__(room.context, "judge", nobody)
    progress = room.tries()
    assert (progress.state, progress.reason) == ("waiting", "misconfigured")
    failure = room.record.work("quiz_clarity").failure
    assert failure is not None
    assert failure.details == ("No judge can be asked without a key.",)


def test_of_many_at_once_one_measures(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD)
    with ThreadPoolExecutor(max_workers=8) as workers:
        states = {one.state for one in workers.map(lambda _: room.tries(), range(8))}
    assert states <= {"measured", "waiting"}
    assert len(room.script.asked) == 1


def test_tries_that_were_interrupted_end_the_metric_at_last(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD)
    since = clock()
    while clock() - since < RETRY_PERIOD:
        measurements.begin(room.record.ref, lambda one: begun(one, "quiz_clarity", now=clock()))
        held = room.tries()
        assert held.state == "waiting"
        clock.now = held.until or since
    assert room.tries().state == "unscored"
    assert (room.script.asked, room.record.state) == ([], "failed")


def test_all_metrics_are_tried_side_by_side_and_written_into_one_record(
    measurements: Measurements, clock: HandClock
) -> None:
    room = Room(measurements, clock, GOOD)
    other = "01M7YCR9J0YEPNXK2F1F80QC0D"
    body = {"surface": "flashcards", "material": {"cards": [{"id": "1", "front": "Capital?", "back": "Canberra"}]}}
    body["metrics"] = ["flashcard_duplication", "flashcard_answer_leakage"]
    request = REQUEST.validate_python(body)
    made = measurements.create(new_measurement(request, tenant="acme", measurement_id=other, now=clock()))
    done = asyncio.run(measure_once(room.context, made, deadline=Deadline.after(30.0)))
    assert (done.state, done.open) == ("done", ())


@pytest.mark.parametrize(
    ("wanted", "reason"), [(None, "No earlier card is like it."), ("zh", "前面没有与它相似的卡片。")]
)
def test_reasons_without_a_judge_are_in_the_language_of_the_measurement(
    measurements: Measurements, clock: HandClock, wanted: str | None, reason: str
) -> None:
    cards = [{"id": front, "front": front, "back": "to learn"} for front in ("What does 學習 mean?", "學", "What?")]
    body = {"surface": "flashcards", "material": {"cards": cards}, "metrics": ["flashcard_duplication"]}
    room = Room(measurements, clock)
    other = "01M7YCR9J0YEPNXK2F1F80QC0E"
    request = REQUEST.validate_python(body | {"language": wanted})
    made = measurements.create(new_measurement(request, tenant="acme", measurement_id=other, now=clock()))
    (done,) = asyncio.run(measure_once(room.context, made, deadline=Deadline.after(30.0))).metrics
    assert done.result is not None
    assert {item.reason for item in done.result.items} == {reason}


def test_r16_a_metric_that_the_store_fails_leaves_those_beside_it_to_their_end(
    measurements: Measurements, table: "Table", clock: HandClock
) -> None:
    room = Room(measurements, clock, GOOD, metrics=["quiz_clarity", "quiz_distractor_quality"])
    with refusing(table.meta.client, "PutItem", "ThrottlingException"), pytest.raises(StoreError):
        asyncio.run(measure_once(room.context, room.record, deadline=Deadline.after(30.0)))
    first, second = room.record.metrics
    assert first.attempts.tries == 0
    assert second.metric == "quiz_clarity"
    assert (second.measured, len(room.paid)) == (True, 1)


AMBIGUOUS: dict[str, Any] = {
    "questions": [
        {"number": number, "reason": "It is not.", "label": "AMBIGUOUS", "confidence": 0.9, "suggestion": "Say which."}
        for number in range(1, 5)
    ]
}


def test_what_hangs_on_a_judge_that_failed_is_asked_again_and_the_others_decide_without_it(
    measurements: Measurements, clock: HandClock
) -> None:
    room = Room(measurements, clock, judges=2)
    room.script.lines = {"claude/quiz_clarity": [OverloadedError("It is busy.")], "quiz_clarity": [GOOD]}
    waits = room.tries()
    assert (waits.state, waits.reason) == ("waiting", "overloaded")
    found = room.record.work("quiz_clarity").result
    assert found is not None
    assert (found.score, {len(one.votes) for one in found.unscored}) == (None, {2})
    room.script.lines = {"quiz_clarity": [GOOD]}
    clock.now = waits.until or clock()
    assert room.tries().state == "measured"
    found = room.record.work("quiz_clarity").result
    assert found is not None
    assert found.score == 100.0


def test_three_need_no_other_try_where_two_agree(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, judges=3)
    room.script.lines = {"claude/quiz_clarity": [OverloadedError("It is busy.")], "quiz_clarity": [GOOD]}
    assert room.tries().state == "measured"
    work = room.record.work("quiz_clarity")
    assert (work.over, work.failure) == (True, None)
    assert len(room.paid) == 2


def test_a_split_is_an_end_and_no_score(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, judges=2)
    room.script.lines = {"claude/quiz_clarity": [AMBIGUOUS], "quiz_clarity": [GOOD]}
    assert room.tries().state == "unscored"
    view = MeasurementView.of(room.record)
    (one,) = view.metrics
    assert (one.over, one.score, one.because, one.split, view.judges) == (True, None, "split", 4, 2)
    assert len(room.script.asked) == 2
    assert room.tries().state == "unscored", "nobody is asked again"
    assert len(room.script.asked) == 2


def test_fewer_judges_than_a_majority_takes_ask_nobody_and_wait(measurements: Measurements, clock: HandClock) -> None:
    room = Room(measurements, clock, GOOD, judges=2)
    alone = Script({"quiz_clarity": [GOOD]}, providers=("claude",))
    object.__setattr__(room.context, "several", lambda _, wanted: metric_judges(alone.judges(clock=clock), wanted))
    waits = room.tries()
    assert (waits.state, waits.reason) == ("waiting", "misconfigured")
    failure = room.record.work("quiz_clarity").failure
    assert failure is not None
    assert "2 judges of different providers are wanted, and only claude" in failure.details[0]
    assert alone.asked == []


UNSURE: dict[str, Any] = {
    "questions": [
        {"number": number, "reason": "It is plain.", "label": "CLEAR", "confidence": 0.7, "suggestion": None}
        for number in range(1, 5)
    ]
}


def held(room: Room, *providers: str, confidence: float = 0.9) -> None:
    """Labels ask that much of the judges of these providers."""
    version, judges = load_prompt("touchstone.surfaces", "quiz_clarity", "en").version, room.script.judges()
    sure_from = SureFrom(confidence=confidence, labels=120, wanted=0.95, card="c" * 16, version="v" * 8)
    sure = {(f"{judges.get(name, 'strong').model}-answered", version): sure_from for name in providers}
    object.__setattr__(room.context, "thresholds", lambda: sure)


def test_where_no_judge_is_sure_enough_the_metric_is_over_without_a_score(
    measurements: Measurements, clock: HandClock
) -> None:
    room = Room(measurements, clock, UNSURE)
    held(room, "claude", "openai", "gemini")
    assert room.tries().state == "unscored"
    (one,) = MeasurementView.of(room.record).metrics
    assert (one.over, one.score, one.because, one.split) == (True, None, "unsure", 0)
    assert [asked.provider for asked in room.script.asked] == ["claude", "openai"]
    assert {vote.unsure for item in one.unscored for vote in item.votes} == {True}
    assert room.tries().state == "unscored", "nobody is asked again"
    assert len(room.script.asked) == len(room.paid) == 2


def test_where_the_next_judge_fails_the_metric_is_tried_again_and_the_first_is_not_paid_twice(
    measurements: Measurements, clock: HandClock
) -> None:
    room = Room(measurements, clock)
    room.script.lines = {
        "claude/quiz_clarity": [UNSURE],
        "quiz_clarity": [*[OverloadedError("Busy.")] * ATTEMPTS, GOOD],
    }
    cached = room.script.judges(clock=clock, cache=MemoryCache())
    object.__setattr__(room.context, "several", lambda _, wanted: metric_judges(cached, wanted))
    held(room, "claude")
    waits = room.tries()
    assert (waits.state, waits.reason) == ("waiting", "overloaded")
    assert waits.until is not None
    clock.now = waits.until
    assert room.tries().state == "measured"
    assert [asked.provider for asked in room.script.asked].count("claude") == 1


def test_a_fault_of_the_table_at_the_next_judge_is_its_failure_and_tried_again(
    measurements: Measurements, clock: HandClock
) -> None:
    class Refusing:
        async def admit(self, call: Call) -> Permit:
            if call.provider != "claude":
                raise StoreError("The table is throttled.")
            return FreeTicket()

    room = Room(measurements, clock, UNSURE)
    refusing = room.script.judges(clock=clock, admission=Refusing())
    object.__setattr__(room.context, "several", lambda _, wanted: metric_judges(refusing, wanted))
    held(room, "claude")
    waits = room.tries()
    assert (waits.state, waits.reason) == ("waiting", "overloaded")
    failure = room.record.work("quiz_clarity").failure
    assert failure is not None
    assert "no quota could be reserved" in failure.details[0]


def test_nobody_is_asked_where_it_cannot_be_read_how_sure_a_judge_must_be(
    measurements: Measurements, clock: HandClock
) -> None:
    def broken() -> JudgeThresholds:
        raise StoreError("The table was throttled.")

    room = Room(measurements, clock, GOOD)
    object.__setattr__(room.context, "thresholds", broken)
    waits = room.tries()
    assert (waits.state, waits.reason, room.script.asked) == ("waiting", "overloaded", [])
