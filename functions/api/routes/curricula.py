"""Curricula: the material of quizzes, each under the tenant's own id and replaced as a whole."""

from datetime import datetime
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import BaseModel

from functions.api.requests import Limit, caller, decoded_part, no_content
from functions.composition.stores import curricula
from touchstone.operations.quizzes.uploads import CurriculumUpload
from touchstone.quizzes.curriculum import Chapter
from touchstone.records import CurriculumSummary

router = Router()


class CurriculumView(BaseModel):
    """A curriculum as it is stored."""

    id: str
    title: str
    chapters: tuple[Chapter, ...]
    updated_at: datetime


class CurriculumPage(BaseModel):
    """A page of a list of curricula, the most recently stored first.

    `cursor` leads to the next page; it is null on the last page.
    """

    items: tuple[CurriculumSummary, ...]
    cursor: str | None


@router.put("/v1/curricula/<curriculum_id>", summary="Put a curriculum", tags=["quizzes"])
def put(curriculum_id: str, body: CurriculumUpload) -> CurriculumSummary:
    """Store a curriculum under an id that you choose. It replaces any curriculum that has this id."""
    tenant = caller(router, at_least="member").tenant
    return curricula().put(tenant=tenant, document=body.curriculum(decoded_part(curriculum_id)))


@router.get("/v1/curricula", summary="List curricula", tags=["quizzes"])
def list_curricula(limit: Limit = 50, cursor: str | None = None) -> CurriculumPage:
    """Your curricula, the most recently stored first."""
    page = curricula().page(tenant=caller(router).tenant, limit=limit, cursor=cursor)
    return CurriculumPage(items=page.items, cursor=page.cursor)


@router.get("/v1/curricula/<curriculum_id>", summary="Read a curriculum", tags=["quizzes"])
def read(curriculum_id: str) -> CurriculumView:
    """A curriculum with all its chapters."""
    kept = curricula().get(tenant=caller(router).tenant, document_id=decoded_part(curriculum_id))
    found = kept.document
    return CurriculumView(id=found.id, title=found.title, chapters=found.chapters, updated_at=kept.updated_at)


@router.delete(
    "/v1/curricula/<curriculum_id>",
    summary="Delete a curriculum",
    tags=["quizzes"],
    status_code=HTTPStatus.NO_CONTENT.value,
)
def delete(curriculum_id: str) -> Response[str]:
    """Delete a curriculum. Quizzes that were made from it stay, and each keeps the chapter that it was made from."""
    curricula().delete(tenant=caller(router, at_least="member").tenant, document_id=decoded_part(curriculum_id))
    return no_content()
