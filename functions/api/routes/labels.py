"""Labels: what people say of verdicts, for which the cards of judges are computed."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict

from functions.api.access import caller
from functions.composition.labels import labelling, labels
from touchstone.records.labels import Label
from touchstone.statistics.tallies import JudgeKey

router = Router()


class LabelGiven(BaseModel):
    """What you say of the thing.

    `right` or `wrong` of an answer, one of the metric's labels of a metric's item, `pass` or `fail` of a criterion.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str


class LabelView(BaseModel):
    """A label, and the verdict that it was given to.

    `item` is the thing within its record: the number of an answer's attempt, the item of a metric, the number of a
    task's criterion. `verdict` is the judge's, in the words of the labels, null where it gave none; `confidence` is
    0–1, null where it did not say; `judge` is whose card the label counts for, null where nobody was asked, or several
    were. `labelled_by` is the id of the token.
    """

    kind: str
    record_id: str
    item: str
    label: str
    verdict: str | None
    confidence: float | None
    judge: JudgeKey | None
    labelled_by: str
    labelled_at: datetime

    @classmethod
    def of(cls, label: Label) -> "LabelView":
        """The view of a label; the tenant is left out, since the reader is the tenant."""
        return cls(**label.model_dump(exclude={"tenant", "judge"}), judge=label.judge)


class LabelPage(BaseModel):
    """Some labels, newest first; `cursor` leads to the next ones, null at the end."""

    items: tuple[LabelView, ...]
    cursor: str | None


@router.get("/v1/labels", summary="List labels", tags=["judges"])
def list_labels(limit: Annotated[int, Query(ge=1, le=100)] = 50, cursor: str | None = None) -> LabelPage:
    """What was labelled, newest first."""
    page = labels().page(tenant=caller(router).tenant, limit=limit, cursor=cursor)
    return LabelPage(items=tuple(map(LabelView.of, page.items)), cursor=page.cursor)


@router.put("/v1/labels/<kind>/<record_id>/<item>", summary="Label a verdict", tags=["judges"])
def put_label(kind: str, record_id: str, item: str, body: LabelGiven) -> LabelView:
    """Say what is so of a thing that was judged, in place of what was said of it before."""
    identity = caller(router, at_least="member")
    label = labelling(identity.tenant).label(
        kind=unquote(kind),  # a gateway may pass the path on as it was sent
        record_id=unquote(record_id),
        item=unquote(item),
        label=body.label,
        by=identity.token_id,
    )
    return LabelView.of(label)


@router.delete(
    "/v1/labels/<kind>/<record_id>/<item>",
    summary="Take a label back",
    tags=["judges"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def remove_label(kind: str, record_id: str, item: str) -> Response[str]:
    """Leave a thing without a label, as if nobody had said anything of it."""
    tenant = caller(router, at_least="member").tenant
    labelling(tenant).remove(kind=unquote(kind), record_id=unquote(record_id), item=unquote(item))
    return Response(status_code=HTTPStatus.NO_CONTENT.value, body="")  # not null: there is none
