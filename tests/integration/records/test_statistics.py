"""What accumulates: exact, read from counters alone, and the same to the byte when counted again."""

import json
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import START, HandClock, a_spend, an_answer, an_attempt, an_evaluation, finished
from touchstone.answers.model import AnswerRecord, DeepEvaluation
from touchstone.answers.providers import Rate
from touchstone.errors import SettingsError, StoreError
from touchstone.records import Answers, Artifacts, Evaluations, Statistics, Tally
from touchstone.records.answer_counters import MAX_SUGGESTIONS
from touchstone.records.counters import COUNT_SHARDS, count_shards
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def statistics(table: "Table", artifacts: Artifacts, clock: HandClock) -> Statistics:
    return Statistics(table, artifacts, clock=clock)


def _evaluated(evaluations: Evaluations, record: AnswerRecord, evaluation: DeepEvaluation) -> None:
    which = record.ref
    evaluations.request(which)
    evaluations.complete(which, evaluation=evaluation, spends=[a_spend(purpose="evaluate")])


def test_every_attempt_counts_for_its_own_model(answers: Answers, statistics: Statistics) -> None:
    first = an_attempt(1, passed=False, provider="openai", model="gpt-x")
    finished(answers, an_answer(subject="algebra", difficulty="hard"), first, an_attempt(2))
    finished(answers, an_answer(subject="algebra", difficulty="easy"), an_attempt(passed=None), status="unverified")
    rates = statistics.rates("acme")
    gemini = Tally(decided=1, correct=1, skipped=1)
    openai = Tally(decided=1, correct=0, skipped=0)
    # Whoever is asked a second time gets what another failed at: only first attempts count for the choice.
    assert rates.provider_subject == {
        ("gemini", "algebra"): replace(gemini, retried=(1, 1)),
        ("openai", "algebra"): replace(openai, first={"hard": (0, 1)}),
    }
    assert rates.model_subject == {("gemini-3.8-flash", "algebra"): gemini, ("gpt-x", "algebra"): openai}
    assert rates.model_difficulty == {
        ("gpt-x", "hard"): openai,
        ("gemini-3.8-flash", "hard"): Tally(decided=1, correct=1, skipped=0),
        ("gemini-3.8-flash", "easy"): Tally(decided=0, correct=0, skipped=1),
    }
    assert rates.of_providers == {
        ("gemini", "algebra"): Rate(correct=0, decided=0),
        ("openai", "algebra"): Rate(correct=0, decided=1, by_difficulty={"hard": (0, 1)}),
    }
    assert (gemini.rate, Tally(decided=0, correct=0, skipped=1).rate) == (1.0, None)


def test_a_retrieved_answer_counts_for_nobody(answers: Answers, statistics: Statistics) -> None:
    attempt = an_attempt()
    assert attempt.verification is not None
    retrieved = attempt.verification.model_copy(update={"method": "retrieved"})
    finished(answers, an_answer(), attempt.model_copy(update={"verification": retrieved}))
    assert statistics.rates("acme").provider_subject == {}


@pytest.mark.parametrize("subject", ["a#b", "100%", "%23", "几何", "x" * 64, "𠀀" * 64, "\x00", " "])
def test_any_subject_is_counted_under_its_own_name(answers: Answers, statistics: Statistics, subject: str) -> None:
    finished(answers, an_answer(subject=subject), an_attempt(model="m#1"))
    finished(answers, an_answer(subject=f"{subject}?"), an_attempt(model="m#1"))
    assert set(statistics.rates("acme").model_subject) == {("m#1", subject), ("m#1", f"{subject}?")}


def test_a_name_longer_than_a_key_is_counted_under_its_beginning_and_hash(
    answers: Answers, statistics: Statistics
) -> None:
    for ending in ("a", "b", "b"):
        finished(answers, an_answer(subject="题" * 500 + ending), an_attempt(model="m" * 2000))
    counts = sorted(tally.decided for tally in statistics.rates("acme").model_subject.values())
    assert counts == [1, 2]


