"""Lines of a batch that hand in material to be measured."""

from typing import ClassVar, Literal

from touchstone.operations.line_names import LineName
from touchstone.surfaces.measurement import (
    AnyMeasurementRequest,
    FlashcardsMeasurementRequest,
    QuizMeasurementRequest,
    SummaryMeasurementRequest,
)

RESULT = "measurement"
"""The field of a line's result that such lines fill."""


class QuizEvaluationLine(QuizMeasurementRequest):
    """A quiz to be measured."""

    result: ClassVar = RESULT
    kind: Literal["quiz_evaluation"]
    id: LineName = None
    surface: Literal["quiz"] = "quiz"


class SummaryEvaluationLine(SummaryMeasurementRequest):
    """A summary to be measured."""

    result: ClassVar = RESULT
    kind: Literal["summary_evaluation"]
    id: LineName = None
    surface: Literal["summary"] = "summary"


class FlashcardsEvaluationLine(FlashcardsMeasurementRequest):
    """A deck of flashcards to be measured."""

    result: ClassVar = RESULT
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
