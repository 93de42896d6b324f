"""How the API describes itself: OpenAPI at /openapi.json, Swagger UI at /swagger."""

import json
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver

from touchstone.version import __version__

PAGE = "/swagger"
DESCRIPTION = (
    "Verdicts on what language models produce for learners. Every refusal is a problem document (RFC 9457), but for "
    "what the gateway in front refuses itself: it answers a request without a token with 401, one whose token is not "
    "valid with 403, and too many at once with 429, each as a plain message. Every write takes an Idempotency-Key, and "
    "a repeat returns the first response."
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
"""Addresses whose parameters are the fields of a model. Powertools lists them, each as a text whatever it may be."""
type Declared = dict[int, Any]


def answering(status: HTTPStatus, *refusals: HTTPStatus) -> Declared:
    """The `responses` of a route: its success, and refusals that do not follow from its address, method and body."""
    return {code.value: {"description": code.phrase} for code in (status, *refusals)}


def page_asked(event: Mapping[str, Any]) -> bool:
    """Whether a request is for the page, under whatever stage."""
    return str(event.get("rawPath", "")).endswith(PAGE)


@cache
def describe(app: APIGatewayHttpResolver) -> None:
    """Add the description and its page, once. No other request needs the models of a description, which load slowly."""
    from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server

    app.configure_openapi(
        title="Touchstone",
        version=__version__,
        description=DESCRIPTION,
        # Beside the document itself: a stage or a local cloud may put a path in front of it.
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
    """Say of the parameters of an address what the fields of their model say."""
    fields = described["components"]["schemas"].pop(model)["properties"]
    for parameter in described["paths"][path]["get"]["parameters"]:
        if parameter["name"] in fields:
            parameter["schema"] = fields[parameter["name"]]


def _page(described: str) -> str:
    """Swagger UI with the description inside."""
    from aws_lambda_powertools.event_handler.openapi import swagger_ui

    folder = Path(swagger_ui.__file__).parent
    return swagger_ui.generate_swagger_html(
        described.replace("</", "<\\/"),  # so that no text in it ends the script around it
        swagger_js=(folder / "swagger-ui-bundle.min.js").read_text(encoding="utf-8"),
        swagger_css=(folder / "swagger-ui.min.css").read_text(encoding="utf-8"),
        swagger_base_url="",
        oauth2_config=None,
    )
