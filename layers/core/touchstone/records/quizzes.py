"""Quizzes that are made or checked."""

from datetime import datetime

from touchstone.attempts import LEASE
from touchstone.judges.spends import known_cost, unpriced
from touchstone.quizzes.curriculum import Chapter
from touchstone.quizzes.run import QuizRun, RunKind, RunState
from touchstone.records.jobs import Job, JobStore
from touchstone.strict import Strict


class QuizSummary(Strict):
    """One line of a list of quizzes. `chapter` is its id, null for a check without one.

    `questions` and `violations` are of the attempt that is handed out, and of a quiz that is not over 0. `cost_usd` is
    the known prices of all calls so far, None where it was stored before that was kept.
    """

    id: str
    kind: RunKind
    state: RunState
    curriculum: str | None
    chapter: str | None
    questions: int
    violations: int
    attempts: int
    cost_usd: float | None = None
    unpriced_calls: int = 0
    created_at: datetime
    finished_at: datetime | None


def _summary(run: QuizRun) -> QuizSummary:
    made = run.made if run.over else None
    chapter = run.request.chapter
    return QuizSummary(
        id=run.id,
        kind=run.kind,
        state=run.state,
        curriculum=run.request.curriculum,
        chapter=chapter.id if isinstance(chapter, Chapter) else chapter,
        questions=len(made.quiz.questions) if made and made.quiz else 0,
        violations=len(made.violations) if made else 0,
        attempts=len(run.attempts),
        cost_usd=known_cost(run.spends),
        unpriced_calls=unpriced(run.spends),
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def _due(run: QuizRun) -> datetime | None:
    """When it should be over; of one that nobody began, when whoever took it is certainly gone."""
    if run.over:
        return None
    # One that nobody began may wait for its turn, as long as the function lives that took it.
    left_until = run.left_until if run.waiting is None else run.waiting.left_until
    return left_until or run.deadline or run.created_at + LEASE


type Quizzes = JobStore[QuizRun, QuizSummary]
QUIZ = Job(
    kind="quiz",
    plural="quizzes",
    model=QuizRun,
    asked=lambda run: run.request.model_dump_json(),
    line=QuizSummary,
    summary=_summary,
    due=_due,
)
"""How quizzes are stored."""
