"""Answers: verify one, have a problem solved, read them, ask for a deep evaluation."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import Field

from functions.api.openapi import answering
from functions.api.requests import Cursor, FoundList, Limit, accepted, caller, sender_key
from functions.composition.stores import answers
from functions.composition.work import intake
from touchstone.answers.judge_time import LEAST_SECONDS
from touchstone.answers.model import SolveRequest, VerifyRequest
from touchstone.answers.view import AnswerView
from touchstone.attempts import When
from touchstone.operations.answers.intake import SYNC_SECONDS
from touchstone.records import AnswerSummary
from touchstone.records.answer_lists import AnswerQuery
from touchstone.references import Reference

router = Router()


class AwaitedVerifyRequest(VerifyRequest):
    """An answer to be verified while its sender waits. The whole request takes at most five seconds.

    `expected` is the answer key: one text, or several of which each is right. `tolerance` is how far a number may
    differ from the key; by default not at all. The key decides first, without a call of a judge. If it cannot decide,
    the judge gets the key too. `steps` is the solution or a summary of it. `subject`, `difficulty` and `model` (the
    model that answered) only make the verdict count in the statistics. If `language` is null, it is recognised from the
    problem.

    `verify_seconds` is how many of the five seconds a judge has. An answer that is sent in a file or by a message may
    give a judge more time, since nobody waits for it. `judges` is how many judges are asked if no check decides: 1, 2
    or 3, or `until_sure`, which asks one after the other until one is sure enough. `when` is how the deep evaluation is
    asked for: `now`, or `cheap`, through a provider's batch at half the price and within a day. Null means `now`.
    """

    verify_seconds: Annotated[float, Field(ge=LEAST_SECONDS, le=SYNC_SECONDS)] | None = None


class AnswerPage(FoundList):
    """A page of a list of answers. The newest come first unless `sort` says otherwise."""

    items: tuple[AnswerSummary, ...]


@router.post("/v1/verifications", summary="Verify an answer", tags=["answers"], status_code=HTTPStatus.CREATED.value)
def verify(body: AwaitedVerifyRequest) -> Response[AnswerView]:
    """Verify an answer that you already have, within five seconds. It is `unverified` if nobody could decide."""
    record = intake(caller(router, at_least="member").tenant).verify(
        body, key=sender_key(router), received_at_ms=router.current_event.raw_event["requestContext"]["timeEpoch"]
    )
    return accepted(router, AnswerView.of(record), "answers", record.id, status=HTTPStatus.CREATED)


@router.post(
    "/v1/solutions",
    summary="Have a problem solved and verified",
    tags=["answers"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND),
)
def solve(body: SolveRequest) -> Response[AnswerView]:
    """Start solving a problem that is given as text or as an image.

    The answer can be read at the address in `Location`, which is relative to the address of this request.
    """
    record = intake(caller(router, at_least="member").tenant).solve(body, key=sender_key(router))
    return accepted(router, AnswerView.of(record), "answers", record.id)


@router.get("/v1/answers", summary="List answers", tags=["answers"])
def list_answers(query: Annotated[AnswerQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> AnswerPage:
    """Your answers that match every filter, newest first. `search` looks in the problem and in the answer."""
    page = answers().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return AnswerPage.model_validate(page)


@router.get("/v1/answers/<answer_id>", summary="Read an answer", tags=["answers"])
def read_answer(answer_id: str) -> AnswerView:
    """One answer with its verdict and how it was reached."""
    return AnswerView.of(answers().get(Reference(caller(router).tenant, "answer", answer_id)))


@router.post(
    "/v1/answers/<answer_id>/deep-evaluation",
    summary="Ask for a deep evaluation",
    tags=["answers"],
    status_code=HTTPStatus.ACCEPTED.value,
)
def evaluate(answer_id: str, when: When | None = None, *, pay_twice: bool = False) -> Response[AnswerView]:
    """Have a finished answer evaluated in five dimensions: as soon as the quota allows it, or `cheap` within a day.

    `when=now` takes an evaluation out of the waiting line. If the evaluation is already in a provider's batch, this
    also needs `pay_twice=true`.
    """
    record = intake(caller(router, at_least="member").tenant).evaluate(answer_id, when=when, pay_twice=pay_twice)
    return accepted(router, AnswerView.of(record), "answers", record.id)
