"""The stores and judges that the steps of one tenant's quizzes use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Deadline
from touchstone.operations.jobs.context import StepContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.judges.base import Judge
    from touchstone.quizzes.run import QuizRun
    from touchstone.records import Curricula, Learners, Quizzes


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizContext(StepContext):
    """One tenant's quizzes, curricula and learners, and the judges that write and evaluate quizzes.

    `generator` gives the judge that writes, `evaluator` the judge that evaluates. Their argument tells which stored
    replies may answer their questions. None: every reply that the tenant was ever given. A quiz id: only replies that
    were given for this quiz, so that its second try pays nothing twice, and no older reply counts. Both raise
    `SettingsError` if no judge can be asked.
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
        """The time that a quiz has left."""
        return Deadline.after(run.seconds_left(self.clock()))
