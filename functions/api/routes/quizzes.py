"""Quizzes: have one made from a chapter, or one of your own checked, and read the result."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.api.openapi import answering
from functions.api.requests import Cursor, FoundList, Limit, accepted, caller, sender_key
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
"""The responses of a request for a quiz. 404: it may name a curriculum or a learner that does not exist."""


class QuizPage(FoundList):
    """A page of a list of quizzes. The newest come first unless `sort` says otherwise."""

    items: tuple[QuizSummary, ...]


@router.post("/v1/quizzes", summary="Have a quiz made", tags=["quizzes"], responses=ASKED)
def make(body: QuizRequest) -> Response[QuizView]:
    """Have a quiz written from a chapter, then checked and judged. If it breaks rules, it is rewritten, at most twice.

    This ends within thirty seconds. The quiz can be read at the address in `Location`.
    """
    return _accepted(intake(caller(router, at_least="member").tenant).make(body, key=sender_key(router)))


@router.post("/v1/quiz-checks", summary="Have a quiz checked", tags=["quizzes"], responses=ASKED)
def check(body: QuizCheckRequest) -> Response[QuizView]:
    """Have a quiz of your own checked and judged by the same rules. Read its violations at `Location`."""
    return _accepted(intake(caller(router, at_least="member").tenant).check(body, key=sender_key(router)))


@router.get("/v1/quizzes", summary="List quizzes", tags=["quizzes"])
def list_quizzes(query: Annotated[QuizQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> QuizPage:
    """Your quizzes that match every filter, newest first. `search` looks in questions, choices and chapter titles."""
    page = quizzes().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return QuizPage.model_validate(page)


@router.get("/v1/quizzes/<quiz_id>", summary="Read a quiz", tags=["quizzes"])
def read_quiz(quiz_id: str) -> QuizView:
    """A quiz and its progress. Once it is over, also the best attempt and the rules that this attempt still breaks."""
    return QuizView.of(quizzes().get(Reference(caller(router).tenant, "quiz", quiz_id)))


def _accepted(run: QuizRun) -> Response[QuizView]:
    return accepted(router, QuizView.of(run), "quizzes", run.id)
