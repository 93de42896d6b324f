"""Files of thousands of requests: where to put one, how far it is, where the results are; and links for images."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel

from functions.api.requests import ALLOWED, accepted, caller, sender_key
from functions.composition.stores import batches
from functions.composition.work import batching
from touchstone.attempts import When
from touchstone.records import Batch, BatchState, Role

router = Router()


class BatchView(BaseModel):
    """A batch and its progress: `total` lines (null until the file was read), `done` and `failed` of them.

    `upload_url` takes the file (PUT, content type application/x-ndjson) while it is awaited, and again, corrected or as
    it was, once the batch failed or nothing was heard of it for half an hour; it is null otherwise, and for a reader.
    `waiting` lines are open: nobody decided them, for the reason `waiting_for`, and they are tried again, not before
    `waiting_until` (UTC); 0 and null where none are. `results_url` gives the results once it is finished. Both links
    expire after a quarter of an hour; read the batch again for new ones.
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
        return cls(
            id=batch.id,
            state=batch.state,
            total=batch.total,
            done=batch.done,
            failed=batch.failed,
            failure=batch.failure,
            waiting=batch.waiting,
            waiting_for=batch.waiting_for,
            waiting_until=batch.waiting_until,
            created_at=batch.created_at,
            updated_at=batch.updated_at,
            upload_url=links.upload_link(batch) if role in ALLOWED["member"] else None,
            results_url=links.results_link(batch),
        )


class BatchPage(BaseModel):
    """Some batches, newest first; `cursor` leads to the next ones, null at the end."""

    items: tuple[BatchView, ...]
    cursor: str | None


class Upload(BaseModel):
    """Where to PUT an image of a problem, and the key that names it in a request afterwards."""

    s3_key: str
    upload_url: str


@router.post("/v1/batches", summary="Begin a batch", tags=["batches"], status_code=HTTPStatus.CREATED.value)
def create(when: When | None = None) -> Response[BatchView]:
    """Begin a batch; put the JSONL file where `upload_url` says, and it starts by itself.

    With `when` now, lines that do not say how they are asked go by no provider's batch.
    """
    identity = caller(router, at_least="member")
    batch = batching(identity.tenant).begin(key=sender_key(router), when=when)
    return accepted(router, BatchView.of(batch, role=identity.role), "batches", batch.id, status=HTTPStatus.CREATED)


@router.get("/v1/batches", summary="List batches", tags=["batches"])
def list_batches(limit: Annotated[int, Query(ge=1, le=100)] = 50, cursor: str | None = None) -> BatchPage:
    """Your batches, newest first."""
    identity = caller(router)
    page = batches().page(tenant=identity.tenant, limit=limit, cursor=cursor)
    return BatchPage(items=tuple(BatchView.of(batch, role=identity.role) for batch in page.items), cursor=page.cursor)


@router.get("/v1/batches/<batch_id>", summary="Read a batch", tags=["batches"])
def read_batch(batch_id: str) -> BatchView:
    """How far a batch is, and where its results are."""
    identity = caller(router)
    return BatchView.of(batches().get(tenant=identity.tenant, batch_id=batch_id), role=identity.role)


@router.post(
    "/v1/batches/<batch_id>/now",
    summary="Have a batch asked now",
    tags=["batches"],
    status_code=HTTPStatus.ACCEPTED.value,
)
def hasten(batch_id: str, *, pay_twice: bool = False) -> Response[BatchView]:
    """Take a file's lines out of the line for providers' batches: they are asked as the quota admits it.

    The file is gone on with when it is looked at next (`waiting_until`). What is in a provider's batch already is paid
    for, and waited for; it is asked a second time only with `pay_twice`. A batch that has ended stays as it is.
    """
    identity = caller(router, at_least="member")
    batch = batches().hasten(tenant=identity.tenant, batch_id=batch_id, pay_twice=pay_twice)
    view = BatchView.of(batch, role=identity.role)
    return Response(status_code=HTTPStatus.ACCEPTED.value, content_type="application/json", body=view)


@router.post("/v1/images", summary="Upload an image", tags=["answers"])
def upload_image() -> Upload:
    """Where to put an image that is too large to send inside a request."""
    key, link = batching(caller(router, at_least="member").tenant).image_link()
    return Upload(s3_key=key, upload_url=link)
