"""How tasks, submissions and challenges are taken up again."""

from touchstone.operations.jobs.sweep import SweptJob
from touchstone.records import Challenges, Submissions, Tasks


def swept(*, tasks: Tasks, submissions: Submissions, challenges: Challenges) -> tuple[SweptJob, ...]:
    """The three jobs, as the sweep takes them up."""
    return (
        SweptJob(machine="task", unfinished=tasks.unfinished),
        SweptJob(machine="submission", unfinished=submissions.unfinished),
        SweptJob(machine="challenge", unfinished=challenges.unfinished),
    )
