"""The stores and judges that the steps of one tenant's answers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.operations.jobs.context import StepContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.answers.providers import Preferences, ProviderChoice
    from touchstone.judges.opening import Judges
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.records import Answers, Artifacts, Evaluations, SolutionRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext(StepContext):
    """The context of the steps of answers. `preferences` reads pins and rates when a provider is to be chosen.

    `thresholds` reads the thresholds, computed from people's labels, from which a judge's verdict is sure.
    `note_choice` is called when the data chooses another provider for a subject than was noted, with the new choice and
    the one noted before. `batches` tells whether evaluations that are deferred for lack of quota go by a provider's
    batch.
    """

    answers: Answers
    evaluations: Evaluations
    solutions: SolutionRecords
    artifacts: Artifacts
    judges: Judges
    preferences: Callable[[], Preferences]
    thresholds: Callable[[], JudgeThresholds] = dict
    note_choice: Callable[[str, ProviderChoice, ProviderChoice | None], None] = lambda _subject, _choice, _before: None
    batches: Callable[[], bool] = bool
