"""Requests and records: what is refused at the door, and what a record can tell of itself."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.answers.model import (
    MAX_ANSWER_CHARS,
    MAX_PROBLEM_CHARS,
    AnswerRecord,
    ImageSource,
    SolveRequest,
    Verification,
    VerifyRequest,
)
from touchstone.judges.spends import Spend

MOMENT = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize("fields", [{}, {"data_base64": "AAAA", "s3_key": "uploads/1.png"}])
def test_an_image_comes_from_exactly_one_place(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="exactly one of data_base64 and s3_key"):
        ImageSource(**fields)


@pytest.mark.parametrize("fields", [{}, {"problem": "1 + 1", "image": {"s3_key": "uploads/1.png"}}])
def test_a_problem_is_a_text_or_an_image(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one of problem and image"):
        SolveRequest.model_validate(fields)


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": ""},
        {"answer": ""},
        {"problem": "x" * (MAX_PROBLEM_CHARS + 1)},
        {"answer": "x" * (MAX_ANSWER_CHARS + 1)},
        {"steps": "x" * (MAX_ANSWER_CHARS + 1)},
        {"difficulty": "impossible"},
        {"language": "fr"},
        {"verdict": "pass"},
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        VerifyRequest.model_validate({"problem": "1 + 1", "answer": "2", **changes})


def test_the_longest_problem_and_answer_fit() -> None:
    request = VerifyRequest(problem="題" * MAX_PROBLEM_CHARS, answer="答" * MAX_ANSWER_CHARS)
    assert len(request.problem) == MAX_PROBLEM_CHARS


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValidationError):
        Verification(passed=True, confidence=confidence, method="judge")


def test_a_record_adds_up_the_costs_it_knows() -> None:
    spends = tuple(
        Spend(purpose="verify", provider="gemini", model="m", prompt_version="0", cost_usd=cost)
        for cost in (0.25, None, 0.5)
    )
    record = AnswerRecord(
        tenant="local", id="1", kind="verify", stage="received", created_at=MOMENT, updated_at=MOMENT, spends=spends
    )
    assert record.cost_usd == 0.75
    assert (record.attempt_count, record.best) == (0, None)
