"""What the steps of one tenant's answers work with."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.answers.providers import Preferences
from touchstone.clock import Clock, system_clock
from touchstone.judges.opening import Judges
from touchstone.records import Answers, Artifacts, Evaluations, Solutions


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One tenant's records and judges. `preferences` reads pins and rates when a provider is to be chosen."""

    tenant: str
    answers: Answers
    evaluations: Evaluations
    solutions: Solutions
    artifacts: Artifacts
    judges: Judges
    preferences: Callable[[], Preferences]
    clock: Clock = system_clock
