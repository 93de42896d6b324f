"""The trace of a record: every question to a judge as it was sent, and what came back as it came."""

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
    """What judges were asked for a record, and what they said; for tokens with the role admin.

    A record is an answer, a measurement, a quiz, a task, an experiment or an audit by its id, a pair or a case of
    these by `ID-NUMBER`, or a submission by `TASK.SUBMISSION` once its task is closed.
    """
    return trace_of(caller(router, at_least="admin").tenant, record_id, cursor)
