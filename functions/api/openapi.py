"""The API's description of itself: OpenAPI at /openapi.json, Swagger UI at /swagger."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver

from touchstone.version import __version__

PAGE = "/swagger"
DESCRIPTION = (
    "Verdicts on what language models produce for learners. Every refusal is a problem document (RFC 9457), except "
    "those of the gateway in front: it answers 401 to a request without a token, 403 if the token is not valid, and "
    "429 to too many requests at once, each with a plain message. Every write takes an Idempotency-Key. A request that "
    "is repeated with the same key returns the first response."
)
QUERIES = {
    "/v1/answers": "AnswerQuery",
    "/v1/audits": "AuditQuery",
    "/v1/experiments": "ExperimentQuery",
    "/v1/measurements": "MeasurementQuery",
    "/v1/quizzes": "QuizQuery",
    "/v1/tasks": "TaskQuery",
    "/v1/tasks/{task_id}/submissions": "SubmissionQuery",
}
"""Addresses whose parameters are the fields of a model, with the model's name. Powertools lists the parameters, but
each with the type of a text."""
type Declared = dict[int, Any]


def answering(status: HTTPStatus, *refusals: HTTPStatus) -> Declared:
    """The `responses` of a route: its success, and the refusals that its address, method and body do not imply."""
    return {code.value: {"description": code.phrase} for code in (status, *refusals)}


def reporting(media_types: Iterable[str]) -> Declared:
    """The `responses` of a route that returns a report in one of these media types, or 409 while there is none."""
    content = {each: {"schema": {"type": "string"}} for each in media_types}
    return {
        HTTPStatus.OK.value: {"description": HTTPStatus.OK.phrase, "content": content},
        HTTPStatus.CONFLICT.value: {"description": HTTPStatus.CONFLICT.phrase},
    }


def page_asked(event: Mapping[str, Any]) -> bool:
    """Whether a request is for the page of Swagger UI, whatever stage its path begins with."""
    return str(event.get("rawPath", "")).endswith(PAGE)


@cache
def describe(app: APIGatewayHttpResolver) -> None:
    """Add the description and its page to the app, once. Other requests do without: the models involved load slowly."""
    from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server

    app.configure_openapi(
        title="Touchstone",
        version=__version__,
        description=DESCRIPTION,
        # The address is relative to the document's own: a stage or a local cloud may put a path in front of it.
        servers=[Server(url=".")],
        security_schemes={"token": HTTPBearer(bearerFormat="ts_…")},
        security=[{"token": []}],
    )

    @app.get(PAGE, include_in_schema=False)
    def page() -> Response[str]:
        return Response(status_code=HTTPStatus.OK.value, content_type="text/html", body=_page(document(app)))


def document(app: APIGatewayHttpResolver) -> str:
    """The OpenAPI document as JSON."""
    from functions.api.refusals import complete
    from functions.api.sections import include_all

    describe(app)
    include_all(app)
    described: dict[str, Any] = json.loads(app.get_openapi_json_schema())
    for path, model in QUERIES.items():
        _say_types(described, path, model)
    complete(described)
    return json.dumps(described, ensure_ascii=False)


def _say_types(described: dict[str, Any], path: str, model: str) -> None:
    """Give the parameters of an address the schemas of their model's fields."""
    fields = described["components"]["schemas"].pop(model)["properties"]
    for parameter in described["paths"][path]["get"]["parameters"]:
        if parameter["name"] in fields:
            parameter["schema"] = fields[parameter["name"]]


def _page(described: str) -> str:
    """The HTML of Swagger UI with the description inside."""
    from aws_lambda_powertools.event_handler.openapi import swagger_ui

    folder = Path(swagger_ui.__file__).parent
    return swagger_ui.generate_swagger_html(
        described.replace("</", "<\\/"),  # so that no text in the description ends the script around it
        swagger_js=(folder / "swagger-ui-bundle.min.js").read_text(encoding="utf-8"),
        swagger_css=(folder / "swagger-ui.min.css").read_text(encoding="utf-8"),
        swagger_base_url="",
        oauth2_config=None,
    )
