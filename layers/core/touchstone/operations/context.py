"""What steps are given, and say: each job's context adds the stores and judges that the job's steps use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock
from touchstone.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from touchstone.answers.providers import Preferences, ProviderChoice
    from touchstone.judges.opening import Judges
    from touchstone.judges.spends import Spend
    from touchstone.judges.sureness import SureJudges
    from touchstone.records import Answers, Artifacts, Evaluations, SolutionRecords
    from touchstone.records.traces import Traces
    from touchstone.references import JobKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What every step is given. `paid` is told of calls that were paid for.

    `traces` keep what judges were asked, and what they said; None: nothing is kept.
    """

    tenant: str
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock
    traces: Traces | None = None

    def ref(self, kind: JobKind, record_id: str, task_id: str = "") -> Reference:
        """The reference to a record of the tenant's."""
        return Reference(self.tenant, kind, record_id, task_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """How far a step came: a word that its state machine chooses by, and until when it is to wait (UTC), None: not.

    `reason`: why the try of this step brought nothing, or not all; None where it did, or made none. `list_key` is the
    whole key of the list that a machine's map reads next, None where there is none.
    """

    state: str
    until: datetime | None = None
    reason: str | None = None
    list_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext(StepContext):
    """For the steps of answers. `preferences` reads pins and rates when a provider is to be chosen.

    `sure` reads how sure each judge must be by people's labels. `note_choice` is told when the data chooses another one
    for a subject than was noted, and which that was.
    `batches` tells whether evaluations that are deferred for want of quota go by a provider's batch.
    """

    answers: Answers
    evaluations: Evaluations
    solutions: SolutionRecords
    artifacts: Artifacts
    judges: Judges
    preferences: Callable[[], Preferences]
    sure: Callable[[], SureJudges] = dict
    note_choice: Callable[[str, ProviderChoice, ProviderChoice | None], None] = lambda _subject, _choice, _before: None
    batches: Callable[[], bool] = bool
