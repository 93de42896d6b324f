"""The steps of tasks: a function a state of the machines `task`, `submission` and `challenge`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from functions.composition.batching import scored
from functions.composition.contexts import of_tasks
from functions.environment import environment
from functions.steps import StepReferences, Work, stepping

if TYPE_CHECKING:
    from touchstone.operations.tasks.context import TaskContext, TaskProgress
    from touchstone.references import Reference


class TaskReferences(StepReferences):
    """Which task, and which part of it where the step is about one."""

    task_id: str
    submission_id: str | None = None
    challenge_id: str | None = None
    dimension: str | None = None
    deadline: datetime | None = None

    @property
    def about(self) -> str:
        """The part, or else the task."""
        return self.challenge_id or self.submission_id or self.task_id

    @property
    def logged(self) -> dict[str, str]:
        """The task too."""
        return super().logged | {"task_id": self.task_id}

    @property
    def submission(self) -> Reference:
        """The submission that a step is about."""
        from touchstone.references import Reference

        return Reference(self.tenant, "submission", self.submission_id or "", self.task_id)


def _more(progress: TaskProgress) -> dict[str, Any]:
    dimensions = {"dimensions": list(progress.dimensions)} if progress.dimensions else {}
    return dimensions | ({} if progress.deadline is None else {"deadline": progress.deadline.isoformat()})


def _of_its_machine(tenant: str) -> TaskContext:
    """As `of_tasks`, for what nobody but its machine carries: what can wait goes by a provider's batches."""
    here = of_tasks(tenant)
    return replace(here, by_batch=scored(tenant)) if environment().batches == "on" else here


_step = stepping(TaskReferences, of_tasks, more=_more)
_scoring_step = stepping(TaskReferences, _of_its_machine, more=_more)


@_step
def draft(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """DRAFT: makes and locks the dimensions of a task, or says when to try again."""
    from touchstone.operations.tasks import drafting

    return drafting.draft(context, about.task_id)


@_step
def gate(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """GATE: one try at the acceptance criteria of a submission, or when to try again."""
    from touchstone.operations.tasks import judging

    return judging.check(context, about.submission)


@_scoring_step
def score(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """SCORE: one try at scoring a submission by itself, or when to try again.

    Closes a task by it where it is the first that passes.
    """
    from touchstone.operations.tasks import judging

    return judging.score(context, about.submission)


@_step
def close(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """CLOSE: closes a task at its deadline, and says what is to be waited for or compared."""
    from touchstone.errors import InputError
    from touchstone.operations.tasks import closing

    if about.deadline is None:
        raise InputError("The deadline that was waited for is missing.", where="deadline")
    return closing.close(context, about.task_id, deadline=about.deadline)


@_step
def compare(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """COMPARE: one try at one dimension of a contest's finalists, or when to try again.

    For the ranking of the contest, or for a challenge to it.
    """
    dimension = about.dimension or ""
    if about.challenge_id is None:
        from touchstone.operations.tasks import comparing

        return comparing.compare_dimension(context, about.task_id, dimension=dimension)
    from touchstone.operations.tasks import challenging

    return challenging.compare_again(context, about.task_id, about.challenge_id, dimension=dimension)


@_step
def rank(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """RANK: ranks a contest whose finalists were compared on every dimension; says until when it may be challenged."""
    from touchstone.operations.tasks import ranking

    return ranking.rank_contest(context, about.task_id)


@_step
def finalise(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """FINALISE: makes the result of a contest final whose challenges are over, or says what is to be waited for."""
    from touchstone.operations.tasks import ranking

    return ranking.finalise(context, about.task_id)


@_step
def rescore(context: TaskContext, about: TaskReferences) -> Work[TaskProgress]:
    """RESCORE: has another provider score a challenged submission again.

    Says whether finalists must be compared again because of it.
    """
    from touchstone.operations.tasks import challenging

    return challenging.rescore(context, about.task_id, about.challenge_id or "")


@_step
def decide(context: TaskContext, about: TaskReferences) -> TaskProgress:
    """DECIDE: upholds or rejects a challenge by what was found, and brings that into the records."""
    from touchstone.operations.tasks import deciding

    return deciding.decide(context, about.task_id, about.challenge_id or "")
