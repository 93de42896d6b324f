"""How the API describes itself: OpenAPI at /openapi.json, Swagger UI at /swagger."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver

from touchstone import __version__

PAGE = "/swagger"
DESCRIPTION = (
    "Verdicts on what language models produce for learners. Every error is a problem document (RFC 9457); every write "
    "takes an Idempotency-Key, and a repeat returns the first result."
)


def page_asked(event: Mapping[str, Any]) -> bool:
    """Whether a request is for the page, under whatever stage."""
    return str(event.get("rawPath", "")).endswith(PAGE)


@cache
def describe(app: APIGatewayHttpResolver) -> None:
    """Add the description and its page, once. No other request needs the models of a description, which load slowly."""
    from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server

    # Beside the document itself: a stage or a local cloud may put a path in front of it.
    here = Server(url=".")
    app.configure_openapi(
        title="Touchstone",
        version=__version__,
        description=DESCRIPTION,
        servers=[here],
        security_schemes={"token": HTTPBearer(bearerFormat="ts_…")},
        security=[{"token": []}],
    )
    app.enable_swagger(path=PAGE, servers=[here], persist_authorization=False)


def document(app: APIGatewayHttpResolver) -> str:
    """The OpenAPI document as JSON."""
    describe(app)
    return app.get_openapi_json_schema()
