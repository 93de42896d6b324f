"""A quiz as its tenant reads it, while it is made or checked and afterwards."""

from datetime import datetime

from pydantic import Field

from touchstone.judges.spends import Spend, count_unpriced, known_cost, tokens_of
from touchstone.material import Quiz
from touchstone.quizzes.curriculum import Chapter
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.model import QuizAttempt, QuizRequest, Rule, Stopped, Unanswered, Violation
from touchstone.quizzes.run import QuizRun, RunKind, RunState
from touchstone.strict import Strict


class AttemptView(Strict):
    """One attempt in short.

    It has the number of violations found, the rules that they break (`rules`), and the rules that were applied
    (`checks_run`).
    """

    number: int
    violations: int
    rules: tuple[Rule, ...]
    checks_run: tuple[Rule, ...]

    @classmethod
    def of(cls, attempt: QuizAttempt) -> "AttemptView":
        """The view of an attempt."""
        return cls(
            number=attempt.number,
            violations=len(attempt.violations),
            rules=tuple(dict.fromkeys(violation.rule for violation in attempt.violations)),
            checks_run=attempt.checks_run,
        )


class QuizView(Strict):
    """A quiz that is made (`generate`) or checked (`check`). Times are UTC.

    `state` is `clean` only if every rule was applied and none is broken. `violations`: some rules are broken.
    `unchecked`: not every rule was applied; `checks_run` and `unchecked` say which and why. `failed`: there is no quiz;
    `failed` says why. Until the work is over, `quiz` is null. `attempt` is the number of the attempt that is returned;
    `violations` and `checks_run` belong to it. `stopped` means that no time was left for another attempt. `tokens` and
    `cost_usd` (US dollars, known prices only) are those of all attempts. If the quiz was put off, `waiting_for` is a
    word for why, and `waiting_until` when it is tried again; otherwise they are null.
    """

    id: str
    kind: RunKind
    state: RunState
    curriculum: str | None
    chapter: str | None
    learner: str | None
    ui_language: str | None
    quiz: Quiz | None
    attempt: int | None
    violations: tuple[Violation, ...]
    checks_run: tuple[Rule, ...]
    attempts: tuple[AttemptView, ...]
    unchecked: Unanswered | None
    failed: Unanswered | None
    stopped: Stopped | None
    spends: tuple[Spend, ...]
    tokens: int = Field(ge=0)
    cost_usd: float | None = Field(ge=0.0)
    unpriced_calls: int = Field(ge=0)
    created_at: datetime
    finished_at: datetime | None
    waiting_for: str | None = None
    waiting_until: datetime | None = None

    @classmethod
    def of(cls, run: QuizRun) -> "QuizView":
        """The view of a run."""
        made = run.made if run.over else None
        return cls(
            id=run.id,
            kind=run.kind,
            state=run.state,
            curriculum=run.request.curriculum,
            chapter=_chapter_of(run),
            learner=_learner_of(run),
            ui_language=run.request.ui_language if run.weakness is None else run.weakness.ui_language,
            quiz=made.quiz if made else None,
            attempt=made.attempt if made else None,
            violations=made.violations if made else (),
            checks_run=made.checks_run if made else (),
            attempts=tuple(AttemptView.of(attempt) for attempt in run.attempts if attempt.checks_run),
            unchecked=made.unchecked if made else None,
            failed=made.failed if made else None,
            stopped=made.stopped if made else None,
            spends=run.spends,
            tokens=tokens_of(run.spends),
            cost_usd=known_cost(run.spends),
            unpriced_calls=count_unpriced(run.spends),
            created_at=run.created_at,
            finished_at=run.finished_at,
            waiting_for=None if run.waiting is None else run.waiting.reason,
            waiting_until=None if run.waiting is None else run.waiting.until,
        )


def _chapter_of(run: QuizRun) -> str | None:
    named = run.request.chapter
    return named.id if isinstance(named, Chapter) else named


def _learner_of(run: QuizRun) -> str | None:
    named = run.request.learner if isinstance(run.request, QuizRequest) else None
    return named.id if isinstance(named, LearnerProfile) else named
