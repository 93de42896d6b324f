"""Ways to tasks and submissions in the table that several tests go."""

from collections.abc import Sequence
from typing import Any

from tests.support.briefs import dimensions
from tests.support.oracle import a_request, passed_gate, scoring
from tests.support.records import START
from touchstone.oracle import task as steps
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.model import TaskPath
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import Submission, gated, scored
from touchstone.oracle.task import Task
from touchstone.records import Judgements, Submissions, Tasks, new_ulid
from touchstone.references import Reference


def opened(tasks: Tasks, path: TaskPath = "quality_first", *, tenant: str = "acme", **changes: Any) -> Task:
    """A task that takes submissions."""
    task = tasks.add(Reference(tenant, "task", new_ulid(START)), a_request(path, **changes))
    return tasks.change(task.ref, lambda one: steps.locked(one, dimensions()))


def ended(tasks: Tasks, task: Task) -> Task:
    """A task whose deadline has passed, closed."""
    return tasks.change(task.ref, lambda one: steps.ended(one, now=tasks._clock()))


def ended_in_vain(tasks: Tasks, task: Task) -> Task:
    """A closed task that nobody won."""
    return tasks.change(task.ref, lambda one: steps.nobody_won(one, now=tasks._clock()))


def ranked(tasks: Tasks, task: Task, places: Sequence[Place]) -> Task:
    """A closed contest with its ranking."""
    return tasks.change(task.ref, lambda one: steps.ranked(one, places, now=tasks._clock()))


def finalised(tasks: Tasks, task: Task) -> Task:
    """A ranked contest with its final result."""
    return tasks.change(task.ref, lambda one: steps.finalised(one, now=tasks._clock()))


def handed_in(
    submissions: Submissions, task: Task, submitter: str = "writer-1", text: str = "The harvest was good."
) -> Submission:
    """A submission to an open task."""
    request = SubmissionRequest(submitter=submitter, text=text)
    return submissions.add(task.ref, submission_id=new_ulid(START), request=request)


def scored_at(
    submissions: Submissions, judgements: Judgements, task: Task, score: int, submitter: str = "writer-1"
) -> Submission:
    """A submission that passed its gate and was scored."""
    one = handed_in(submissions, task, submitter)
    judgements.judged(one.ref, lambda it: gated(it, passed_gate()))
    return judgements.judged(one.ref, lambda it: scored(it, scoring(score)))
