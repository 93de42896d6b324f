"""Quizzes: have one made from a chapter, or one of your own checked, and read what came of it."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.api.found import Cursor, FoundList, Limit
from functions.api.openapi import answering
from functions.api.requests import accepted, caller, sender_key
from functions.composition.intakes import of_quizzes as intake
from functions.composition.stores import quizzes
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import QuizCheckRequest, QuizRun
from touchstone.quizzes.view import QuizView
from touchstone.records import QuizSummary
from touchstone.records.quizzes import QuizQuery
from touchstone.references import Reference

router = Router()
ASKED = answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND)
"""A request may name a curriculum and a learner, which may not be there."""


class QuizPage(FoundList):
    """Some quizzes, newest first unless `sort` says otherwise."""

    items: tuple[QuizSummary, ...]


@router.post("/v1/quizzes", summary="Have a quiz made", tags=["quizzes"], responses=ASKED)
def make(body: QuizRequest) -> Response[QuizView]:
    """Have a quiz written from a chapter, checked and judged, and written again where it breaks rules, twice at most.

    It is over within thirty seconds; read it at the address in `Location`.
    """
    return _accepted(intake(caller(router, at_least="member").tenant).make(body, key=sender_key(router)))


@router.post("/v1/quiz-checks", summary="Have a quiz checked", tags=["quizzes"], responses=ASKED)
def check(body: QuizCheckRequest) -> Response[QuizView]:
    """Have a quiz of your own checked and judged by the same rules; read what breaks them at `Location`."""
    return _accepted(intake(caller(router, at_least="member").tenant).check(body, key=sender_key(router)))


@router.get("/v1/quizzes", summary="List quizzes", tags=["quizzes"])
def list_quizzes(query: Annotated[QuizQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> QuizPage:
    """Your quizzes, or those that all filters mean, newest first; `search` looks in questions and chapters."""
    page = quizzes().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return QuizPage.model_validate(page)


@router.get("/v1/quizzes/<quiz_id>", summary="Read a quiz", tags=["quizzes"])
def read_quiz(quiz_id: str) -> QuizView:
    """One quiz: how far it is, and when it is over the best attempt with what it still violates."""
    return QuizView.of(quizzes().get(Reference(caller(router).tenant, "quiz", quiz_id)))


def _accepted(run: QuizRun) -> Response[QuizView]:
    return accepted(router, QuizView.of(run), "quizzes", run.id)
