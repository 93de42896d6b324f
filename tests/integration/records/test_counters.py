"""Counters are the sum of what the records count for, along whatever way they came there."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.support.records import a_spend, an_answer, an_attempt, an_evaluation
from touchstone.answers.model import AnswerRecord, Attempt, EvaluationProgress, Verification
from touchstone.records.answer_counters import contributions, normalised
from touchstone.records.counters import Increment, changes
from touchstone.records.table import MAX_ACTIONS

attempts = st.builds(
    an_attempt,
    passed=st.sampled_from([True, False, None]),
    provider=st.sampled_from(["gemini", "openai"]),
    model=st.sampled_from(["", "fast", "strong"]),
)
unverified: st.SearchStrategy[Attempt] = attempts.map(lambda each: each.model_copy(update={"verification": None}))
records = st.builds(
    an_answer,
    answer_id=st.just("01M7YCR9J0YEPNXK2F1F80QC0C"),
    stage=st.sampled_from(["received", "solving", "finished", "failed"]),
    subject=st.sampled_from([None, "algebra", "几何"]),
    difficulty=st.sampled_from([None, "easy", "hard"]),
    verification_status=st.sampled_from(["verified", "unverified", "caution"]),
    attempts=st.lists(attempts | unverified, max_size=3).map(tuple),
    spends=st.lists(st.builds(a_spend, cost_usd=st.none() | st.floats(0, 1)), max_size=3).map(tuple),
    evaluation=st.builds(
        EvaluationProgress, state=st.sampled_from(["none", "waiting", "deferred", "running", "done", "failed"])
    ),
    deep_evaluation=st.none()
    | st.builds(
        an_evaluation,
        st.floats(0, 1),
        suggestions=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=30),
        better=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    ),
)


def _difference(before: AnswerRecord | None, after: AnswerRecord) -> tuple[Increment, ...]:
    return changes(() if before is None else contributions(before), contributions(after))


def _summed(increments: Sequence[Increment]) -> Counter[tuple[str, str, str]]:
    sums: Counter[tuple[str, str, str]] = Counter()
    for increment in increments:
        sums.update({(increment.pk, increment.sk, name): value for name, value in increment.add.items()})
    return Counter({key: value for key, value in sums.items() if value})


@given(st.lists(records, min_size=1, max_size=5))
def test_differences_along_any_way_add_up_to_what_the_record_counts_for(way: list[AnswerRecord]) -> None:
    steps: list[AnswerRecord | None] = [None, *way]
    written = [increment for before, after in zip(steps, way, strict=False) for increment in _difference(before, after)]
    assert _summed(written) == _summed(contributions(way[-1]))


@given(records)
def test_what_did_not_change_is_not_written(record: AnswerRecord) -> None:
    assert _difference(record, record) == ()


@given(records, records)
def test_every_change_fits_one_transaction(before: AnswerRecord, after: AnswerRecord) -> None:
    keys = [(increment.pk, increment.sk) for increment in _difference(before, after)]
    assert len(keys) == len(set(keys))
    assert len(keys) + 20 <= MAX_ACTIONS


def test_an_attempt_that_was_taken_from_an_earlier_answer_counts_for_nobody_by_whatever_it_was_decided() -> None:
    attempt = an_attempt()
    by_key = Verification(passed=True, confidence=1.0, method="expected")
    attempt = attempt.model_copy(update={"verification": by_key})
    solved = an_answer(stage="finished", verification_status="verified", attempts=(attempt,))
    taken = solved.model_copy(update={"retrieved_from": "01M7YCR9J0YEPNXK2F1F80QC0D"})
    counted, uncounted = ({each.sk.partition("#")[0] for each in contributions(one)} for one in (solved, taken))
    assert counted - uncounted == {"PROVIDER", "MODEL"}


def test_one_suggestion_in_several_spellings_is_one() -> None:
    spellings = ["Name the rule", " Name  the\nrule. ", "Ｎame the rule。", "Name the rule!"]
    assert {normalised(each) for each in spellings} == {"Name the rule"}
