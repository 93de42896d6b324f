"""Learners: the people whom quizzes are for, and their weak points, each under the tenant's own id."""

from datetime import datetime
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import BaseModel

from functions.api.requests import Limit, caller, decoded_part, no_content
from functions.composition.stores import learners
from touchstone.operations.quizzes.uploads import LearnerUpload
from touchstone.quizzes.learner import WeakPoint
from touchstone.records import LearnerSummary

router = Router()


class LearnerView(BaseModel):
    """A learner as it is stored."""

    id: str
    ui_language: str
    weak_points: tuple[WeakPoint, ...]
    updated_at: datetime


class LearnerPage(BaseModel):
    """A page of a list of learners, the most recently stored first.

    `cursor` leads to the next page; it is null on the last page.
    """

    items: tuple[LearnerSummary, ...]
    cursor: str | None


@router.put("/v1/learners/<learner_id>", summary="Put a learner", tags=["quizzes"])
def put(learner_id: str, body: LearnerUpload) -> LearnerSummary:
    """Store a learner under an id that you choose. It replaces any learner that has this id."""
    tenant = caller(router, at_least="member").tenant
    return learners().put(tenant=tenant, document=body.learner(decoded_part(learner_id)))


@router.get("/v1/learners", summary="List learners", tags=["quizzes"])
def list_learners(limit: Limit = 50, cursor: str | None = None) -> LearnerPage:
    """Your learners, the most recently stored first."""
    page = learners().page(tenant=caller(router).tenant, limit=limit, cursor=cursor)
    return LearnerPage(items=page.items, cursor=page.cursor)


@router.get("/v1/learners/<learner_id>", summary="Read a learner", tags=["quizzes"])
def read(learner_id: str) -> LearnerView:
    """A learner with all weak points."""
    kept = learners().get(tenant=caller(router).tenant, document_id=decoded_part(learner_id))
    found = kept.document
    return LearnerView(
        id=found.id, ui_language=found.ui_language, weak_points=found.weak_points, updated_at=kept.updated_at
    )


@router.delete(
    "/v1/learners/<learner_id>", summary="Delete a learner", tags=["quizzes"], status_code=HTTPStatus.NO_CONTENT.value
)
def delete(learner_id: str) -> Response[str]:
    """Delete a learner with everything that is known of that person. Quizzes that were made for the learner stay."""
    learners().delete(tenant=caller(router, at_least="member").tenant, document_id=decoded_part(learner_id))
    return no_content()
