"""Replies as the API gives them."""

from typing import Any

from tests.support.judges import MOMENT
from touchstone.answers.model import AnswerRecord, Attempt, EvaluationProgress, Solution, Verification
from touchstone.answers.progress import settled
from touchstone.answers.view import AnswerView
from touchstone.records.answer_items import summary_of

PROBLEM = "Name the capital of Australia."


def record(verification: Verification | None = None, **changes: Any) -> AnswerRecord:
    """A finished record with one attempt; passed by a judge unless told otherwise."""
    found = verification or Verification(
        passed=True, confidence=0.95, method="judge", independent_answer="Canberra", provider="gemini", model="gemini-x"
    )
    solution = Solution(answer="Canberra", provider="caller", model="caller")
    begun = AnswerRecord(
        tenant="acme",
        id="01JD7Z00000000000000000000",
        kind="verify",
        stage="received",
        created_at=MOMENT,
        updated_at=MOMENT,
        problem=PROBLEM,
        language="en",
        attempts=(Attempt(number=1, solution=solution, verification=found),),
    )
    return settled(begun, now=MOMENT).model_copy(update=changes)


def view(verification: Verification | None = None, **changes: Any) -> dict[str, Any]:
    """The view of a record."""
    return AnswerView.of(record(verification, **changes)).model_dump(mode="json")


def summary(**changes: Any) -> dict[str, Any]:
    """One line of a list of answers."""
    return {**summary_of(record()).model_dump(mode="json"), **changes}


FAILED = Verification(passed=False, confidence=1.0, method="proof", error="It is 2.", derivation=("1 + 1 = 2.",))
SKIPPED = Verification(passed=None, confidence=0.0, method="none", error="Nobody answered.", skip_reason="overloaded")
EVALUATING = EvaluationProgress(state="waiting", requested_at=MOMENT)
