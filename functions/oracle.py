"""The steps of tasks: one function for each state of the machines `task`, `submission` and `challenge`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from functions.composition.batching import scored
from functions.composition.contexts import of_tasks
from functions.steps import StepReferences, Work, step_handler

if TYPE_CHECKING:
    from touchstone.operations.tasks.context import TaskContext, TaskProgress
    from touchstone.references import Reference


class TaskReferences(StepReferences):
    """The task of a step, and the part of the task if the step is about one part."""

    task_id: str
    submission_id: str | None = None
    challenge_id: str | None = None
    dimension: str | None = None
    deadline: datetime | None = None

    @property
    def about(self) -> str:
        """The id of the challenge or the submission if the step is about one, else of the task."""
        return self.challenge_id or self.submission_id or self.task_id

    @property
    def logged(self) -> dict[str, str]:
        """The fields of every log line of the step: the task's id too."""
        return super().logged | {"task_id": self.task_id}

    @property
    def submission(self) -> Reference:
        """The reference to the submission that the step is about."""
        from touchstone.references import Reference

        return Reference(self.tenant, "submission", self.submission_id or "", self.task_id)


def _more(progress: TaskProgress) -> dict[str, Any]:
    dimensions = {"dimensions": list(progress.dimensions)} if progress.dimensions else {}
    return dimensions | ({} if progress.deadline is None else {"deadline": progress.deadline.isoformat()})


def _by_batches(tenant: str) -> TaskContext:
    """As `of_tasks`, for steps of the machines: work that can wait goes by providers' batches."""
    return replace(of_tasks(tenant), by_batch=scored(tenant))


_step = step_handler(TaskReferences, of_tasks, more=_more)
_scoring_step = step_handler(TaskReferences, _by_batches, more=_more)


@_step
def draft(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """DRAFT: one try at making and locking the dimensions of a task. If it fails, says when to try again."""
    from touchstone.operations.tasks import drafting

    return drafting.draft(context, about.task_id)


@_step
def gate(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """GATE: one try at checking a submission against the acceptance criteria. If it fails, says when to try again."""
    from touchstone.operations.tasks import judging

    return judging.check(context, about.submission)


@_scoring_step
def score(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """SCORE: one try at scoring a submission by itself. If it fails, says when to try again.

    If the submission is the first of a race that passes, it closes the task.
    """
    from touchstone.operations.tasks import judging

    return judging.score(context, about.submission)


@_step
def close(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """CLOSE: closes a task at its deadline. Says what to wait for, or which dimensions to compare."""
    from touchstone.errors import InputError
    from touchstone.operations.tasks import closing

    if about.deadline is None:
        raise InputError("The deadline that was waited for is missing.", where="deadline")
    return closing.close(context, about.task_id, deadline=about.deadline)


@_step
def compare(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """COMPARE: one try at comparing a contest's finalists on one dimension. If it fails, says when to try again.

    With a challenge it compares them again for the challenge, else for the ranking of the contest.
    """
    dimension = about.dimension or ""
    if about.challenge_id is None:
        from touchstone.operations.tasks import comparing

        return comparing.compare_dimension(context, about.task_id, dimension=dimension)
    from touchstone.operations.tasks import challenging

    return challenging.compare_again(context, about.task_id, about.challenge_id, dimension=dimension)


@_step
def rank(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """RANK: ranks a contest once its finalists are compared on every dimension. Says when its challenges end."""
    from touchstone.operations.tasks import ranking

    return ranking.rank_contest(context, about.task_id)


@_step
def finalise(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """FINALISE: makes the result of a contest final when its challenges are over, or says what to wait for."""
    from touchstone.operations.tasks import ranking

    return ranking.finalise(context, about.task_id)


@_step
def rescore(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """RESCORE: has another provider score a challenged submission again.

    Says on which dimensions the finalists must be compared again because of the new score.
    """
    from touchstone.operations.tasks import challenging

    return challenging.rescore(context, about.task_id, about.challenge_id or "")


@_step
def decide(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """DECIDE: upholds or rejects a challenge by the new scores and comparisons, and updates the records."""
    from touchstone.operations.tasks import deciding

    return deciding.decide(context, about.task_id, about.challenge_id or "")
