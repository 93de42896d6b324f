"""Lines of a batch that ask for a quiz, or hand in one to be checked."""

from typing import ClassVar, Literal

from touchstone.operations.line_names import LineName
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest

RESULT = "quiz"
"""The field of a line's result that such lines fill."""


class QuizLine(QuizRequest):
    """A quiz to be made."""

    result: ClassVar = RESULT
    kind: Literal["quiz"]
    id: LineName = None


class QuizCheckLine(QuizCheckRequest):
    """A quiz to be checked."""

    result: ClassVar = RESULT
    kind: Literal["quiz_check"]
    id: LineName = None


QuizWorkLine = QuizLine | QuizCheckLine


def quiz_request_in(line: QuizWorkLine) -> QuizRequest | QuizCheckRequest:
    """The request that a line carries, without what belongs to the line."""
    kind = QuizRequest if isinstance(line, QuizLine) else QuizCheckRequest
    return kind(**{name: getattr(line, name) for name in kind.model_fields})
