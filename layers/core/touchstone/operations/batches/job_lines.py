"""Lines of a batch whose work has a record and a machine of its own: submissions, measurements, quizzes."""

import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from touchstone.errors import StoreError
from touchstone.operations.batches.chunks import LineName
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest
from touchstone.surfaces.measurement import (
    FlashcardsMeasurementRequest,
    QuizMeasurementRequest,
    SummaryMeasurementRequest,
)

MEASUREMENT_RESULT, QUIZ_RESULT = "measurement", "quiz"
"""The fields of a line's result that lines to be measured and lines that ask for a quiz fill, in this order."""

logger = logging.getLogger(__name__)


class SubmissionLine(SubmissionRequest):
    """Work to be handed in, as text or as a file that was uploaded before."""

    result: ClassVar = "submission"
    kind: Literal["submission"]
    id: LineName = None
    task_id: Annotated[str, Field(min_length=1, max_length=64)]


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


async def tried_or[R](work: Awaitable[R], otherwise: Callable[[], R], fault: str) -> R:
    """What `work` on a line's record brought; `otherwise` if it broke off, which is logged as a `fault`.

    The record is taken, so its line is done: its own machine tries again, and says what is wrong. A fault of the store
    is raised, since the chunk is to be repeated then.
    """
    try:
        return await work
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        # Log the error's type only: its message may quote what was sent.
        logger.error("%s: %s", fault, type(error).__name__)  # noqa: TRY400
        return otherwise()
