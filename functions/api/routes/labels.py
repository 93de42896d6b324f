"""Labels: people's words on verdicts, from which the cards of judges are computed."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict

from functions.api.requests import Limit, caller, decoded_part, no_content
from functions.composition.labels import label_tasks, labelling, labels
from touchstone.operations.labels.drawing import Drawn, LabelTasks
from touchstone.records.labels import Label, PersonsWord
from touchstone.statistics.tallies import JudgeKey, Sample

router = Router()

ITEM = Query(
    title="Item",
    description="The name of the thing within its record. It may hold any characters; escape them as in any query.",
)


class LabelGiven(BaseModel):
    """Your label for a thing that a judge judged.

    `label` is `right` or `wrong` for an answer, one of the metric's labels for an item of a metric, and `pass` or
    `fail` for a criterion. `sample` is how the thing was picked for labelling: `random` if it was drawn at random from
    all verdicts, `unsure` if it was drawn from the verdicts that a judge was not sure of, otherwise `chosen`. Labels of
    things drawn at random correct the rates best.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    sample: Sample = "chosen"


class LabelView(BaseModel):
    """A label, and the verdict that it was given to.

    `item` is the thing within its record: the number of an answer's attempt, the item of a metric, or the number of a
    task's criterion. `verdict` is the judge's verdict, in the same words as labels; null if the judge gave none.
    `confidence` is the judge's confidence, 0–1; null if the judge did not say. `judge` is the card that the label
    counts for; null if no judge was asked, or several were. `label` is the label that most people gave. `people` holds
    the label of each person if there are several people. `labelled_by` is the id of the token that labelled last.
    `sample` is null for a label from an earlier release.
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
        """The view of a label. The tenant is left out, since the reader belongs to it."""
        return cls(**label.model_dump(include=set(cls.model_fields) - {"judge"}), judge=label.judge)


class LabelPage(BaseModel):
    """A page of a list of labels, newest first. `cursor` leads to the next page; it is null on the last page."""

    items: tuple[LabelView, ...]
    cursor: str | None


@router.get("/v1/labels", summary="List labels", tags=["judges"])
def list_labels(limit: Limit = 50, cursor: str | None = None) -> LabelPage:
    """All labels, newest first."""
    page = labels().page(tenant=caller(router).tenant, limit=limit, cursor=cursor)
    return LabelPage(items=tuple(map(LabelView.of, page.items)), cursor=page.cursor)


@router.get("/v1/labels/next", summary="List what to label next", tags=["judges"])
def next_labels(sample: Drawn = "random", limit: Annotated[int, Query(ge=1, le=20)] = 10) -> LabelTasks:
    """Answers to label next: a random sample of the verdicts, or the verdicts that judges were least sure of.

    Labels of a `random` sample correct rates best. Labels of the `unsure` verdicts find thresholds soonest. Send the
    same `sample` with each label. The same verdicts are drawn until they are labelled.
    """
    return label_tasks(caller(router).tenant, sample=sample, count=limit)


@router.put("/v1/labels/<kind>/<record_id>", summary="Label a verdict", tags=["judges"])
def put_label(kind: str, record_id: str, item: Annotated[str, ITEM], body: LabelGiven) -> LabelView:  # noqa: ARG001
    """Label a thing that was judged. The label replaces the one that you gave it before."""
    return _labelled(kind, record_id, _item_asked(), body)


@router.put("/v1/labels/<kind>/<record_id>/<item>", summary="Label a verdict by its path", tags=["judges"])
def put_label_by_path(kind: str, record_id: str, item: str, body: LabelGiven) -> LabelView:
    """Label an item by its path. Its name may hold only letters, digits, spaces, hyphens and underscores."""
    return _labelled(kind, record_id, decoded_part(item), body)


@router.delete(
    "/v1/labels/<kind>/<record_id>",
    summary="Take a label back",
    tags=["judges"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def remove_label(kind: str, record_id: str, item: Annotated[str, ITEM]) -> Response[str]:  # noqa: ARG001
    """Remove the label of a thing, as if nobody had labelled it."""
    return _removed(kind, record_id, _item_asked())


@router.delete(
    "/v1/labels/<kind>/<record_id>/<item>",
    summary="Take a label back by its path",
    tags=["judges"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def remove_label_by_path(kind: str, record_id: str, item: str) -> Response[str]:
    """Remove an item's label by its path. Its name may hold only letters, digits, spaces, hyphens and underscores."""
    return _removed(kind, record_id, decoded_part(item))


def _item_asked() -> str:
    """The `item` of the query as it was sent. It is read from the raw query: the event's own value is cut at commas."""
    query: str = router.current_event["rawQueryString"]
    return parse_qs(query, keep_blank_values=True)["item"][-1]


def _labelled(kind: str, record_id: str, item: str, body: LabelGiven) -> LabelView:
    identity = caller(router, at_least="member")
    label = labelling(identity.tenant).label(
        kind=decoded_part(kind),
        record_id=decoded_part(record_id),
        item=item,
        label=body.label,
        by=identity.token_id,
        sample=body.sample,
    )
    return LabelView.of(label)


def _removed(kind: str, record_id: str, item: str) -> Response[str]:
    tenant = caller(router, at_least="member").tenant
    labelling(tenant).remove(kind=decoded_part(kind), record_id=decoded_part(record_id), item=item)
    return no_content()
