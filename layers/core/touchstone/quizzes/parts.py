"""A quiz cut into parts that are written side by side, and what each part has to mend of an attempt before."""

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.material import Question
from touchstone.quizzes.content import allowed_targets
from touchstone.quizzes.model import Content, QuizAttempt, QuizRequest, Violation, Weakness

QUESTIONS_PER_CALL = 10
"""The most questions written with one call: as many as a model writes in the time that a quiz may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizPart:
    """The questions that are written with one call.

    `count` is their number. `targets` are the words and patterns that the part tests, so that no two parts test the
    same; empty if it is the only part. `before` are the part's questions of the attempt before, and `violations` what
    is wrong with them; both are empty on the first attempt. `kept` means that nothing is wrong with them, so that they
    stay as they are.
    """

    count: int
    targets: tuple[str, ...] = ()
    before: tuple[Question, ...] = ()
    violations: tuple[Violation, ...] = ()
    kept: bool = False


def parts_of(
    request: QuizRequest, content: Content, weakness: Weakness, before: QuizAttempt | None = None
) -> list[QuizPart]:
    """The parts of a quiz in their order, of nearly the same size. There is one part if few questions are asked for.

    Weak points and words are dealt out to the parts in turn, the weakest first. An attempt without violations counts as
    none.
    """
    number = -(-request.questions // QUESTIONS_PER_CALL)
    items = tuple(dict.fromkeys((*(point.item for point in weakness.weak_points), *allowed_targets(content, weakness))))
    parts: list[QuizPart] = []
    for at, (start, end) in enumerate(_ranges(request.questions, number)):
        dealt = (items[at::number] or items) if number > 1 else ()
        part = QuizPart(count=end - start, targets=dealt)
        parts.append(
            part
            if before is None or not before.violations
            else _mending(part, before, start, end, last=at == number - 1)
        )
    return parts


def _ranges(questions: int, number: int) -> Iterator[tuple[int, int]]:
    size, larger = divmod(questions, number)
    start = 0
    for at in range(number):
        end = start + size + (at < larger)
        yield start, end
        start = end


def _mending(part: QuizPart, before: QuizAttempt, start: int, end: int, *, last: bool) -> QuizPart:
    """A part with its questions of the attempt before. The last part has all questions that were too many."""
    questions = before.quiz.questions[start : None if last else end]
    ids = {question.id for question in questions}
    wrong = tuple(one for one in before.violations if one.question_id is None or one.question_id in ids)
    return QuizPart(
        count=part.count,
        targets=part.targets,
        before=questions,
        violations=wrong,
        kept=not wrong and len(questions) == part.count,
    )
