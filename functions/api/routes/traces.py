"""The trace of a record: every question to a judge as it was sent, and what came back as it came."""

from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.requests import caller
from functions.composition.stores import traces
from touchstone.judges.tracing import TraceView

router = Router()


@router.get("/v1/traces/<record_id>", summary="Read a trace", tags=["traces"])
def read_trace(record_id: str, cursor: str | None = None) -> TraceView:
    """What judges were asked for an answer or a measurement, and what they said; for tokens with the role admin."""
    return traces().read(tenant=caller(router, at_least="admin").tenant, record_id=record_id, cursor=cursor)
