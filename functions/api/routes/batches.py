"""Files of thousands of requests: where to put one, its progress, where its results are; and links for images."""

from dataclasses import asdict
from datetime import datetime
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import BaseModel

from functions.api.requests import ALLOWED, Limit, accepted, caller, json_response, sender_key
from functions.composition.stores import batches
from functions.composition.work import batching
from touchstone.attempts import When
from touchstone.records import Batch, BatchState, Role

router = Router()


class BatchView(BaseModel):
    """A batch and its progress.

    `total` is the number of lines in the file, null until the file was read. `done` and `failed` are the numbers of
    lines that are done and that failed so far.

    `upload_url` takes the file by PUT with the content type application/x-ndjson. It is given while the batch waits for
    its file. It is given again if the batch failed or nothing was heard of it for half an hour; the same file or a
    corrected one can then be sent. Otherwise it is null, and it is always null for a token with the role reader.

    `waiting` is the number of open lines: nobody could decide them, for the reason in `waiting_for`, and they are tried
    again, not before `waiting_until` (UTC). If no line is open, `waiting` is 0 and the other two are null.

    `results_url` leads to the results once the batch is finished; it is null before. Both links expire after a quarter
    of an hour. Read the batch again to get new links.
    """

    id: str
    state: BatchState
    total: int | None
    done: int
    failed: int
    failure: str | None
    created_at: datetime
    updated_at: datetime
    upload_url: str | None
    results_url: str | None
    waiting: int = 0
    waiting_for: str | None = None
    waiting_until: datetime | None = None

    @classmethod
    def of(cls, batch: Batch, *, role: Role) -> "BatchView":
        """A batch with the links that its state and the caller's role allow."""
        links = batching(batch.tenant)
        upload_url = links.upload_link(batch) if role in ALLOWED["member"] else None
        return cls.model_validate({**asdict(batch), "upload_url": upload_url, "results_url": links.results_link(batch)})


class BatchPage(BaseModel):
    """A page of a list of batches, newest first. `cursor` leads to the next page; it is null on the last page."""

    items: tuple[BatchView, ...]
    cursor: str | None


class Upload(BaseModel):
    """Where to PUT an image of a problem, and the key by which later requests name the image."""

    s3_key: str
    upload_url: str


@router.post("/v1/batches", summary="Begin a batch", tags=["batches"], status_code=HTTPStatus.CREATED.value)
def create(when: When | None = None) -> Response[BatchView]:
    """Begin a batch. PUT the JSONL file to `upload_url`; the batch then starts by itself.

    With `when=now`, no line goes by a provider's batch unless the line says so itself.
    """
    identity = caller(router, at_least="member")
    batch = batching(identity.tenant).begin(key=sender_key(router), when=when)
    return accepted(router, BatchView.of(batch, role=identity.role), "batches", batch.id, status=HTTPStatus.CREATED)


@router.get("/v1/batches", summary="List batches", tags=["batches"])
def list_batches(limit: Limit = 50, cursor: str | None = None) -> BatchPage:
    """Your batches, newest first."""
    identity = caller(router)
    page = batches().page(tenant=identity.tenant, limit=limit, cursor=cursor)
    return BatchPage(items=tuple(BatchView.of(batch, role=identity.role) for batch in page.items), cursor=page.cursor)


@router.get("/v1/batches/<batch_id>", summary="Read a batch", tags=["batches"])
def read_batch(batch_id: str) -> BatchView:
    """The progress of a batch, and where its results are."""
    identity = caller(router)
    return BatchView.of(batches().get(tenant=identity.tenant, batch_id=batch_id), role=identity.role)


@router.post(
    "/v1/batches/<batch_id>/now",
    summary="Have a batch asked now",
    tags=["batches"],
    status_code=HTTPStatus.ACCEPTED.value,
)
def hasten(batch_id: str, *, pay_twice: bool = False) -> Response[BatchView]:
    """Take a file's lines out of the line for providers' batches: they are asked as soon as the quota allows it.

    The file goes on when it is next looked at (`waiting_until`). Lines that are already in a provider's batch are paid
    for, so their replies are waited for. They are asked a second time only with `pay_twice`. A batch that has ended
    does not change.
    """
    identity = caller(router, at_least="member")
    batch = batches().ask_now(tenant=identity.tenant, batch_id=batch_id, pay_twice=pay_twice)
    return json_response(BatchView.of(batch, role=identity.role))


@router.post("/v1/images", summary="Upload an image", tags=["answers"])
def upload_image() -> Upload:
    """A link for uploading an image that is too large to send inside a request."""
    key, link = batching(caller(router, at_least="member").tenant).image_link()
    return Upload(s3_key=key, upload_url=link)
