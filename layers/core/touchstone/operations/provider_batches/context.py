"""The stores, judges and batch APIs that the steps of one tenant's batches at providers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.answers.model import AnswerRecord
    from touchstone.budgets import Spending
    from touchstone.judges.base import Judge, ReplyCache
    from touchstone.judges.opening import Judges
    from touchstone.judges.spends import Spend
    from touchstone.operations.answers.context import AnswerContext
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.provider_batches.replaying import BatchApis
    from touchstone.operations.surfaces.context import ExperimentContext, MeasuringContext
    from touchstone.operations.tasks.context import TaskContext
    from touchstone.records import Artifacts, BatchedEvaluations, ProviderBatchStore, Replies


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringContext:
    """A tenant's tasks, and the judge that scores their submissions.

    `judge` chooses it among the judges that can be asked. `apis` are the providers' batch APIs as chosen for this
    judge.
    """

    tasks: TaskContext
    apis: BatchApis
    judge: Callable[[Judges], Judge]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingContext:
    """One tenant's batches at providers, the stores of the records that they serve, and the tenant's spending.

    `objects` holds the lists of the batches' questions and the replies. `apis` are the providers' batch APIs. `judges`
    chooses the judges. `ceiling_usd` is the daily ceiling of a tenant without a ceiling of its own. `paid` is told of
    calls that were paid for. `answers` gives the context of verifications that lines of files ask for, and `verified`
    is told of each that was decided; `measuring`, `comparing`, `auditing` and `scoring` give the contexts of
    measurements, experiments, audits and scorings of submissions. `cache` holds the replies that may answer any record,
    and `scoped_cache` gives the replies of one record only.
    """

    tenant: str
    batches: ProviderBatchStore
    evaluations: Callable[[], BatchedEvaluations]
    objects: Artifacts
    judges: Judges
    apis: BatchApis
    spending: Spending
    ceiling_usd: float | None
    answers: Callable[[], AnswerContext]
    measuring: Callable[[], MeasuringContext]
    comparing: Callable[[], ExperimentContext]
    auditing: Callable[[], AuditContext]
    scoring: Callable[[], ScoringContext]
    scoped_cache: Callable[[str], ReplyCache]
    cache: Replies | None = None
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    verified: Callable[[AnswerRecord], None] = lambda _: None
    clock: Clock = system_clock
