"""What the steps of one tenant's quizzes work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, Deadline, system_clock
from touchstone.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.judges.base import Judge
    from touchstone.judges.spends import Spend
    from touchstone.quizzes.run import QuizRun
    from touchstone.records import Curricula, Learners, Quizzes


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizDesk:
    """One tenant's quizzes, what they are made from, and whom they are made and judged by.

    `generator` and `evaluator` give who writes and who judges. Their argument tells whose replies these may be answered
    with: None, all that were given to the tenant; else those alone that were given for this quiz, so that its second
    try pays nothing twice and yet nothing that was said before it counts. They raise `SettingsError` where nobody can
    be asked. `paid` is told of calls that were paid for.
    """

    tenant: str
    quizzes: Quizzes
    curricula: Curricula
    learners: Learners
    generator: Callable[[str | None], Judge]
    evaluator: Callable[[str | None], Judge]
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock

    def ref(self, quiz_id: str) -> Reference:
        """The reference to a quiz."""
        return Reference(self.tenant, "quiz", quiz_id)

    def quiz(self, quiz_id: str) -> QuizRun:
        """The record of a quiz."""
        return self.quizzes.get(self.ref(quiz_id))

    def time_left(self, run: QuizRun) -> Deadline:
        """What is left of a quiz's time."""
        return Deadline.after(run.seconds_left(self.clock()))
