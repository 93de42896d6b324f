"""What the doors ask for: quizzes to be made, and quizzes to be checked. A repeat meets the same record."""

from dataclasses import dataclass
from datetime import timedelta

from touchstone.errors import TooLargeError
from touchstone.operations.jobs.intake import Intake
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest, QuizRun, new_run
from touchstone.records import Curricula, Learners, Quizzes
from touchstone.references import Reference

MAX_QUIZ_BYTES = 1_000_000
"""Five hundred questions of two thousand bytes. A longer text keeps the checks busy past a quiz's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizIntake(Intake):
    """Accepts what one tenant asks for of quizzes.

    Every method raises `NotFoundError` for what the tenant does not have, a curriculum or learner that a request names
    among it, `InputError` for a chapter that its curriculum does not have, and `StoreError` where it is to be repeated.
    """

    quizzes: Quizzes
    curricula: Curricula
    learners: Learners

    def make(self, request: QuizRequest, *, key: str | None) -> QuizRun:
        """Have a quiz made; `key` is the sender's own."""
        return self.start(self.accept(request, self.new_id(key, called="quiz")))

    def check(self, request: QuizCheckRequest, *, key: str | None) -> QuizRun:
        """Have a quiz checked; `key` is the sender's own. Raises `TooLargeError` for a quiz of more than a megabyte."""
        return self.start(self.accept(request, self.new_id(key, called="quiz-check")))

    def accept(
        self, request: QuizRequest | QuizCheckRequest, quiz_id: str, *, left_for: timedelta | None = None
    ) -> QuizRun:
        """Keep what is asked for under an id; a repeat finds it, whatever has been deleted since.

        `left_for`: how long whoever carries it may take it up again after a death, None where nobody does.
        """
        if self.quizzes.find(Reference(self.tenant, "quiz", quiz_id)) is None:
            self._check(request)
        now = self.clock()
        left_until = None if left_for is None else now + left_for
        return self.quizzes.create(new_run(request, tenant=self.tenant, run_id=quiz_id, now=now, left_until=left_until))

    def start(self, run: QuizRun) -> QuizRun:
        """Start the machine of a quiz that is not over."""
        if not run.over:
            self.workflows().start("quiz", run.ref)
        return run

    def _check(self, request: QuizRequest | QuizCheckRequest) -> None:
        """Refuse a request that names what is not there, or that is too large."""
        if isinstance(request, QuizCheckRequest):
            size = len(request.quiz.model_dump_json().encode())
            if size > MAX_QUIZ_BYTES:
                raise TooLargeError(
                    f"The quiz has {size:,} bytes; at most {MAX_QUIZ_BYTES:,} are checked at once. Split it.",
                    where="quiz",
                )
        if request.curriculum is not None and isinstance(request.chapter, str):
            kept = self.curricula.get(tenant=self.tenant, document_id=request.curriculum)
            kept.document.chapter(request.chapter)
        if isinstance(request, QuizRequest) and isinstance(request.learner, str):
            self.learners.get(tenant=self.tenant, document_id=request.learner)
