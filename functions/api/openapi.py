"""How the API describes itself: OpenAPI at /openapi.json, Swagger UI at /swagger."""

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server

from touchstone import __version__

DESCRIPTION = (
    "Verdicts on what language models produce for learners. Every error is a problem document (RFC 9457); every write "
    "takes an Idempotency-Key, and a repeat returns the first result."
)


HERE = Server(url=".")
"""Beside the document itself: a stage or a local cloud may put a path in front of it."""


def describe(app: APIGatewayHttpResolver) -> None:
    """Add the OpenAPI document and its page."""
    app.configure_openapi(
        title="Touchstone",
        version=__version__,
        description=DESCRIPTION,
        servers=[HERE],
        security_schemes={"token": HTTPBearer(bearerFormat="ts_…")},
        security=[{"token": []}],
    )
    app.enable_swagger(path="/swagger", servers=[HERE], persist_authorization=False)


def document(app: APIGatewayHttpResolver) -> str:
    """The OpenAPI document as JSON."""
    return app.get_openapi_json_schema()
