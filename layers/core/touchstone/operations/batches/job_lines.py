"""Lines of a batch whose work has a record and a machine of its own: submissions, measurements, quizzes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from touchstone.operations.batches.chunks import LineName
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest
from touchstone.surfaces.measurement import (
    AnyMeasurementRequest,
    FlashcardsMeasurementRequest,
    QuizMeasurementRequest,
    SummaryMeasurementRequest,
)

MEASUREMENT_RESULT, QUIZ_RESULT = "measurement", "quiz"
"""The fields of a line's result that lines to be measured and lines that ask for a quiz fill, in this order."""


class SubmissionLine(SubmissionRequest):
    """Work to be handed in, as text or as a file that was uploaded before."""

    result: ClassVar = "submission"
    kind: Literal["submission"]
    id: LineName = None
    task_id: Annotated[str, Field(min_length=1, max_length=64)]

    @property
    def request(self) -> SubmissionRequest:
        """The request that the line carries, without what belongs to the line."""
        return SubmissionRequest(submitter=self.submitter, text=self.text, text_key=self.text_key)


class QuizEvaluationLine(QuizMeasurementRequest):
    """A quiz to be measured; `when` null: as `cheap`."""

    result: ClassVar = MEASUREMENT_RESULT
    kind: Literal["quiz_evaluation"]
    id: LineName = None
    surface: Literal["quiz"] = "quiz"


class SummaryEvaluationLine(SummaryMeasurementRequest):
    """A summary to be measured; `when` null: as `cheap`."""

    result: ClassVar = MEASUREMENT_RESULT
    kind: Literal["summary_evaluation"]
    id: LineName = None
    surface: Literal["summary"] = "summary"


class FlashcardsEvaluationLine(FlashcardsMeasurementRequest):
    """A deck of flashcards to be measured; `when` null: as `cheap`."""

    result: ClassVar = MEASUREMENT_RESULT
    kind: Literal["flashcards_evaluation"]
    id: LineName = None
    surface: Literal["flashcards"] = "flashcards"


MeasurementLine = QuizEvaluationLine | SummaryEvaluationLine | FlashcardsEvaluationLine


def request_in(line: MeasurementLine) -> AnyMeasurementRequest:
    """The request that a line carries, without what belongs to the line."""
    kinds: dict[str, type[AnyMeasurementRequest]] = {
        "quiz": QuizMeasurementRequest,
        "summary": SummaryMeasurementRequest,
        "flashcards": FlashcardsMeasurementRequest,
    }
    kind = kinds[line.surface]
    return kind(**{name: getattr(line, name) for name in kind.model_fields})


class QuizLine(QuizRequest):
    """A quiz to be made."""

    result: ClassVar = QUIZ_RESULT
    kind: Literal["quiz"]
    id: LineName = None


class QuizCheckLine(QuizCheckRequest):
    """A quiz to be checked."""

    result: ClassVar = QUIZ_RESULT
    kind: Literal["quiz_check"]
    id: LineName = None


QuizWorkLine = QuizLine | QuizCheckLine


def quiz_request_in(line: QuizWorkLine) -> QuizRequest | QuizCheckRequest:
    """The request that a line carries, without what belongs to the line."""
    kind = QuizRequest if isinstance(line, QuizLine) else QuizCheckRequest
    return kind(**{name: getattr(line, name) for name in kind.model_fields})
