"""Tasks: create one, hand in work, read what the task's stage allows, challenge the ranking.

The tenant names the parties: a caller who reads for a party says for which. The task decides what a party may read. No
party, whatever its name, reads a contest's scores before its deadline.
"""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from functions.api.openapi import answering
from functions.api.requests import Cursor, FoundList, Limit, accepted, caller, sender_key
from functions.composition.intakes import of_tasks as intake
from functions.composition.intakes import reader_of_tasks as reader
from functions.composition.stores import tasks
from touchstone.errors import ConflictError, InputError
from touchstone.operations.tasks.reading import MOST_PAGE_BYTES, SubmissionQuery
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
"""The party for whom a record is read, by the tenant's own name for it."""
type AnyParty = Annotated[str | None, Query(min_length=1, max_length=128)]


class TaskChange(BaseModel):
    """The change of a task. Only `deadline` can change.

    Everything else is locked together with the dimensions that were made from it. A request that gives one of the other
    fields is refused with 409.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline: AwareDatetime | None = None
    brief: Brief | None = None
    path: TaskPath | None = None
    owner: str | None = None
    challenge_seconds: int | None = None


class TaskPage(FoundList):
    """A page of a list of tasks. The newest come first unless `sort` says otherwise."""

    items: tuple[TaskSummary, ...]


class SubmissionPage(FoundList):
    """A page of a list of submissions. The newest come first unless `sort` says otherwise.

    It may hold fewer than the limit if they are long; its cursor continues from there.
    """

    items: tuple[SubmissionView, ...]


class ChallengeList(BaseModel):
    """All challenges to a ranking, oldest first."""

    items: tuple[ChallengeView, ...]


class FileUpload(BaseModel):
    """Where to PUT a text or markdown file (content type text/markdown), and the key that names it later."""

    text_key: str = Field(description="The key to send as `text_key` of a submission.")
    upload_url: str


@router.post("/v1/tasks", summary="Create a task", tags=["tasks"], responses=answering(HTTPStatus.ACCEPTED))
def create(body: TaskRequest) -> Response[TaskView]:
    """Create a task. It opens once its dimensions are made. Read it at the address in `Location`."""
    task = intake(caller(router, at_least="member").tenant).create(body, key=sender_key(router))
    return accepted(router, TaskView.of(task, party=False), "tasks", task.id)


@router.get("/v1/tasks", summary="List tasks", tags=["tasks"])
def list_tasks(query: Annotated[TaskQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> TaskPage:
    """Your tasks that match every filter, newest first. `search` looks in descriptions, criteria and owners' names."""
    page = tasks().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return TaskPage.model_validate(page)


@router.get("/v1/tasks/<task_id>", summary="Read a task", tags=["tasks"])
def read_task(task_id: str, party: AnyParty = None) -> TaskView:
    """A task with its dimensions. With a `party` of the task, also the ranking once there is one."""
    return reader(caller(router).tenant, party).task(task_id)


@router.patch("/v1/tasks/<task_id>", summary="Move a task's deadline", tags=["tasks"])
def change(task_id: str, body: TaskChange) -> TaskView:
    """Move the deadline earlier or later, as long as it has not passed. Nothing else of a task can change."""
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
    """Hand in work, as text or as a file uploaded before. Read the result of the gate check at `Location`."""
    tenant = caller(router, at_least="member").tenant
    submission = intake(tenant).submit(task_id, body, key=sender_key(router))
    view = reader(tenant, submission.submitter).submission(task_id, submission.id)
    return accepted(router, view, "tasks", task_id, "submissions", submission.id)


@router.get("/v1/tasks/<task_id>/submissions", summary="List submissions", tags=["tasks"])
def list_submissions(
    task_id: str, party: Party, query: Annotated[SubmissionQuery, Query()], limit: Limit = 50, cursor: Cursor = None
) -> SubmissionPage:
    """The submissions of a task that a `party` may read and that match every filter.

    While the task is open, a party may read only its own submissions; after that, all of them.
    """
    page = reader(caller(router).tenant, party).submitted(
        task_id, limit=limit, cursor=cursor, query=query, most_bytes=MOST_PAGE_BYTES
    )
    return SubmissionPage.model_validate(page)


@router.get("/v1/tasks/<task_id>/submissions/<submission_id>", summary="Read a submission", tags=["tasks"])
def read_submission(task_id: str, submission_id: str, party: Party) -> SubmissionView:
    """A submission, with as much of it as a `party` may read now."""
    return reader(caller(router).tenant, party).submission(task_id, submission_id)


@router.post(
    "/v1/tasks/<task_id>/challenges",
    summary="Challenge a ranking",
    tags=["tasks"],
    responses=answering(HTTPStatus.ACCEPTED),
)
def challenge(task_id: str, body: ChallengeRequest) -> Response[ChallengeView]:
    """Have a submission of a ranked contest scored again by another provider. Only possible in the challenge period."""
    tenant = caller(router, at_least="member").tenant
    made = intake(tenant).challenge(task_id, body)
    return accepted(router, ChallengeView.of(made), "tasks", task_id, "challenges")


@router.get("/v1/tasks/<task_id>/challenges", summary="List challenges", tags=["tasks"])
def list_challenges(task_id: str, party: Party) -> ChallengeList:
    """The challenges to a task's ranking and their results, for a `party` of the task."""
    return ChallengeList(items=reader(caller(router).tenant, party).challenged(task_id))


@router.post("/v1/submission-files", summary="Upload a file to hand in", tags=["tasks"])
def upload_file() -> FileUpload:
    """A link for uploading a text or markdown file that is to be handed in."""
    key, link = intake(caller(router, at_least="member").tenant).upload_link()
    return FileUpload(text_key=key, upload_url=link)
