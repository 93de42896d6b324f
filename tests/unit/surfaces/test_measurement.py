"""A measurement as a record: its steps are pure, its state follows from its metrics, nothing that was paid is lost."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.measurements import a_request
from tests.support.quizzes import METRICS, SOURCE
from tests.support.records import a_spend
from touchstone.attempts import RETRY_PERIOD, Attempts, TryEnd
from touchstone.errors import InputError, NotFoundError
from touchstone.judges.spends import Spend
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import (
    Measurement,
    Unmeasured,
    awaiting,
    begun,
    brought,
    given_up,
    in_batch,
    measured,
    new_measurement,
    put_back,
    set_to_now,
)
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
WHY = Unmeasured(reason="overloaded", details=("It is busy.",))


def new(**changes: Any) -> Measurement:
    return new_measurement(a_request(**changes), tenant="acme", measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C", now=NOW)


def found(metric: MetricName = "quiz_clarity", *, judged: int = 3, unscored: int = 0, **spend: Any) -> MetricResult:
    items = tuple(ItemLabel(item=f"q{n}", label="CLEAR", value=1.0, reason="It is.") for n in range(judged))
    missing = tuple(UnscoredItem(item=f"u{n}", reason="overloaded", details=("It is busy.",)) for n in range(unscored))
    return MetricResult(
        metric=metric,
        score=100.0 if judged else None,
        items=items,
        unscored=missing,
        spends=(a_spend(purpose=metric, **spend),),
    )


def back(one: Measurement, result: MetricResult | None, *, ended: TryEnd = "unanswered") -> Measurement:
    return put_back(one, "quiz_clarity", WHY, found=result, until=LATER, ended=ended, now=NOW)


@pytest.mark.parametrize(
    ("changes", "open_", "left_out"),
    [
        ({}, METRICS, ()),
        ({"source": None}, tuple(name for name in METRICS if name != "quiz_coverage"), ("quiz_coverage",)),
        ({"metrics": ["quiz_item_flaws", "quiz_clarity"]}, ("quiz_clarity", "quiz_item_flaws"), ()),
        ({"metrics": ["quiz_clarity", "quiz_coverage"], "source": None}, ("quiz_clarity",), ("quiz_coverage",)),
    ],
)
def test_what_is_measured_is_in_the_catalogues_order_and_what_lacks_a_source_is_left_out(
    changes: dict[str, Any], open_: tuple[str, ...], left_out: tuple[str, ...]
) -> None:
    made = new(**changes)
    assert (made.open, tuple(made.left_out), made.state) == (open_, left_out, "waiting")


def test_where_all_lack_a_source_nothing_is_begun() -> None:
    with pytest.raises(InputError, match="quiz_coverage") as caught:
        new(metrics=["quiz_coverage"], source=None)
    assert caught.value.where == "source"


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": ["summary_coverage"]},
        {"metrics": []},
        {"metrics": ["dance"]},
        {"source": {"markdown": " "}},
        {"source": {}},
        {"surface": "summary"},
        {"surface": "dance"},
        {"material": {"questions": []}},
        {"material": None},
        {"colour": "red"},
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_request(**changes)


@pytest.mark.parametrize(("text", "language"), [("What is the capital?", "en"), ("澳洲的首都是哪裡？", "zh")])
def test_the_language_of_the_reasons_is_the_materials_unless_it_is_named(text: str, language: str) -> None:
    material = {"questions": [{"id": "1", "kind": "true_false", "question_text": text, "answers": ["true"]}]}
    assert new(material=material).language == language
    assert new(material=material, language="zh").language == "zh"


def test_one_at_a_time_tries_a_metric_and_for_days_at_most() -> None:
    one, now = new(), NOW
    while now - NOW < RETRY_PERIOD:
        one = begun(one, "quiz_clarity", now=now)
        assert begun(one, "quiz_clarity", now=now) is one, "somebody is at it"
        now = one.work("quiz_clarity").attempts.not_before or NOW
    assert begun(one, "quiz_clarity", now=now) is one
    assert one.state == "measuring"


def test_a_try_that_left_something_keeps_what_it_brought_and_the_next_one_is_told_with_it() -> None:
    one = back(begun(new(), "quiz_clarity", now=NOW), found(judged=2, unscored=1))
    work = one.work("quiz_clarity")
    assert (work.over, work.failure, work.attempts.not_before) == (False, WHY, LATER)
    again = found(judged=3).model_copy(
        update={"spends": (a_spend(cached=True, cost_usd=0.0), a_spend(output_tokens=7))}
    )
    done = measured(one, again, now=LATER).work("quiz_clarity")
    assert done.over
    assert done.failure is None
    assert done.result is not None
    assert [spend.output_tokens for spend in done.result.spends] == [20, 7], "what was paid, once each"


def test_a_later_try_that_says_less_does_not_replace_what_was_said() -> None:
    one = back(begun(new(), "quiz_clarity", now=NOW), found(judged=2, unscored=1))
    worse = given_up(one, "quiz_clarity", WHY, found=found(judged=0, unscored=3), now=LATER)
    kept = worse.work("quiz_clarity").result
    assert kept is not None
    assert (kept.score, len(kept.items), len(kept.spends)) == (100.0, 2, 2)


def test_a_try_that_nobody_could_make_is_given_back_with_the_reason() -> None:
    one = back(begun(new(), "quiz_clarity", now=NOW), None, ended="limited")
    work = one.work("quiz_clarity")
    assert (work.attempts.tries, work.result, work.failure, one.state) == (0, None, WHY, "measuring")


def test_the_first_result_counts_and_what_came_later_is_paid_once() -> None:
    one = measured(begun(new(), "quiz_clarity", now=NOW), found(), now=NOW)
    assert begun(one, "quiz_clarity", now=LATER) is one
    late = found(judged=1, output_tokens=99)
    for after in (
        measured(one, late, now=LATER),
        back(one, late),
        given_up(one, "quiz_clarity", WHY, found=late, now=LATER),
    ):
        work = after.work("quiz_clarity")
        assert work.over
        assert work.result is not None
        assert (len(work.result.items), [spend.output_tokens for spend in work.result.spends]) == (3, [20, 99])
        assert measured(after, late, now=LATER) is after
    assert back(one, None) is one
    lost = given_up(new(), "quiz_clarity", WHY, now=NOW)
    assert measured(lost, late, now=LATER) is lost


def test_it_is_over_with_its_last_metric_and_failed_only_where_none_says_anything() -> None:
    for last, state in ((found("quiz_clarity"), "done"), (found("quiz_clarity", judged=0, unscored=2), "failed")):
        one = new(metrics=["quiz_clarity", "quiz_distractor_quality"])
        one = given_up(one, "quiz_distractor_quality", WHY, now=NOW)
        assert (one.state, one.finished_at) == ("measuring", None)
        one = measured(one, last, now=LATER)
        assert (one.state, one.finished_at, one.open) == (state, LATER, ())


def test_material_without_anything_to_score_is_measured_all_the_same() -> None:
    nothing = MetricResult(metric="quiz_distractor_quality", score=None)
    one = measured(new(metrics=["quiz_distractor_quality"]), nothing, now=NOW)
    assert one.state == "done"


def test_a_metric_that_it_does_not_measure_is_not_there() -> None:
    with pytest.raises(NotFoundError):
        begun(new(metrics=["quiz_clarity"]), "quiz_coverage", now=NOW)


def test_a_record_is_read_back_as_it_was() -> None:
    one = back(begun(new(source=SOURCE), "quiz_clarity", now=NOW), found(unscored=1))
    assert Measurement.model_validate_json(one.model_dump_json()) == one


def test_a_reader_sees_why_there_is_no_score_and_when_it_is_tried_again() -> None:
    one = back(begun(new(), "quiz_clarity", now=NOW), found(judged=1, unscored=2, cost_usd=None))
    clarity = next(each for each in MeasurementView.of(one).metrics if each.metric == "quiz_clarity")
    assert (clarity.score, clarity.over, clarity.because, clarity.next_try_at) == (100.0, False, "overloaded", LATER)
    assert [each.reason for each in clarity.unscored] == ["overloaded"] * 2
    assert (clarity.outlay.unpriced, clarity.outlay.input_tokens) == (1, 100)
    lost = MeasurementView.of(given_up(one, "quiz_clarity", WHY, now=LATER)).metrics[3]
    assert (lost.over, lost.next_try_at, lost.details) == (True, None, ("It is busy.",))
    untouched = MeasurementView.of(new()).metrics[0]
    assert (untouched.score, untouched.items, untouched.because, untouched.unit) == (None, (), None, "percent")


def test_what_a_batch_brought_is_told_once_by_its_line_and_what_it_lacks_is_no_end() -> None:
    begun_one = new_measurement(
        a_request(metrics=["quiz_clarity"]),
        tenant="acme",
        measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C",
        now=NOW,
        when="cheap",
        left_until=NOW,
    )
    part = MetricResult(metric="quiz_clarity", score=100.0, items=(_labelled("q1"),), spends=(_of_line("a-0"),))
    once = brought(begun_one, part, whole=False, now=NOW)
    assert (once.open, [spend.line_id for spend in once.spends()]) == (("quiz_clarity",), ["a-0"])
    assert brought(once, part, whole=False, now=NOW) is once
    cached = a_spend(purpose="quiz_clarity", cached=True, cost_usd=0.0)
    both = part.model_copy(update={"items": (*part.items, _labelled("q2")), "spends": (cached, _of_line("a-1"))})
    done = brought(once, both, whole=True, now=NOW)
    assert (done.state, len(done.work("quiz_clarity").result.items)) == ("done", 2)  # type: ignore[union-attr]
    assert [spend.line_id for spend in done.spends()] == ["a-0", "a-1"]
    late = part.model_copy(update={"spends": (_of_line("b-0"),)})
    assert [spend.line_id for spend in brought(done, late, whole=False, now=NOW).spends()] == ["a-0", "a-1", "b-0"]


def test_a_measurement_that_is_asked_at_once_from_now_on_is_nobody_s_but_its_machine_s() -> None:
    cheap = new_measurement(
        a_request(), tenant="acme", measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C", now=NOW, when="cheap", left_until=NOW
    )
    hurried = set_to_now(cheap)
    assert (hurried.when, hurried.left_until) == ("now", None)
    assert set_to_now(hurried) is hurried


def test_several_judges_are_asked_at_once_whatever_was_wanted() -> None:
    several = new_measurement(
        a_request(judges=2),
        tenant="acme",
        measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C",
        now=NOW,
        when="cheap",
        left_until=NOW,
    )
    assert (several.when, several.left_until) == ("now", None)


def test_waiting_for_a_batch_is_no_try() -> None:
    waiting = begun(
        new_measurement(a_request(), tenant="acme", measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C", now=NOW),
        "quiz_clarity",
        now=NOW,
    )
    marked = awaiting(in_batch(waiting, "quiz_clarity", "B1"), "quiz_clarity", until=NOW)
    work = marked.work("quiz_clarity")
    assert (work.batch, work.attempts) == ("B1", Attempts(not_before=NOW))


def _of_line(line_id: str) -> Spend:
    return a_spend(purpose="quiz_clarity", line_id=line_id)


def _labelled(name: str) -> ItemLabel:
    return ItemLabel(item=name, label="CLEAR", value=1.0, reason="It is.")