def test_volume_is_by_the_day_of_arrival(answers: Answers, statistics: Statistics, clock: HandClock) -> None:
    finished(answers, an_answer(at=clock()), status="caution")
    skipped = an_attempt(passed=None, skip_reason="day_quota")
    finished(answers, an_answer(at=clock()), skipped, status="unverified", confidence=0.0)
    clock.advance(days=2)
    failed = answers.create(an_answer(at=clock()))
    answers.fail(Reference("acme", "answer", failed.id), failure="misconfigured", spends=[a_spend(cost_usd=None)])
    answers.create(an_answer(at=clock()))
    first, second = statistics.volume("acme", days=3)
    assert (first.day, second.day) == (date(2026, 11, 21), date(2026, 11, 23))
    assert (first.statuses, first.skips) == ({"caution": 1, "unverified": 1}, {"day_quota": 1})
    assert first.cost_usd == 0.000_246
    assert (second.statuses, second.skips, second.cost_usd, second.unpriced_calls) == ({"failed": 1}, {}, None, 1)
    assert [volume.day for volume in statistics.volume("acme", days=1)] == [date(2026, 11, 23)]


def test_trends_are_exact_means_by_the_day_of_evaluation(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, clock: HandClock
) -> None:
    for score in (0.1, 0.2, 0.7):
        _evaluated(evaluations, finished(answers, an_answer()), an_evaluation(score, at=START + timedelta(days=1)))
    clock.advance(days=1)
    (trend,) = statistics.trends("acme", days=7)
    assert (trend.day, trend.evaluations) == (date(2026, 11, 22), 3)
    assert trend.means["overall"] == pytest.approx(1 / 3, abs=1e-6)


def test_suggestions_are_counted_by_their_text_the_most_frequent_first(
    answers: Answers, evaluations: Evaluations, statistics: Statistics
) -> None:
    for suggestions in (["Name the rule.", "Name  the rule"], ["Name the rule", "用LaTeX。"], ["。"], []):
        _evaluated(evaluations, finished(answers, an_answer()), an_evaluation(suggestions=suggestions))
    assert [(each.text, each.count) for each in statistics.suggestions("acme")] == [
        ("Name the rule", 2),
        ("用LaTeX", 1),
    ]
    assert len(statistics.suggestions("acme", limit=1)) == 1


def test_an_evaluation_with_endless_suggestions_still_counts(
    answers: Answers, evaluations: Evaluations, statistics: Statistics
) -> None:
    record = finished(answers, an_answer())
    _evaluated(evaluations, record, an_evaluation(suggestions=[f"{number} " + "x" * 5_000 for number in range(150)]))
    assert len(statistics.suggestions("acme", limit=100)) == MAX_SUGGESTIONS


def test_better_approaches_are_listed_newest_first(
    answers: Answers, evaluations: Evaluations, statistics: Statistics
) -> None:
    for number in range(3):
        record = finished(answers, an_answer(at=START + timedelta(seconds=number)))
        _evaluated(evaluations, record, an_evaluation(better=f"Way {number}" if number else None))
    assert [each.text for each in statistics.approaches("acme")] == ["Way 2", "Way 1"]


def test_nothing_of_another_tenant_is_counted(
    answers: Answers, evaluations: Evaluations, statistics: Statistics
) -> None:
    _evaluated(evaluations, finished(answers, an_answer(tenant="rival")), an_evaluation(better="Shorter"))
    assert statistics.rates("acme").provider_subject == {}
    assert not statistics.volume("acme", days=9)
    assert not statistics.trends("acme", days=9)
    assert not statistics.suggestions("acme")
    assert not statistics.approaches("acme")
    assert set(statistics.evaluations("acme").values()) == {0}


def _accumulate(answers: Answers, evaluations: Evaluations, clock: HandClock) -> None:
    for number in range(12):
        attempts = (an_attempt(1, passed=False, model="gpt-x"), an_attempt(2, passed=(True, False, None)[number % 3]))
        record = an_answer(at=clock(), subject=("algebra", "几何")[number % 2], problem=f"Problem {number}")
        finished(answers, record, *attempts, status=("verified", "caution", "unverified")[number % 3])
        which = record.ref
        if number % 4:
            evaluations.request(which)
        if number % 4 == 1:
            evaluations.defer(which, until=clock(), reason="quota")
            evaluations.claim(which)
        if number % 4 == 2:
            better = f"Way {number}" if number > 5 else None
            suggestions = ["Name the rule", f"Only {number}"]
            evaluations.complete(
                which, evaluation=an_evaluation(number / 13, at=clock(), suggestions=suggestions, better=better)
            )
        clock.advance(hours=7)
    answers.fail(Reference("acme", "answer", answers.create(an_answer(at=clock())).id), failure="misconfigured")


