"""The whole job in one process, without AWS: for the library, the command and batches.

The deployment's state machines walk the same steps, one function each, with the record kept between them:

```text
verify    quick_verify ─> settled
solve     read_image? ─> analyze ─> retrieve ─> [exact] ─> enrich ─> settled
                                        └─> next_attempt ─> quick_verify ─> route ─> enrich ─> settled
                                                 ^                            │ retry
                                                 └────────────────────────────┘
```
"""

import uuid
from dataclasses import dataclass
from typing import Any

from touchstone.answers.analysis import analyze
from touchstone.answers.enrichment import enrich
from touchstone.answers.evaluation import evaluate
from touchstone.answers.judge_time import START_SECONDS, judge_seconds
from touchstone.answers.model import Analysis, AnswerRecord, Attempt, EvaluationProgress, SolveRequest, VerifyRequest
from touchstone.answers.panel import several, verifying_seconds
from touchstone.answers.printed import left_to_a_judge, printed_problem
from touchstone.answers.progress import MAX_ATTEMPTS, best_attempt, new_record, route, settled
from touchstone.answers.providers import Preferences, no_evaluator_sentence, no_solver_sentence
from touchstone.answers.reading import inline_image, read_image
from touchstone.answers.retrieval import EarlierSolution, SolutionStore, retrieve, retrieved_attempt
from touchstone.answers.solving import next_attempt
from touchstone.answers.verification import Verified, quick_verify, second_judge
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import ConflictError, JudgeError, LimitError, MisconfiguredError, Unanswered
from touchstone.judges.base import Image
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.opening import Judges
from touchstone.judges.spends import Spend, spends_of_failure

SOLVE_SECONDS = 180.0
"""The most seconds for solving a problem, without its verifications: a strong model takes up to a minute for an
attempt."""
EVALUATE_SECONDS = 60.0
"""The most seconds for a deep evaluation: nobody waits for it, but a call that hangs must end."""


async def verify_answer(
    request: VerifyRequest,
    *,
    judges: Judges,
    deadline: Deadline | None = None,
    tenant: str = "local",
    answer_id: str | None = None,
    clock: Clock = system_clock,
) -> AnswerRecord:
    """Verify an answer that somebody already has.

    A judge has the request's `verify_seconds`, else `TOUCHSTONE_VERIFY_SECONDS` (60). `deadline` is when the whole must
    have ended; None means after the seconds that `longest` gives. `answer_id` None means a new id. Raises `InputError`
    for a blank problem and `SettingsError`; never for a judge that fails.
    """
    record = new_record(request, tenant=tenant, answer_id=answer_id or uuid.uuid4().hex, now=clock())
    (attempt,) = record.attempts
    deadline = deadline or Deadline.after(longest(request))
    verified = await _verified(request.problem, attempt, record, judges=judges, deadline=deadline)
    attempt = attempt.model_copy(update={"verification": verified.verification})
    return settled(record.model_copy(update={"attempts": (attempt,), "spends": verified.spends}), now=clock())


async def solve_and_verify(
    request: SolveRequest,
    *,
    judges: Judges,
    store: SolutionStore | None = None,
    preferences: Preferences | None = None,
    deadline: Deadline | None = None,
    tenant: str = "local",
    answer_id: str | None = None,
    clock: Clock = system_clock,
) -> AnswerRecord:
    """Solve a problem, verify the solution, and solve it once more by another provider if that is called for.

    If `store` is None, nothing is retrieved. `deadline` None means `SOLVE_SECONDS` from now, plus the time that its
    verifications may take. A record in stage `failed` says in `failure` why there is no answer. Raises `InputError` for
    a blank problem, an image that is no picture, or an image in S3; `StoreError` if the store fails; never for a judge
    that fails.
    """
    picture = None if request.image is None else inline_image(request.image)
    run = _Run(
        record=new_record(request, tenant=tenant, answer_id=answer_id or uuid.uuid4().hex, now=clock()),
        judges=judges,
        deadline=deadline or Deadline.after(longest(request)),
    )
    if picture is not None:
        await run.read(picture)
    if (problem := run.record.problem) is not None:
        await run.work(problem, store, preferences)
        if run.record.attempts:
            run.record = settled(run.record, now=clock())
            await run.enrich(problem, run.record.attempts[best_attempt(run.record.attempts) - 1])
    return run.record.model_copy(update={"updated_at": clock()})


async def deep_evaluate(
    record: AnswerRecord,
    *,
    judges: Judges,
    deadline: Deadline | None = None,
    clock: Clock = system_clock,
) -> AnswerRecord:
    """The record with its deep evaluation, within `deadline`.

    `deadline` None means as long as `evaluating_seconds` says.

    Raises `ConflictError` for a record without an answer, `MisconfiguredError` if no provider has a key, and another
    `JudgeError` or `LimitError` if the judge does not evaluate it.
    """
    judge = judges.default("evaluate")
    if record.best is None or record.problem is None:
        raise ConflictError("There is no answer to evaluate: the record has none.")
    if judge is None:
        raise MisconfiguredError(no_evaluator_sentence(judges.remedy), sent=False)
    requested_at = clock()
    evaluated = await evaluate(
        record.problem,
        record.best.solution,
        judge=judge,
        deadline=deadline or Deadline.after(evaluating_seconds(record)),
        seconds=evaluating_seconds(record) - START_SECONDS,
        clock=clock,
        language=record.language,
        use_cache=record.use_cache,
    )
    progress = EvaluationProgress(state="done", requested_at=record.evaluation.requested_at or requested_at, tries=1)
    return record.model_copy(
        update={
            "deep_evaluation": evaluated.evaluation,
            "evaluation": progress,
            "spends": (*record.spends, *evaluated.spends),
            "updated_at": clock(),
        }
    )


