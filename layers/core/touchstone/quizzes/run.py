"""A quiz on its way through a deployment: what is stored of it, and the steps that change it.

    generating ─ retrieve ─ query ─> ( generate ─> validate ─┬─> evaluate ─┬─> finish )     at most 3 attempts
                                          ↑                  │ errors      │ violations
                                          └──────────────────┴─────────────┘
    checking   ─ retrieve ─ query ─> ( validate ─> evaluate ─> finish )                     a quiz of somebody's own

A quiz of somebody's own is checked against all rules that a program decides, whatever its structure. The judge is asked
only if the structure is sound.

The next step follows from what is stored. So a step that is repeated or late finds its work done, and says the same.
Every step is a pure function; a step that has nothing to do returns the very same record.

A step that asks a model holds the run for a moment, so that only one of several at once asks. A call that was
interrupted is tried a second time, but not a third. If nobody waits for the quiz, as in a batch, a call that failed for
a reason that may pass is put off instead, and the quiz's time begins anew with the next try. An interrupted call is
then begun as often as it takes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.attempts import Attempts, TryEnd, Waiting
from touchstone.judges.spends import Spend
from touchstone.material import Quiz
from touchstone.material.parts import PartId
from touchstone.quizzes.curriculum import Chapter, LanguageTag
from touchstone.quizzes.model import (
    Content,
    MadeQuiz,
    QuizAttempt,
    QuizRequest,
    QuizState,
    Rule,
    Stopped,
    Unanswered,
    Violation,
    Weakness,
)
from touchstone.quizzes.outcome import SECONDS, next_step, outcome, stopped_by
from touchstone.references import Reference
from touchstone.strict import Strict

CALL_LEASE = timedelta(seconds=15)
"""For how long a call holds a run: longer than nearly every call takes, and short enough to try once more."""
MAX_AWAITED_TRIES = 2
"""The most tries at one call of a quiz that somebody waits for. A third would come too late."""
MOST_VIOLATIONS = 1_000
"""The most violations of one attempt that are kept. An attempt with more is wrong as a whole."""
INTERRUPTED = "The work was interrupted before there was a result."

STRUCTURE_RULES: tuple[Rule, ...] = ("structure",)
"""The rules that were applied to an attempt before its evaluation."""

type RunKind = Literal["generate", "check"]
type RunState = Literal["generating", "checking"] | QuizState
type Asking = Literal["generate", "evaluate"]
"""The steps that ask a model."""
type RunStep = Literal["generate", "validate", "evaluate", "finish", "over"]
"""The next step. `over`: there is none."""


class QuizCheckRequest(Strict):
    """A quiz of your own that is to be checked.

    `ui_language` is the language that its questions must be in; null means that this is not checked. `chapter` is what
    the quiz may test: the id of a chapter in `curriculum`, or a chapter itself; null means that this is not checked.
    """

    quiz: Quiz
    ui_language: LanguageTag | None = None
    chapter: PartId | Chapter | None = None
    curriculum: PartId | None = None
    use_cache: bool = True

    @model_validator(mode="after")
    def _one_chapter(self) -> Self:
        if isinstance(self.chapter, str) != (self.curriculum is not None):
            raise PydanticCustomError(
                "no_chapter", "name a chapter and the curriculum that it is in, or give a chapter whole"
            )
        return self


class CallClaim(Strict):
    """A call that is being made: for which attempt, how often it was begun, and until when no other begins (UTC)."""

    asking: Asking
    number: int
    tries: int
    until: datetime


class QuizRun(Strict):
    """A quiz that is made or checked, as it is stored. Times are UTC.

    `deadline` is set when the first step begins, None before. `content` is the chapter that was retrieved, None before
    that and for a check without a chapter. `weakness` is what is known of the learner, None before it was retrieved and
    for a check. An attempt without `checks_run` was not validated yet. `failed` says why there is no further attempt,
    `unchecked` why the last attempt was not judged; both are None if that is not so. `outcome` is how the run ended,
    None before. `waiting` says why the run is put off and until when, and `trying` tells of the tries so far.
    `left_until` is until when the worker that carries the run may take it up again after a death; None if no worker
    does.
    """

    tenant: str
    id: str
    request: QuizRequest | QuizCheckRequest
    created_at: datetime
    deadline: datetime | None = None
    content: Content | None = None
    weakness: Weakness | None = None
    attempts: tuple[QuizAttempt, ...] = ()
    call: CallClaim | None = None
    failed: Unanswered | None = None
    unchecked: Unanswered | None = None
    spends: Annotated[tuple[Spend, ...], Field(max_length=1_000)] = ()
    outcome: QuizState | None = None
    finished_at: datetime | None = None
    trying: Attempts = Attempts()
    waiting: Waiting | None = None
    left_until: datetime | None = None

    @property
    def ref(self) -> Reference:
        """The reference to this record."""
        return Reference(self.tenant, "quiz", self.id)

    @property
    def kind(self) -> RunKind:
        """Whether a quiz is made, or a quiz of somebody's own is checked."""
        return "generate" if isinstance(self.request, QuizRequest) else "check"

    @property
    def state(self) -> RunState:
        """How the run ended or, before that, what is being done."""
        return self.outcome or ("generating" if self.kind == "generate" else "checking")

    @property
    def over(self) -> bool:
        """Whether nothing of the run changes any more."""
        return self.outcome is not None

    @property
    def made(self) -> MadeQuiz:
        """The result so far: the attempt that is handed out, and what it violates."""
        return _outcome(self)

    def seconds_left(self, now: datetime) -> float:
        """How many seconds are left of the run's time; all of them if it has not begun."""
        return SECONDS if self.deadline is None else max(0.0, (self.deadline - now).total_seconds())

    def step(self, now: datetime) -> RunStep:
        """The next step."""
        if self.over:
            return "over"
        if self.failed is not None or self.unchecked is not None:
            return "finish"
        if not self.attempts:
            return "generate"
        last = self.attempts[-1]
        if not last.checks_run:
            return "validate"
        if self.kind == "check" and last.checks_run == STRUCTURE_RULES:
            return "evaluate"  # also if its structure is broken: nobody writes it again, so all faults are told at once
        follows = next_step(last, seconds_left=self.seconds_left(now))
        return "finish" if follows == "generate" and self.kind == "check" else follows