def _counters(table: "Table") -> list[Any]:
    kinds = ("#COUNTS#", "#SUGGESTIONS", "#APPROACHES")
    items = [item for item in table.scan()["Items"] if any(kind in str(item["pk"]) for kind in kinds)]
    return sorted(items, key=lambda item: (str(item["pk"]), str(item["sk"])))


def _bytes(items: list[Any]) -> bytes:
    """Attributes of an item have no order of their own."""
    return json.dumps(items, sort_keys=True, default=str).encode()


def test_r23_counters_counted_again_are_the_same_to_the_byte(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, table: "Table", clock: HandClock
) -> None:
    _accumulate(answers, evaluations, clock)
    before = _counters(table)
    assert {str(item["pk"]).split("#")[2] for item in before} == {"COUNTS", "SUGGESTIONS", "APPROACHES"}
    with table.batch_writer() as batch:
        for item in before:
            batch.delete_item(Key={"pk": item["pk"], "sk": item["sk"]})
    assert _counters(table) == []
    assert statistics.rebuild("acme") == 13
    assert _bytes(_counters(table)) == _bytes(before)


def test_r23_a_rebuild_mends_wrong_counters_and_leaves_other_tenants_alone(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, table: "Table", clock: HandClock
) -> None:
    _accumulate(answers, evaluations, clock)
    finished(answers, an_answer(tenant="rival"))
    before = _counters(table)
    table.put_item(Item={"pk": "T#acme#COUNTS#0", "sk": "PROVIDER#nobody#nothing", "n": 7, "correct": 7, "skipped": 0})
    table.delete_item(Key={"pk": before[0]["pk"], "sk": before[0]["sk"]})
    statistics.rebuild("acme")
    assert _counters(table) == before


def test_reading_never_touches_a_record(
    answers: Answers, evaluations: Evaluations, statistics: Statistics, table: "Table", clock: HandClock
) -> None:
    _accumulate(answers, evaluations, clock)
    calls: Counter[str] = Counter()

    def count(model: Any, params: dict[str, Any], **_: Any) -> None:
        assert "ANSWER#" not in str(params)
        calls[model.name] += 1

    table.meta.client.meta.events.register("before-call.dynamodb", count)
    statistics.rates("acme")
    statistics.trends("acme", days=30)
    statistics.volume("acme", days=30)
    statistics.suggestions("acme")
    statistics.approaches("acme")
    statistics.evaluations("acme")
    assert calls == {"Query": COUNT_SHARDS * 5 + 2}


def test_r16_a_store_that_fails_is_said_to_fail(statistics: Statistics, table: "Table") -> None:
    table.delete()
    with pytest.raises(StoreError):
        statistics.rates("acme")
    with pytest.raises(StoreError):
        statistics.suggestions("acme")


def test_the_shards_of_the_counters_may_become_more_at_any_time(
    answers: Answers,
    evaluations: Evaluations,
    statistics: Statistics,
    table: "Table",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was counted in one shard changes in another: the sums are what the records add up to, then and after."""
    records = [finished(answers, an_answer(), an_attempt()) for _ in range(24)]
    for record in records:
        evaluations.request(record.ref)
    monkeypatch.setenv("TOUCHSTONE_COUNT_SHARDS", "32")
    for record in records[:12]:
        evaluations.complete(record.ref, evaluation=an_evaluation())
    for record in records[12:]:
        evaluations.claim(record.ref)
        evaluations.defer(record.ref, until=START, reason="day")
    states = {"waiting": 0, "deferred": 12, "done": 12}
    shown = statistics.evaluations("acme")
    assert {name: shown[name] for name in states} == states
    assert evaluations.backlog().count == 12
    shards = {item["pk"] for item in table.scan()["Items"] if "#COUNTS#" in str(item["pk"])}
    assert len(shards) > 2 * COUNT_SHARDS
    rates = statistics.rates("acme")
    assert statistics.rebuild("acme") == 24
    assert statistics.rates("acme") == rates
    again = statistics.evaluations("acme")
    assert {name: again[name] for name in states} == states
    # Fewer are read from a recount on, whoever makes it.
    monkeypatch.delenv("TOUCHSTONE_COUNT_SHARDS")
    assert statistics.rates("acme") != rates
    assert statistics.rebuild("acme") == 24
    assert statistics.rates("acme") == rates


@pytest.mark.parametrize("told", ["3", "33", "many"])
def test_a_number_of_shards_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv("TOUCHSTONE_COUNT_SHARDS", told)
    with pytest.raises(SettingsError, match="a whole number from 4 to 32"):
        count_shards()
