"""What the steps of one tenant's batches at providers work with."""

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
    from touchstone.operations.context import AnswerContext
    from touchstone.operations.replaying import Desks
    from touchstone.operations.surfaces.context import ExperimentContext, MeasuringContext
    from touchstone.operations.tasks.context import TaskContext
    from touchstone.records import Artifacts, BatchedEvaluations, ProviderBatchStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringContext:
    """A tenant's tasks, and who scores what is handed in to them: `judge` says who of those that can be asked.

    `apis` are the providers' batch APIs as they were chosen for the judge of submissions.
    """

    tasks: TaskContext
    apis: Desks
    judge: Callable[[Judges], Judge]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingContext:
    """One tenant's batches at providers, what they are made of, and its money.

    `objects` keeps the lists of their questions and what they brought. `apis` are the providers' batch APIs. `judges`
    say who is asked. `ceiling_usd` is the ceiling a day of a tenant that has none of its own. `paid` is told of calls
    that were paid for. `answers` is what verifications by lines of files work with, and `verified` is told of each that
    was decided; `measuring`, `comparing` and `scoring` are the same for measurements, experiments and scorings of
    submissions. `cache` are the replies that all may be answered with, and `apart` gives those of one record alone.
    """

    tenant: str
    batches: ProviderBatchStore
    evaluations: BatchedEvaluations
    objects: Artifacts
    judges: Judges
    apis: Desks
    spending: Spending
    ceiling_usd: float | None
    answers: Callable[[], AnswerContext]
    measuring: Callable[[], MeasuringContext]
    comparing: Callable[[], ExperimentContext]
    scoring: Callable[[], ScoringContext]
    apart: Callable[[str], ReplyCache]
    cache: ReplyCache | None = None
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    verified: Callable[[AnswerRecord], None] = lambda _: None
    clock: Clock = system_clock