def new_run(
    request: QuizRequest | QuizCheckRequest,
    *,
    tenant: str,
    run_id: str,
    now: datetime,
    left_until: datetime | None = None,
) -> QuizRun:
    """The run that a request begins. A quiz of somebody's own is its first and only attempt."""
    own = () if isinstance(request, QuizRequest) else (QuizAttempt(number=1, quiz=request.quiz),)
    return QuizRun(tenant=tenant, id=run_id, request=request, created_at=now, attempts=own, left_until=left_until)


def started(run: QuizRun, *, now: datetime, seconds: float = SECONDS, awaited: bool = True) -> QuizRun:
    """The run with its time begun, which ends after `seconds`.

    If nobody waits for it, a time that is over begins anew.
    """
    if run.over or (run.deadline is not None and (awaited or run.deadline > now)):
        return run
    return run.model_copy(update={"deadline": now + timedelta(seconds=seconds)})


def retrieved(run: QuizRun, content: Content) -> QuizRun:
    """The run with the chapter that it is about. Only the first retrieval counts."""
    return run if run.over or run.content is not None else run.model_copy(update={"content": content})


def queried(run: QuizRun, weakness: Weakness) -> QuizRun:
    """The run with what is known of its learner. Only the first query counts."""
    return run if run.over or run.weakness is not None else run.model_copy(update={"weakness": weakness})


def reference_missing(run: QuizRun, why: Unanswered) -> QuizRun:
    """The run that cannot go on, since something that it names does not exist any more."""
    if run.over or run.failed is not None or run.unchecked is not None:
        return run
    return run.model_copy(update={"failed" if run.kind == "generate" else "unchecked": why})


def call_begun(run: QuizRun, asking: Asking, *, now: datetime, awaited: bool = True) -> QuizRun:
    """The run held for a call. The very same run if no call is to be made now.

    That is the case if it is not the call's turn, or another call is being made. A call that was interrupted twice is
    given up if the quiz is `awaited`.
    """
    number = _asked_about(run, asking)
    if run.step(now) != asking or number is None:
        return run
    before = run.call if run.call is not None and (run.call.asking, run.call.number) == (asking, number) else None
    if before is not None and before.until > now:
        return run
    tries = 1 if before is None else before.tries + 1
    if awaited and tries > MAX_AWAITED_TRIES:
        return run.model_copy(update={_FAILURE_FIELD[asking]: Unanswered(reason="timed_out", details=(INTERRUPTED,))})
    return run.model_copy(update={"call": CallClaim(asking=asking, number=number, tries=tries, until=now + CALL_LEASE)})


def call_broken(run: QuizRun, asking: Asking, *, now: datetime) -> QuizRun:
    """The run released from a call that ended without a result."""
    if run.over or run.call is None or run.call.asking != asking or run.call.until <= now:
        return run
    return run.model_copy(update={"call": run.call.model_copy(update={"until": now})})


def put_off(
    run: QuizRun, asking: Asking, waiting: Waiting, *, ended: TryEnd, now: datetime, spends: Sequence[Spend]
) -> QuizRun:
    """The run put off until another try at a call, with all its time before it."""
    if run.step(now) != asking:
        return _paid(run, spends)
    trying = (run.trying.begun(now=now) or run.trying).put_back(until=waiting.until, ended=ended)
    changes = {"waiting": waiting, "trying": trying, "call": None, "deadline": None}
    return run.model_copy(update={**changes, "spends": (*run.spends, *spends)})


