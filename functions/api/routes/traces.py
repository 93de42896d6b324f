"""The trace of a record: every question to a judge exactly as it was sent, and every reply exactly as it came."""

from http import HTTPStatus

from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.openapi import answering
from functions.api.requests import caller
from functions.composition.tracing import trace_of
from touchstone.judges.tracing import TraceView

router = Router()


@router.get(
    "/v1/traces/<record_id>",
    summary="Read a trace",
    tags=["traces"],
    responses=answering(HTTPStatus.OK, HTTPStatus.CONFLICT),
)
def read_trace(record_id: str, cursor: str | None = None) -> TraceView:
    """The questions that judges were asked for a record, and their replies. Needs a token with the role admin.

    `record_id` is the id of an answer, a measurement, a quiz, a task, an experiment or an audit; or `ID-NUMBER` for a
    pair of an experiment or a case of an audit; or `TASK.SUBMISSION` for a submission, once its task is closed. An
    answer, a measurement, a quiz or an experiment has no calls if checks decided it and no judge was asked.
    """
    return trace_of(caller(router, at_least="admin").tenant, record_id, cursor)
