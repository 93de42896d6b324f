"""Tasks: create one, hand in work, read what the stage allows, challenge the ranking.

Parties are named by the tenant: whoever calls for somebody says for whom. What a party may read follows from the task,
and no party, whatever it is called, reads a contest's scores before its deadline.
"""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from functions.api.found import Cursor, FoundList, Limit
from functions.api.openapi import answering
from functions.api.requests import accepted, caller, sender_key
from functions.composition.intakes import of_tasks as intake
from functions.composition.intakes import reader_of_tasks as reader
from functions.composition.stores import tasks
from touchstone.errors import ConflictError, InputError
from touchstone.operations.tasks.finding import SubmissionQuery
from touchstone.oracle.challenge import ChallengeRequest, ChallengeView
from touchstone.oracle.feedback import SubmissionView
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.oracle.model import Brief, TaskPath
from touchstone.oracle.task import TaskRequest
from touchstone.oracle.view import TaskView
from touchstone.records import TaskSummary
from touchstone.records.tasks import TaskQuery
from touchstone.references import Reference

router = Router()

type Party = Annotated[str, Query(min_length=1, max_length=128)]
"""For whom something is read, by the tenant's own name for them."""
type AnyParty = Annotated[str | None, Query(min_length=1, max_length=128)]


class TaskChange(BaseModel):
    """What is to change of a task: its `deadline`. All else is locked with the dimensions that were made from it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline: AwareDatetime | None = None
    brief: Brief | None = None
    path: TaskPath | None = None
    owner: str | None = None
    challenge_seconds: int | None = None


class TaskPage(FoundList):
    """Some tasks, newest first unless `sort` says otherwise."""

    items: tuple[TaskSummary, ...]


class SubmissionPage(FoundList):
    """Some submissions, newest first unless `sort` says otherwise."""

    items: tuple[SubmissionView, ...]


class ChallengeList(BaseModel):
    """All challenges to a ranking, oldest first."""

    items: tuple[ChallengeView, ...]


class FileUpload(BaseModel):
    """Where to PUT a text or markdown file (content type text/markdown), and the key that names it afterwards."""

    text_key: str = Field(description="The `text_key` of a submission.")
    upload_url: str


@router.post("/v1/tasks", summary="Create a task", tags=["tasks"], responses=answering(HTTPStatus.ACCEPTED))
def create(body: TaskRequest) -> Response[TaskView]:
    """Create a task; it is open once its dimensions are made. Read it at the address in `Location`."""
    task = intake(caller(router, at_least="member").tenant).create(body, key=sender_key(router))
    return accepted(router, TaskView.of(task, party=False), "tasks", task.id)


@router.get("/v1/tasks", summary="List tasks", tags=["tasks"])
def list_tasks(query: Annotated[TaskQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> TaskPage:
    """Your tasks, or those that all filters mean, newest first; `search` looks in descriptions, criteria and owners."""
    page = tasks().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return TaskPage.model_validate(page)


@router.get("/v1/tasks/<task_id>", summary="Read a task", tags=["tasks"])
def read_task(task_id: str, party: AnyParty = None) -> TaskView:
    """One task with its dimensions, and for a `party` of it the ranking once there is one."""
    return reader(caller(router).tenant, party).task(task_id)


@router.patch("/v1/tasks/<task_id>", summary="Move a task's deadline", tags=["tasks"])
def change(task_id: str, body: TaskChange) -> TaskView:
    """Move the deadline, earlier or later, until it has passed. Whatever else a task says does not change."""
    tenant = caller(router, at_least="member").tenant
    task = tasks().get(Reference(tenant, "task", task_id))
    if body.model_fields_set - {"deadline"}:
        raise ConflictError("A task is locked with the dimensions that are made from it; create another one.")
    if body.deadline is None:
        raise InputError("Give the new deadline.", where="deadline")
    task = intake(tenant).move_deadline(task_id, body.deadline)
    return TaskView.of(task, party=False)


@router.post(
    "/v1/tasks/<task_id>/submissions", summary="Hand in work", tags=["tasks"], responses=answering(HTTPStatus.ACCEPTED)
)
def submit(task_id: str, body: SubmissionRequest) -> Response[SubmissionView]:
    """Hand in work, as text or as a file uploaded before; read what its gate check says at `Location`."""
    tenant = caller(router, at_least="member").tenant
    submission = intake(tenant).submit(task_id, body, key=sender_key(router))
    view = reader(tenant, submission.submitter).submission(task_id, submission.id)
    return accepted(router, view, "tasks", task_id, "submissions", submission.id)


@router.get("/v1/tasks/<task_id>/submissions", summary="List submissions", tags=["tasks"])
def list_submissions(
    task_id: str,
    party: Party,
    query: Annotated[SubmissionQuery, Query()],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SubmissionPage:
    """What a `party` may read of a task's submissions, or all that filters mean: its own while it is open, then all."""
    page = reader(caller(router).tenant, party).submitted(task_id, limit=limit, cursor=cursor, query=query)
    return SubmissionPage.model_validate(page)


@router.get("/v1/tasks/<task_id>/submissions/<submission_id>", summary="Read a submission", tags=["tasks"])
def read_submission(task_id: str, submission_id: str, party: Party) -> SubmissionView:
    """One submission, as far as a `party` may read it now."""
    return reader(caller(router).tenant, party).submission(task_id, submission_id)


@router.post(
    "/v1/tasks/<task_id>/challenges",
    summary="Challenge a ranking",
    tags=["tasks"],
    responses=answering(HTTPStatus.ACCEPTED),
)
def challenge(task_id: str, body: ChallengeRequest) -> Response[ChallengeView]:
    """Have a submission of a ranked contest scored again by another provider, within the challenge period."""
    tenant = caller(router, at_least="member").tenant
    made = intake(tenant).challenge(task_id, body)
    return accepted(router, ChallengeView.of(made), "tasks", task_id, "challenges")


@router.get("/v1/tasks/<task_id>/challenges", summary="List challenges", tags=["tasks"])
def list_challenges(task_id: str, party: Party) -> ChallengeList:
    """The challenges to a task's ranking and what came of them, for a `party` of it."""
    return ChallengeList(items=reader(caller(router).tenant, party).challenged(task_id))


@router.post("/v1/submission-files", summary="Upload a file to hand in", tags=["tasks"])
def upload_file() -> FileUpload:
    """Where to put a text or markdown file that is to be handed in."""
    key, link = intake(caller(router, at_least="member").tenant).upload_link()
    return FileUpload(text_key=key, upload_url=link)
