"""The table of routing, row by row and at its boundaries."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.records import an_answer, an_attempt
from touchstone.answers.model import Attempt, Route, Solution, SolveRequest, Status, Verification
from touchstone.answers.progress import MAX_ATTEMPTS, best_attempt, new_record, route, settled, status_of, verified
from touchstone.judges.sureness import SureFrom

# passed, confidence, attempts made, where it goes, the badge it gets when it goes no further
ROWS: list[tuple[bool | None, float, int, Route, Status]] = [
    (True, 1.0, 1, "enrich", "verified"),
    (True, 0.8, 1, "enrich", "verified"),
    (True, 0.8, 2, "enrich", "verified"),
    (None, 0.0, 1, "enrich", "unverified"),
    (None, 0.0, 2, "enrich", "unverified"),
    (True, 0.79, 1, "retry", "caution"),
    (True, 0.6, 1, "retry", "caution"),
    (True, 0.0, 1, "retry", "caution"),
    (True, 0.79, 2, "enrich", "caution"),
    (False, 1.0, 1, "retry", "caution"),
    (False, 0.8, 1, "retry", "caution"),
    (False, 0.0, 1, "retry", "caution"),
    (False, 1.0, 2, "enrich", "caution"),
    (False, 0.2, 2, "enrich", "caution"),
]


def _verification(passed: bool | None, confidence: float) -> Verification:
    return Verification(passed=passed, confidence=confidence, method="none" if passed is None else "judge")


def _attempts(*verdicts: tuple[bool | None, float] | None) -> list[Attempt]:
    return [
        Attempt(
            number=number,
            solution=Solution(answer=str(number), provider="gemini", model="m"),
            verification=None if verdict is None else _verification(*verdict),
        )
        for number, verdict in enumerate(verdicts, start=1)
    ]


@pytest.mark.parametrize(("passed", "confidence", "made", "where", "status"), ROWS)
def test_every_row_of_the_table(
    passed: bool | None, confidence: float, made: int, where: Route, status: Status
) -> None:
    verification = _verification(passed, confidence)
    assert route(verification, made) == where
    assert status_of(verification) == status


@pytest.mark.parametrize(("passed", "confidence", "made", "_where", "_status"), ROWS)
def test_an_answer_of_the_callers_own_is_never_solved_again(
    passed: bool | None, confidence: float, made: int, _where: Route, _status: Status
) -> None:
    assert route(_verification(passed, confidence), made, own_answer=True) == "enrich"


def test_what_was_never_verified_is_unverified() -> None:
    assert status_of(None) == "unverified"


@pytest.mark.parametrize(("confidence", "uncertain"), [(0.59, True), (0.6, False), (0.0, True), (1.0, False)])
def test_below_0_6_is_recorded_as_uncertain(confidence: float, uncertain: bool) -> None:
    assert _verification(True, confidence).uncertain is uncertain


@pytest.mark.parametrize(
    ("verdicts", "best"),
    [
        ([(True, 0.7), (False, 1.0)], 1),
        ([(False, 1.0), (True, 0.1)], 2),
        ([(True, 0.5), (True, 0.7)], 2),
        ([(True, 0.7), (True, 0.5)], 1),
        ([(True, 0.7), (True, 0.7)], 1),
        ([(False, 0.9), (None, 0.0)], 2),
        ([(True, 0.3), (None, 0.0)], 1),
        ([(False, 0.3), (False, 1.0)], 1),
        ([(False, 1.0), (False, 0.3)], 2),
        ([(False, 0.9), None], 2),
        ([(False, 0.9)], 1),
    ],
)
def test_the_best_attempt_is_returned_and_not_merely_the_last(
    verdicts: list[tuple[bool | None, float] | None], best: int
) -> None:
    assert best_attempt(_attempts(*verdicts)) == best


BY_LABELS = SureFrom(confidence=0.6, labels=100, wanted=0.95, card="c", version="v")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # Two of three judges pass the first, and one calls it wrong.
        ({"confidence": 0.83, "split": True}, {"confidence": 0.81}),
        # People's labels ask only 0.6 of the second one's judge.
        ({"confidence": 0.75}, {"confidence": 0.65, "sure_from": BY_LABELS}),
    ],
)
def test_the_answer_under_a_badge_is_the_one_that_was_verified(first: dict[str, Any], second: dict[str, Any]) -> None:
    verdicts = [Verification(passed=True, method="judge", **told) for told in (first, second)]
    attempts = [
        attempt.model_copy(update={"verification": verdict})
        for attempt, verdict in zip(_attempts(None, None), verdicts, strict=True)
    ]
    now = datetime(2026, 11, 29, tzinfo=UTC)
    record = new_record(SolveRequest(problem="1 + 1"), tenant="t", answer_id="a", now=now)
    record = settled(record.model_copy(update={"attempts": tuple(attempts)}), now=now)
    assert record.best is not None
    assert (record.verification_status, status_of(record.best.verification)) == ("verified", "verified")
    assert record.verification_confidence == second["confidence"]


def test_without_attempts_there_is_no_best() -> None:
    with pytest.raises(ValueError, match="no attempt"):
        best_attempt([])


@given(
    st.sampled_from([True, False, None]),
    st.floats(0, 1),
    st.integers(min_value=1, max_value=MAX_ATTEMPTS + 3),
)
def test_no_more_than_two_attempts_and_only_the_doubtful_are_repeated(
    passed: bool | None, confidence: float, made: int
) -> None:
    verification = _verification(passed, confidence)
    if route(verification, made) == "retry":
        assert made < MAX_ATTEMPTS
        assert status_of(verification) == "caution"


def test_a_verification_is_of_the_latest_attempt_and_the_earlier_ones_stay() -> None:
    first, second = an_attempt(), an_attempt(2).model_copy(update={"verification": None})
    verdict = Verification(passed=True, confidence=0.9, method="judge")
    after = verified(an_answer(kind="solve", attempts=(first, second)), verdict)
    assert after.attempts == (first, second.model_copy(update={"verification": verdict}))
