"""Requests for quizzes to be made or checked. A repeat meets the same record."""

from dataclasses import dataclass
from datetime import timedelta

from touchstone.errors import TooLargeError
from touchstone.operations.jobs.intake import Intake
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest, QuizRun, new_run
from touchstone.records import Curricula, Learners, Quizzes
from touchstone.references import Reference

MAX_QUIZ_BYTES = 1_000_000
"""Enough for five hundred questions of two thousand bytes. Checks of a longer text would outlast a quiz's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizIntake(Intake):
    """Accepts one tenant's requests for quizzes.

    Every method raises `NotFoundError` for a record that the tenant does not have (also a curriculum or learner that
    the request names), `InputError` for a chapter that the curriculum does not have, and `StoreError` if the request is
    to be repeated.
    """

    quizzes: Quizzes
    curricula: Curricula
    learners: Learners

    def make(self, request: QuizRequest, *, key: str | None) -> QuizRun:
        """Make a quiz; `key` is the sender's own."""
        return self.start(self.accept(request, self.new_id(key, called="quiz")))

    def check(self, request: QuizCheckRequest, *, key: str | None) -> QuizRun:
        """Check a quiz; `key` is the sender's own. Raises `TooLargeError` for a quiz of more than a megabyte."""
        return self.start(self.accept(request, self.new_id(key, called="quiz-check")))

    def accept(
        self, request: QuizRequest | QuizCheckRequest, quiz_id: str, *, abandoned_after: timedelta | None = None
    ) -> QuizRun:
        """Store a request under an id. A repeat finds it, whatever was deleted since.

        `abandoned_after`: for how long the batch that carries the quiz may resume it after a crash. None if no batch
        carries it.
        """
        if self.quizzes.find(Reference(self.tenant, "quiz", quiz_id)) is None:
            self._check(request)
        now = self.clock()
        left_until = None if abandoned_after is None else now + abandoned_after
        return self.quizzes.create(new_run(request, tenant=self.tenant, run_id=quiz_id, now=now, left_until=left_until))

    def start(self, run: QuizRun) -> QuizRun:
        """Start the machine of a quiz that is not over."""
        if not run.over:
            self.workflows().start("quiz", run.ref)
        return run

    def _check(self, request: QuizRequest | QuizCheckRequest) -> None:
        """Raise if a request names something that does not exist, or is too large."""
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
