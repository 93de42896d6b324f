"""What the steps of one tenant's quizzes work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Deadline
from touchstone.operations.context import StepContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.judges.base import Judge
    from touchstone.quizzes.run import QuizRun
    from touchstone.records import Curricula, Learners, Quizzes


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizContext(StepContext):
    """One tenant's quizzes, what they are made from, and whom they are made and judged by.

    `generator` and `evaluator` give who writes and who judges. Their argument tells whose replies these may be answered
    with: None, all that were given to the tenant; else those alone that were given for this quiz, so that its second
    try pays nothing twice and yet nothing that was said before it counts. They raise `SettingsError` where nobody can
    be asked.
    """

    quizzes: Quizzes
    curricula: Curricula
    learners: Learners
    generator: Callable[[str | None], Judge]
    evaluator: Callable[[str | None], Judge]

    def quiz(self, quiz_id: str) -> QuizRun:
        """The record of a quiz."""
        return self.quizzes.get(self.ref("quiz", quiz_id))

    def time_left(self, run: QuizRun) -> Deadline:
        """What is left of a quiz's time."""
        return Deadline.after(run.seconds_left(self.clock()))
