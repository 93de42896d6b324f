"""Quizzes that are made or checked; each step is one write."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from touchstone.attempts import LEASE, TryEnd, Waiting
from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import Spend, known_cost, unpriced
from touchstone.material import Quiz
from touchstone.quizzes import run as steps
from touchstone.quizzes.curriculum import Chapter
from touchstone.quizzes.loop import SECONDS
from touchstone.quizzes.model import Attempt, Content, QuizRequest, Unanswered, Violation, Weakness
from touchstone.quizzes.run import Asking, QuizCheckRequest, QuizRun, RunKind, RunState
from touchstone.records.artifacts import Artifacts
from touchstone.records.cursors import Page
from touchstone.records.keys import of_tenant, quiz_key, record_of, sortable
from touchstone.records.lists import due_until, newest
from touchstone.records.table import Item
from touchstone.records.versioned import Kind, Versioned
from touchstone.strict import Strict

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "QUIZ#unfinished"
"""The partition of the `deferred` index where quizzes that are not over are, of all tenants."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedQuiz:
    """A quiz that is not over."""

    tenant: str
    quiz_id: str


class Quizzes:
    """The records of quizzes.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` where the store
    fails; all are safe to repeat, and a repeat returns the record as it is stored by then.
    """

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._records = Versioned(QUIZ, table, artifacts, pause=pause)
        self._clock = clock

    def create(
        self,
        *,
        tenant: str,
        quiz_id: str,
        request: QuizRequest | QuizCheckRequest,
        left_for: timedelta | None = None,
    ) -> QuizRun:
        """Store a new quiz to be made or checked; a repeat returns the stored one, however far it has come.

        `left_for`: how long whoever carries it may take it up again after a death, None where nobody does. Raises
        `ConflictError` where the id belongs to another request.
        """
        now = self._clock()
        left_until = None if left_for is None else now + left_for
        return self._records.insert(
            steps.new_run(request, tenant=tenant, run_id=quiz_id, now=now, left_until=left_until)
        )

    def find(self, *, tenant: str, quiz_id: str) -> QuizRun | None:
        """The record of a quiz, None where there is none."""
        stored = self._records.find(tenant, quiz_key(tenant, quiz_id))
        return None if stored is None else stored.record

    def get(self, *, tenant: str, quiz_id: str) -> QuizRun:
        """The record of a quiz."""
        return self._records.read(tenant, quiz_key(tenant, quiz_id)).record

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[QuizSummary]:
        """A tenant's quizzes, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = of_tenant(tenant, "QUIZZES")
        items, after = newest(self._table, "the quizzes", scope=scope, limit=limit, cursor=cursor)
        return Page(items=tuple(QuizSummary.model_validate_json(str(item["summary"])) for item in items), cursor=after)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[UnfinishedQuiz, ...]:
        """Quizzes of all tenants that should have been over longer ago than `older_than`, oldest first.

        One that nobody began should have been begun by when whoever took it is certainly gone.
        Read from an index: one that was finished a moment ago may still be among them.
        """
        moment = self._clock() - older_than
        found = due_until(self._table, "unfinished quizzes", kind=UNFINISHED, moment=moment, limit=limit)
        owners = (record_of(str(item["pk"])) for item in found)
        return tuple(UnfinishedQuiz(tenant=tenant, quiz_id=quiz_id) for tenant, quiz_id in owners)

    def start(self, *, tenant: str, quiz_id: str, seconds: float = SECONDS, awaited: bool = True) -> QuizRun:
        """Let its time of `seconds` begin; the first one to say so counts. `awaited`: see `started`."""

        def step(run: QuizRun) -> QuizRun:
            return steps.started(run, now=self._clock(), seconds=seconds, awaited=awaited)

        return self._step(tenant, quiz_id, step)

    def retrieve(self, run: QuizRun, content: Content) -> QuizRun:
        """Keep the chapter that it is about."""
        return self._step(run.tenant, run.id, lambda one: steps.retrieved(one, content))

    def query(self, run: QuizRun, weakness: Weakness) -> QuizRun:
        """Keep what is known of its learner."""
        return self._step(run.tenant, run.id, lambda one: steps.queried(one, weakness))

    def lack(self, run: QuizRun, why: Unanswered) -> QuizRun:
        """Keep that what it names is not there any more."""
        return self._step(run.tenant, run.id, lambda one: steps.lacking(one, why))

    def begin(self, *, tenant: str, quiz_id: str, asking: Asking, awaited: bool = True) -> tuple[QuizRun, bool]:
        """Begin a call, and whether it is to be made: of many at once exactly one is. `awaited`: see `call_begun`."""

        def begun(run: QuizRun) -> QuizRun:
            return steps.call_begun(run, asking, now=self._clock(), awaited=awaited)

        run, changed = self._records.begin(tenant, quiz_key(tenant, quiz_id), begun)
        return run, changed and run.failed is None and run.unchecked is None  # a third try gives up instead

    def break_off(self, run: QuizRun, asking: Asking) -> QuizRun:
        """Keep that a call ended without a result, so that another one may begin at once."""
        return self._step(run.tenant, run.id, lambda one: steps.call_broken(one, asking, now=self._clock()))

    def put_off(
        self, run: QuizRun, asking: Asking, waiting: Waiting, *, ended: TryEnd, spends: Sequence[Spend]
    ) -> QuizRun:
        """Keep that a call brought nothing, how it `ended`, and for what the quiz waits."""

        def step(one: QuizRun) -> QuizRun:
            return steps.put_off(one, asking, waiting, ended=ended, now=self._clock(), spends=spends)

        return self._step(run.tenant, run.id, step)

    def hand_over(self, run: QuizRun) -> QuizRun:
        """Leave a quiz to its machine."""
        return self._step(run.tenant, run.id, steps.handed_over)

    def add(self, run: QuizRun, quiz: Quiz, *, number: int, spends: Sequence[Spend]) -> QuizRun:
        """Keep what the generator wrote as an attempt."""
        return self._step(run.tenant, run.id, lambda one: steps.generated(one, quiz, number=number, spends=spends))

    def give_up(self, run: QuizRun, why: Unanswered, *, number: int, spends: Sequence[Spend]) -> QuizRun:
        """Keep that nobody wrote an attempt, and why."""
        return self._step(run.tenant, run.id, lambda one: steps.not_generated(one, why, number=number, spends=spends))

    def validate(self, run: QuizRun, violations: Sequence[Violation]) -> QuizRun:
        """Keep what is wrong with the structure of the last attempt."""
        return self._step(run.tenant, run.id, lambda one: steps.validated(one, violations, now=self._clock()))

    def judge(
        self, run: QuizRun, attempt: Attempt, *, unchecked: Unanswered | None, spends: Sequence[Spend]
    ) -> QuizRun:
        """Keep the last attempt as it was checked and judged; `unchecked`: as it was checked alone, and why."""
        return self._step(
            run.tenant, run.id, lambda one: steps.evaluated(one, attempt, unchecked=unchecked, spends=spends)
        )

    def finish(self, *, tenant: str, quiz_id: str) -> QuizRun:
        """End it with the best of what there is."""
        return self._step(tenant, quiz_id, lambda run: steps.finished(run, now=self._clock()))

    def _step(self, tenant: str, quiz_id: str, step: Callable[[QuizRun], QuizRun]) -> QuizRun:
        return self._records.change(tenant, quiz_key(tenant, quiz_id), step)


def _derived(run: QuizRun) -> Item:
    made = run.made if run.over else None
    chapter = run.request.chapter
    summary = QuizSummary(
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
    item: Item = {"gsi1pk": of_tenant(run.tenant, "QUIZZES"), "gsi1sk": run.id, "summary": summary.model_dump_json()}
    if run.over:
        return item
    # One that nobody began may wait for its turn, as long as the function lives that took it.
    left_until = run.left_until if run.waiting is None else run.waiting.left_until
    due = left_until or run.deadline or run.created_at + LEASE
    return item | {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(due)}#{run.id}"}


QUIZ = Kind(
    name="quiz",
    model=QuizRun,
    key=lambda run: quiz_key(run.tenant, run.id),
    asked=lambda run: run.request.model_dump_json(),
    derived=_derived,
)
"""How quizzes are stored."""
