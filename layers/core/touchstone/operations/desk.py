"""What the steps of one tenant's answers work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.answers.providers import Choice, Preferences
    from touchstone.judges.opening import Judges
    from touchstone.records import Answers, Artifacts, Evaluations, Solutions


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One tenant's records and judges. `preferences` reads pins and rates when a provider is to be chosen.

    `note_choice` is told when the data chooses another one for a subject than was noted, and which that was.
    """

    tenant: str
    answers: Answers
    evaluations: Evaluations
    solutions: Solutions
    artifacts: Artifacts
    judges: Judges
    preferences: Callable[[], Preferences]
    clock: Clock = system_clock
    note_choice: Callable[[str, Choice, Choice | None], None] = lambda _subject, _choice, _before: None
