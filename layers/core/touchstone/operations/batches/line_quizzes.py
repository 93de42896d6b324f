"""Quizzes that lines of a batch ask for: taken like any other request, and made or checked beside the other lines."""

from dataclasses import dataclass
from datetime import timedelta

from touchstone.attempts import Waiting
from touchstone.clock import Deadline
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.job_lines import QuizWorkLine, tried_or
from touchstone.operations.quizzes.context import QuizContext
from touchstone.operations.quizzes.intake import QuizIntake
from touchstone.operations.quizzes.making import make_whole
from touchstone.quizzes.run import handed_over
from touchstone.quizzes.view import QuizView

LONGEST_SECONDS = 180.0
"""The most time for a quiz. Nobody waits for a line, so a quiz may wait for a minute of a judge's quota in each
attempt."""
LEAST_SECONDS = 45.0
"""The least time left in which a quiz is begun: a quiz that is given the usual time ends within this many seconds."""

_NOT_BEGUN = "It was not begun in this run, for want of time or because another run is at it; the next one does it."


@dataclass(frozen=True, slots=True, kw_only=True)
class LineQuizzes:
    """Takes and makes the quizzes that lines of one tenant's batches ask for.

    `abandoned_after` is how long a batch may leave a quiz.
    """

    context: QuizContext
    intake: QuizIntake
    abandoned_after: timedelta

    def hand_in(self, line: QuizWorkLine, quiz_id: str) -> str:
        """Accept a request for a quiz and return the quiz's id; a repeat of the line finds it.

        Raises `NotFoundError` and `InputError` for a curriculum, chapter or learner that does not exist, and
        `TooLargeError`.
        """
        return self.intake.accept(request_of(line), quiz_id, abandoned_after=self.abandoned_after).id

    async def judge(self, quiz_id: str, *, deadline: Deadline, last: bool, at_once: bool) -> QuizView | Waiting:  # noqa: ARG002 - no batch takes it
        """Make or check a quiz before the deadline. Return the view then, or why and until when it waits.

        Nothing is begun with less than `LEAST_SECONDS` left, or while somebody else works on the quiz: then the quiz
        waits. Once the quiz was worked on, its own state machine does the rest. `last`: no other try of the line
        follows, so the quiz waits for nothing more.
        """
        run = self.context.quiz(quiz_id)
        held = run.waiting is not None and run.waiting.until > self.context.clock() and not last
        begun = not run.over and not held and deadline.remaining >= LEAST_SECONDS
        if begun:
            seconds, abandoned_after = min(LONGEST_SECONDS, deadline.remaining), None if last else self.abandoned_after
            run = await tried_or(
                make_whole(self.context, quiz_id, seconds=seconds, abandoned_after=abandoned_after),
                lambda: self.context.quiz(quiz_id),
                f"Quiz {quiz_id} was not made with its line",
            )
        if run.waiting is not None and not last:
            return run.waiting
        now = self.context.clock()
        busy_until = now if run.call is None else run.call.until
        if not (last or run.over) and (not begun or busy_until > now):
            return Waiting(
                reason="timed_out",
                sentence=_NOT_BEGUN,
                until=max(now, busy_until),
                left_until=now + self.abandoned_after,
            )
        return QuizView.of(self.intake.start(self.context.quizzes.change(run.ref, handed_over)))
