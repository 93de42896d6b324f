"""The HTTP API: one function, all routes under /v1, described by its own OpenAPI document."""

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import problems
from functions.api.idempotency import idempotent
from functions.api.openapi import describe, document, page_asked
from functions.api.requests import check_body, known_parameters, loads, methods_at
from functions.api.sections import include_asked
from functions.observability import log_fault, logger
from functions.pages.paths import BELOW, ROOT
from touchstone.errors import ConflictError, NotFoundError, TouchstoneError
from touchstone.version import __version__

MOST_REPLY_BYTES = 6_000_000
"""The most bytes of an answer, as JSON. Lambda takes 6 MB in all."""
MOST_BYTES_A_CHARACTER = 4

app = APIGatewayHttpResolver(enable_validation=True, json_body_deserializer=loads)
app.use(middlewares=[known_parameters, idempotent])


@app.get("/health", summary="Whether the API answers", tags=["operation"])
def health() -> dict[str, str]:
    """Answers without a token: that this is a Touchstone, and of which version."""
    return {"status": "ok", "name": "touchstone", "version": __version__}


@app.get("/openapi.json", include_in_schema=False)
def openapi() -> Response[str]:
    """The OpenAPI document, without a token."""
    return Response(status_code=200, content_type="application/json", body=document(app))


@app.exception_handler(TouchstoneError)
def on_error(error: TouchstoneError) -> Response[str]:
    """A domain error as a problem document."""
    return problems.from_error(error)


@app.exception_handler(RequestValidationError)
def on_invalid(error: RequestValidationError) -> Response[str]:
    """A request that does not fit its schema, as a problem document with the place of each fault."""
    event = app.current_event
    in_body = event.body and any(fault["loc"][0] == "body" for fault in error.errors())
    given = {"query": event.query_string_parameters, "body": event.json_body if in_body else None}
    return problems.from_validation(error, given)


@app.exception_handler(Exception)
def on_fault(error: Exception) -> Response[str]:
    """An unexpected error of ours: it is logged without its message, and nothing of it is shown to the caller."""
    log_fault("A request failed unexpectedly", error)
    return problems.unexpected()


@app.not_found
def on_no_route(error: NoRouteError) -> Response[str]:  # noqa: ARG001 - Powertools' signature
    """A path without a route as a problem document, or a path that takes other methods only."""
    if allowed := ", ".join(methods_at(app, app.current_event.path)):
        return problems.problem(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"This address takes {allowed} only; see /swagger for what it does.",
            reason="method_not_allowed",
            headers={"Allow": allowed},
        )
    return problems.from_error(NotFoundError("There is no such address; see /swagger for those there are."))


def _that_fits(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of a function. Raises `ConflictError` if it is too large: Lambda would refuse it without a word."""
    body: str = answer.get("body") or ""
    if len(body) > MOST_REPLY_BYTES // MOST_BYTES_A_CHARACTER:
        size = len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if size > MOST_REPLY_BYTES:
            raise ConflictError(
                f"This has {size:,} bytes, too many for a reply: ask for fewer at a time (`limit`) or look at its page."
            )
    return answer


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one request."""
    return route(event, context)


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP, log_event=False, clear_state=True)
def route(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Route one request."""
    try:
        path = str(event.get("rawPath", ""))
        if path == ROOT or path.startswith(BELOW):
            from functions.pages.site import answer  # imported here, as requests of programs need no templates

            return answer(event, context)
        check_body(event)
        if page_asked(event):
            describe(app)
        include_asked(app, event)
        return _that_fits(app.resolve(event, context))
    except TouchstoneError as error:  # raised before routing, where the resolver's own handlers do not reach
        return problems.as_proxy(problems.from_error(error))
    except Exception as error:
        return problems.as_proxy(on_fault(error))
