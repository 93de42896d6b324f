"""Labels: what people say of verdicts, for which the cards of judges are computed."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict

from functions.api.requests import caller, said_by
from functions.composition.labels import label_tasks, labelling, labels
from touchstone.operations.drawing import Drawn, LabelTasks
from touchstone.records.labels import Label, PersonsWord
from touchstone.statistics.tallies import JudgeKey, Sample

router = Router()

ITEM = Query(
    title="Item",
    description="The thing within its record, whatever characters are in its name; escape them as in any query.",
)


class LabelGiven(BaseModel):
    """What you say of the thing.

    `right` or `wrong` of an answer, one of the metric's labels of a metric's item, `pass` or `fail` of a criterion.
    `sample` is how it came that you label this thing: `random` where it was drawn at random from all verdicts, `unsure`
    from those that a judge was not sure of, else `chosen`. Rates are corrected best by what was drawn at random.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    sample: Sample = "chosen"


class LabelView(BaseModel):
    """A label, and the verdict that it was given to.

    `item` is the thing within its record: the number of an answer's attempt, the item of a metric, the number of a
    task's criterion. `verdict` is the judge's, in the words of the labels, null where it gave none; `confidence` is
    0–1, null where it did not say; `judge` is whose card the label counts for, null where nobody was asked, or several
    were. `label` is what most people said, and `people` what each of them did, where there are several. `labelled_by`
    is the id of the token that said something last. `sample` is null for a label of an earlier release.
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
    sample: Sample | None = None
    people: tuple[PersonsWord, ...] = ()

    @classmethod
    def of(cls, label: Label) -> "LabelView":
        """The view of a label; the tenant is left out, since the reader is the tenant."""
        return cls(**label.model_dump(include=set(cls.model_fields) - {"judge"}), judge=label.judge)


class LabelPage(BaseModel):
    """Some labels, newest first; `cursor` leads to the next ones, null at the end."""

    items: tuple[LabelView, ...]
    cursor: str | None


@router.get("/v1/labels", summary="List labels", tags=["judges"])
def list_labels(limit: Annotated[int, Query(ge=1, le=100)] = 50, cursor: str | None = None) -> LabelPage:
    """What was labelled, newest first."""
    page = labels().page(tenant=caller(router).tenant, limit=limit, cursor=cursor)
    return LabelPage(items=tuple(map(LabelView.of, page.items)), cursor=page.cursor)


@router.get("/v1/labels/next", summary="List what to label next", tags=["judges"])
def next_labels(sample: Drawn = "random", limit: Annotated[int, Query(ge=1, le=20)] = 10) -> LabelTasks:
    """Answers to label next: a random sample of the verdicts, for rates, or those that judges were least sure of.

    Rates are corrected best by labels of a `random` sample, thresholds found soonest by labels of the `unsure`; give
    the same word with each label. The same verdicts are drawn until they are labelled.
    """
    return label_tasks(caller(router).tenant, sample=sample, count=limit)


@router.put("/v1/labels/<kind>/<record_id>", summary="Label a verdict", tags=["judges"])
def put_label(kind: str, record_id: str, item: Annotated[str, ITEM], body: LabelGiven) -> LabelView:  # noqa: ARG001
    """Say what is so of a thing that was judged, in place of what you said of it before."""
    return _labelled(kind, record_id, _item_asked(), body)


@router.put("/v1/labels/<kind>/<record_id>/<item>", summary="Label a verdict by its path", tags=["judges"])
def put_label_by_path(kind: str, record_id: str, item: str, body: LabelGiven) -> LabelView:
    """The same for an item in whose name are letters, digits, spaces, hyphens and underscores alone."""
    return _labelled(kind, record_id, said_by(item), body)


@router.delete(
    "/v1/labels/<kind>/<record_id>",
    summary="Take a label back",
    tags=["judges"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def remove_label(kind: str, record_id: str, item: Annotated[str, ITEM]) -> Response[str]:  # noqa: ARG001
    """Leave a thing without a label, as if nobody had said anything of it."""
    return _removed(kind, record_id, _item_asked())


@router.delete(
    "/v1/labels/<kind>/<record_id>/<item>",
    summary="Take a label back by its path",
    tags=["judges"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def remove_label_by_path(kind: str, record_id: str, item: str) -> Response[str]:
    """The same for an item in whose name are letters, digits, spaces, hyphens and underscores alone."""
    return _removed(kind, record_id, said_by(item))


def _item_asked() -> str:
    """The `item` of the query as it was sent: the parameters of an event are cut at commas."""
    query: str = router.current_event["rawQueryString"]
    return parse_qs(query, keep_blank_values=True)["item"][-1]


def _labelled(kind: str, record_id: str, item: str, body: LabelGiven) -> LabelView:
    identity = caller(router, at_least="member")
    label = labelling(identity.tenant).label(
        kind=said_by(kind),
        record_id=said_by(record_id),
        item=item,
        label=body.label,
        by=identity.token_id,
        sample=body.sample,
    )
    return LabelView.of(label)


def _removed(kind: str, record_id: str, item: str) -> Response[str]:
    tenant = caller(router, at_least="member").tenant
    labelling(tenant).remove(kind=said_by(kind), record_id=said_by(record_id), item=item)
    return Response(status_code=HTTPStatus.NO_CONTENT.value, body="")  # not null: there is none
