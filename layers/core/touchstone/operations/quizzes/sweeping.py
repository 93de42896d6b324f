"""How quizzes are taken up again: they begin, or end with what there is."""

from datetime import timedelta

from touchstone.operations.jobs.sweep import SweptJob
from touchstone.records import Quizzes

STALLED_AFTER = timedelta(minutes=2)
"""Past its time by so much, a quiz has lost whoever carried it: no step of it takes as long."""


def swept(quizzes: Quizzes) -> SweptJob:
    """The job, as the sweep takes it up."""
    return SweptJob(machine="quiz", unfinished=quizzes.unfinished, stalled_after=STALLED_AFTER)