def longest(request: VerifyRequest | SolveRequest) -> float:
    """The most seconds that a request takes from its first check to its last judge, without waits for a quota."""
    verifying = verifying_seconds(judge_seconds(request.verify_seconds), request.judges)
    return verifying if isinstance(request, VerifyRequest) else SOLVE_SECONDS + MAX_ATTEMPTS * verifying


def evaluating_seconds(record: AnswerRecord) -> float:
    """The most seconds that a deep evaluation takes. A judge that is slow to verify may be slow here too."""
    return START_SECONDS + max(EVALUATE_SECONDS, judge_seconds(record.verify_seconds))


async def _verified(
    problem: str, attempt: Attempt, record: AnswerRecord, *, judges: Judges, deadline: Deadline
) -> Verified:
    """The verification of an attempt, in the way that the record's request asks for it."""
    judge = judges.default("verify")
    return await quick_verify(
        problem,
        attempt.solution.answer,
        attempt.solution.steps,
        judge=judge,
        another=second_judge(judges, judge),
        several=several(judges, record.judges),
        remedy=judges.remedy,
        key=record.answer_key,
        deadline=deadline,
        seconds=judge_seconds(record.verify_seconds),
        language=record.language,
        use_cache=record.use_cache,
    )


@dataclass(slots=True, kw_only=True)
class _Run:
    """One problem on its way through the pipeline; `record` is replaced at each step."""

    record: AnswerRecord
    judges: Judges
    deadline: Deadline
    analysis: Analysis | None = None

    def change(self, spends: tuple[Spend, ...] = (), **changes: Any) -> None:
        self.record = self.record.model_copy(update={**changes, "spends": (*self.record.spends, *spends)})

    def fail(self, failure: str, reason: Unanswered | None, spends: tuple[Spend, ...] = ()) -> None:
        self.change(spends, stage="failed", failure=failure, failure_reason=reason)

    async def read(self, picture: Image) -> None:
        printed = await printed_problem(picture)
        if printed is not None and printed.unsure is None:
            return self.change(problem=printed.text)
        judge = self.judges.default("strong")
        if judge is None:
            unsure = "" if printed is None or printed.unsure is None else f"{left_to_a_judge(printed.unsure)} "
            return self.fail(unsure + no_solver_sentence(self.judges.remedy), "misconfigured")
        try:
            reading = await read_image(
                picture,
                judge=judge,
                deadline=self.deadline,
                language=self.record.language,
                use_cache=self.record.use_cache,
            )
        except (JudgeError, LimitError) as error:
            failure = f"The image could not be read: {error}"
            return self.fail(failure, unanswered_reason(error), spends_of_failure(error, "ocr"))
        self.change(reading.spends, problem=reading.problem)
        if reading.problem is None:
            return self.fail(f"The image could not be read: {reading.obstacle}", None)
        return None

    async def work(self, problem: str, store: SolutionStore | None, preferences: Preferences | None) -> None:
        """Analyse, retrieve, and attempt the problem as often as routing says."""
        await self._analyze(problem)
        examples: tuple[EarlierSolution, ...] = ()
        if store is not None and self.record.use_retrieved:
            key = self.record.answer_key
            retrieved = await retrieve(problem, store, key, judges=self.record.judges)
            if retrieved.exact is not None:
                attempt = retrieved_attempt(retrieved.exact, key)
                return self.change(attempts=(attempt,), retrieved_from=retrieved.exact.answer_id)
            examples = retrieved.examples
        while True:
            attempted = await next_attempt(
                problem,
                self.record.attempts,
                judges=self.judges,
                deadline=self.deadline,
                preferences=preferences,
                subject=self.record.subject,
                analysis=self.analysis,
                examples=examples,
                language=self.record.language,
                use_cache=self.record.use_cache,
            )
            self.change(attempted.spends)
            if attempted.attempt is None:
                # An earlier attempt stands, with its verdict. Without an attempt there is no answer at all.
                if not self.record.attempts:
                    self.fail(attempted.failure or no_solver_sentence(self.judges.remedy), attempted.reason)
                return None
            if not await self._verify(problem, attempted.attempt):
                return None

    async def _analyze(self, problem: str) -> None:
        found = await analyze(
            problem,
            judge=self.judges.default("fast"),
            deadline=self.deadline,
            language=self.record.language,
            use_cache=self.record.use_cache,
        )
        self.analysis = found.analysis
        self.change(found.spends, stage="solving", language=found.language)
        if found.analysis is not None:
            self.change(
                subject=self.record.subject or found.analysis.subject,
                difficulty=found.analysis.difficulty,
                knowledge_points=found.analysis.knowledge_points,
            )

    async def _verify(self, problem: str, attempt: Attempt) -> bool:
        """Verify an attempt and keep it. Return whether another attempt is to follow."""
        verified = await _verified(problem, attempt, self.record, judges=self.judges, deadline=self.deadline)
        done = attempt.model_copy(update={"verification": verified.verification})
        self.change(verified.spends, attempts=(*self.record.attempts, done))
        return route(verified.verification, self.record.attempt_count) == "retry"

    async def enrich(self, problem: str, best: Attempt) -> None:
        enriched = await enrich(
            problem,
            best.solution,
            status=self.record.verification_status or "unverified",
            judge=self.judges.default("fast"),
            deadline=self.deadline,
            language=self.record.language,
            use_cache=self.record.use_cache,
        )
        self.change(enriched.spends, enrichment=enriched.enrichment)