def handed_over(run: QuizRun) -> QuizRun:
    """The run that its state machine carries from now on, and that the sweep looks after."""
    if run.over or run.left_until is None:
        return run
    return run.model_copy(update={"left_until": None, "waiting": None})


def generated(run: QuizRun, quiz: Quiz, *, number: int, spends: Sequence[Spend]) -> QuizRun:
    """The run with one more attempt, not validated yet. Only the first attempt of a number counts."""
    if run.over or run.failed is not None or number != len(run.attempts) + 1:
        return _paid(run, spends)
    attempt = QuizAttempt(number=number, quiz=quiz)
    return run.model_copy(update={"attempts": (*run.attempts, attempt), "spends": (*run.spends, *spends), "call": None})


def not_generated(run: QuizRun, why: Unanswered, *, number: int, spends: Sequence[Spend]) -> QuizRun:
    """The run without a further attempt, and the reason why none was written."""
    if run.over or run.failed is not None or number != len(run.attempts) + 1:
        return _paid(run, spends)
    return run.model_copy(update={"failed": why, "spends": (*run.spends, *spends), "call": None})


def validated(run: QuizRun, violations: Sequence[Violation], *, now: datetime) -> QuizRun:
    """The run with the structure of its last attempt validated."""
    if run.step(now) != "validate":
        return run
    return _with_last(
        run, run.attempts[-1].model_copy(update={"violations": tuple(violations), "checks_run": STRUCTURE_RULES})
    )


def evaluated(run: QuizRun, attempt: QuizAttempt, *, unchecked: Unanswered | None, spends: Sequence[Spend]) -> QuizRun:
    """The run with its last attempt evaluated. Only the first evaluation counts.

    `unchecked` is why the attempt was only checked and not judged, None if it was judged.
    """
    last = run.attempts[-1] if run.attempts else None
    waiting = last is not None and last.number == attempt.number and last.checks_run == STRUCTURE_RULES
    if run.over or run.unchecked is not None or not waiting:
        return _paid(run, spends)
    changes = {"unchecked": unchecked, "spends": (*run.spends, *spends), "call": None}
    return _with_last(run, attempt).model_copy(update=changes)


def finished(run: QuizRun, *, now: datetime) -> QuizRun:
    """The run at its end, with the best of its attempts. A step that broke off adds nothing."""
    if run.over:
        return run
    if not run.attempts and run.failed is None:
        run = run.model_copy(update={"failed": Unanswered(reason="timed_out", details=(INTERRUPTED,))})
    return run.model_copy(update={"outcome": _outcome(run).state, "finished_at": now, "call": None, "waiting": None})


_FAILURE_FIELD: dict[Asking, str] = {"generate": "failed", "evaluate": "unchecked"}
"""The field that keeps why a step brought nothing."""


def _asked_about(run: QuizRun, asking: Asking) -> int | None:
    """The number of the attempt that a call is about. None if there is no attempt to evaluate."""
    return len(run.attempts) + 1 if asking == "generate" else (len(run.attempts) or None)


def _outcome(run: QuizRun) -> MadeQuiz:
    attempts, unchecked, failed = run.attempts, run.unchecked, run.failed
    stopped: Stopped | None = None
    if attempts and unchecked is None:
        complete = tuple(one for one in attempts if one.structural or one.checks_run not in ((), STRUCTURE_RULES))
        if complete and complete != attempts:
            # The evaluation of the last attempt broke off, so only the others can be compared.
            failed = failed or Unanswered(reason="timed_out", details=(INTERRUPTED,))
        elif not complete:
            unchecked = Unanswered(reason="timed_out", details=(INTERRUPTED,))
        elif failed is None and run.kind == "generate":
            stopped = stopped_by(attempts[-1])
        attempts = complete or attempts
    made = outcome(attempts, unchecked=unchecked, failed=failed, stopped=stopped, spends=run.spends)
    return made.model_copy(update={"attempts": run.attempts})


def _with_last(run: QuizRun, last: QuizAttempt) -> QuizRun:
    last = last.model_copy(update={"violations": last.violations[:MOST_VIOLATIONS]})
    return run.model_copy(update={"attempts": (*run.attempts[:-1], last)})


def _paid(run: QuizRun, spends: Sequence[Spend]) -> QuizRun:
    """The run with calls that were paid for and came too late. Each call is kept once."""
    fresh = tuple(spend for spend in spends if not spend.cached and spend not in run.spends)
    return run.model_copy(update={"spends": (*run.spends, *fresh)}) if fresh else run
