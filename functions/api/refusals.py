"""The refusals of operations, for the API's description. They follow from what an operation takes, so that a new
operation gets its own without further work.

This module is loaded only if the description is asked for.
"""

from collections.abc import Iterator
from http import HTTPMethod, HTTPStatus
from typing import Any

from functions.api.idempotency import WRITES
from functions.api.problems import MAX_FAULTS, PROBLEM_JSON
from functions.api.requests import HEADER, MAX_KEY_CHARS

type Json = dict[str, Any]

GUARDED = "/v1/"
"""The beginning of every path that needs a token."""
NAME = "{"
"""The beginning of a parameter in a path. It names a thing that may not exist."""
CURSOR = "cursor"
"""The name of the query parameter that only the list that issued it can read."""
METHODS = frozenset(method.lower() for method in HTTPMethod)
FALLBACKS = frozenset({"HTTPValidationError", "ValidationError", "ResponseValidationError"})
"""Schemas that Powertools declares for refusals in its own form. This API's refusals have another form."""
MEANINGS: dict[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "The request cannot be read: no JSON, a cursor of another list, or a blank text.",
    HTTPStatus.UNAUTHORIZED: "The request has no token. The gateway answers so itself, before any function runs.",
    HTTPStatus.FORBIDDEN: "The token is not valid (the gateway's own answer), or its role does not allow this.",
    HTTPStatus.NOT_FOUND: "You have nothing with this name. Whether somebody else has it is not said.",
    HTTPStatus.CONFLICT: "The record's state does not allow this now, the first request with this key still runs, or "
    "the answer is too large for a reply.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The request is larger than a stated limit. All of it was refused.",
    HTTPStatus.UNPROCESSABLE_ENTITY: f"A field is not valid, or the {HEADER} was used before for another request.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests at once (the gateway's own answer), or a limit is reached.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "A fault of the service. It was recorded.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A store could not be reached, or something must be configured first.",
}
FROM_THE_GATEWAY = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
"""Statuses with which the gateway refuses too, in a form of its own."""
RETRIED = frozenset({HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_TEXT = {"type": "string"}
SCHEMAS: Json = {
    "Problem": {
        "title": "Problem",
        "description": "Why a request was refused (RFC 9457).",
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {
                "type": "string",
                "pattern": "^urn:touchstone:problem:",
                "description": "The prefix and a stable word for programs.",
            },
            "title": _TEXT | {"description": "The HTTP status in words."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": _TEXT | {"description": "What is wrong and what to do, in one sentence for people."},
            "where": _TEXT | {"description": "The field, header or parameter at fault; absent if there is none."},
            "errors": {
                "type": "array",
                "description": f"The fields that are not valid, at most {MAX_FAULTS}.",
                "items": {
                    "type": "object",
                    "required": ["where", "fault"],
                    "properties": {"where": _TEXT, "fault": _TEXT},
                },
            },
            "more_errors": {
                "type": "integer",
                "minimum": 1,
                "description": "The number of further fields that are not valid, if not all are listed.",
            },
        },
    },
    "GatewayRefusal": {
        "title": "GatewayRefusal",
        "description": "The gateway's answer to a request that it refuses itself.",
        "type": "object",
        "required": ["message"],
        "properties": {"message": _TEXT},
    },
}
KEY_PARAMETER: Json = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "A key that you choose for this request, such as a UUID. A repeat with it gets the first response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS},
}


def complete(document: Json) -> None:
    """Add to every operation its refusals, and to every write its header, in the OpenAPI `document` itself."""
    components = document["components"]
    for name in FALLBACKS:
        components["schemas"].pop(name, None)
    components["schemas"] |= SCHEMAS
    components["parameters"] = {_name(HEADER): KEY_PARAMETER}
    components["responses"] = {_name(status.phrase): _response(status) for status in MEANINGS}
    for path, operations in document["paths"].items():
        for method in METHODS & operations.keys():
            _complete(operations[method], method=method, path=path)


def _complete(operation: Json, *, method: str, path: str) -> None:
    if not path.startswith(GUARDED):
        operation["security"] = []
    declared = {HTTPStatus(int(code)): response for code, response in operation["responses"].items()}
    answered = {str(status.value): _answered(declared[status], status) for status in declared if status.is_success}
    # Powertools declares 422 for every route, even for one without a field that may not fit.
    own = {status for status in declared if not status.is_success} - {HTTPStatus.UNPROCESSABLE_ENTITY}
    refused = own.union(_refused(operation, method=method, path=path))
    operation["responses"] = answered | {
        str(status.value): {"$ref": f"#/components/responses/{_name(status.phrase)}"} for status in sorted(refused)
    }
    if method.upper() in WRITES:
        key = {"$ref": f"#/components/parameters/{_name(HEADER)}"}
        operation["parameters"] = [*operation.get("parameters", []), key]


def _refused(operation: Json, *, method: str, path: str) -> Iterator[HTTPStatus]:
    """The refusals that follow from an operation's path, method, parameters and body."""
    yield from (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
    writes = method.upper() in WRITES
    asked = {parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"}
    if path.startswith(GUARDED):  # 422: every GET refuses a parameter that it does not know
        yield from (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.CONFLICT)
    if writes or CURSOR in asked:
        yield HTTPStatus.BAD_REQUEST
    if "requestBody" in operation:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if NAME in path:
        yield HTTPStatus.NOT_FOUND


def _answered(response: Json, status: HTTPStatus) -> Json:
    """The response of a success, described by the phrase of its status; without content if it has no body."""
    content = {} if status is HTTPStatus.NO_CONTENT else {"content": response["content"]}
    return {"description": status.phrase, **content}


def _response(status: HTTPStatus) -> Json:
    content: Json = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if status in FROM_THE_GATEWAY:
        content["application/json"] = {"schema": {"$ref": "#/components/schemas/GatewayRefusal"}}
    response: Json = {"description": MEANINGS[status], "content": content}
    if status in RETRIED:
        waiting = {"description": "Seconds after which to repeat the request. Absent if not known."}
        response["headers"] = {"Retry-After": waiting | {"schema": {"type": "integer", "minimum": 1}}}
    return response


def _name(words: str) -> str:
    """The name of a component: the words without spaces and hyphens."""
    return words.replace(" ", "").replace("-", "")
