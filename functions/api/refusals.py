"""How operations refuse, for the API's description: it follows from what each of them takes, new ones included.

Loaded only where the description is asked for.
"""

from collections.abc import Iterator
from http import HTTPMethod, HTTPStatus
from typing import Any

from functions.api.idempotency import WRITES
from functions.api.problems import MAX_FAULTS, PROBLEM_JSON
from functions.api.requests import HEADER, MAX_KEY_CHARS

type Json = dict[str, Any]

GUARDED = "/v1/"
"""Where all that needs a token begins."""
NAME = "{"
"""How a part of a path begins that names something, which may not be there."""
CURSOR = "cursor"
"""The parameter whose text only the list that gave it can read."""
METHODS = frozenset(method.lower() for method in HTTPMethod)
FALLBACKS = frozenset({"HTTPValidationError", "ValidationError", "ResponseValidationError"})
"""Schemas that Powertools declares for refusals in its own form, which are ours here."""
MEANINGS: dict[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "What was sent cannot be read: no JSON, a cursor of another list, or a blank text.",
    HTTPStatus.UNAUTHORIZED: "There is no token. The gateway answers so itself, before any function runs.",
    HTTPStatus.FORBIDDEN: "The token is not valid (the gateway's own answer), or its role does not allow this.",
    HTTPStatus.NOT_FOUND: "You have nothing of this name; whether somebody else has is not said.",
    HTTPStatus.CONFLICT: "The record's state does not allow this now, or the first request with this key still runs.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "What was sent is larger than a stated limit; it was refused whole.",
    HTTPStatus.UNPROCESSABLE_ENTITY: f"A field does not fit, or the {HEADER} came before with another request.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests at once (the gateway's own answer), or a limit is reached.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "A fault of ours; it was recorded.",
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
"""Refusals that the gateway makes too, in a form of its own."""
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
                "description": "A stable word for programs, after the prefix.",
            },
            "title": _TEXT | {"description": "The status in words."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": _TEXT | {"description": "What is wrong and what to do, in one sentence for people."},
            "where": _TEXT | {"description": "The field, header or parameter at fault, if one is."},
            "errors": {
                "type": "array",
                "description": f"Each field that does not fit, at most {MAX_FAULTS}.",
                "items": {
                    "type": "object",
                    "required": ["where", "fault"],
                    "properties": {"where": _TEXT, "fault": _TEXT},
                },
            },
            "more_errors": {
                "type": "integer",
                "minimum": 1,
                "description": "How many more fields do not fit, where not all are told.",
            },
        },
    },
    "GatewayRefusal": {
        "title": "GatewayRefusal",
        "description": "What the gateway says of a request that it lets nobody see.",
        "type": "object",
        "required": ["message"],
        "properties": {"message": _TEXT},
    },
}
KEY_PARAMETER: Json = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "A word of your own for this request, such as a UUID: a repeat with it returns the first response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS},
}


def complete(document: Json) -> None:
    """Say for every operation how it refuses and what header it takes besides, in the OpenAPI `document` itself."""
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
    # Powertools declares 422 for every route, whether there is a field that may not fit or none.
    own = {status for status in declared if not status.is_success} - {HTTPStatus.UNPROCESSABLE_ENTITY}
    refused = own.union(_refused(operation, method=method, path=path))
    operation["responses"] = answered | {
        str(status.value): {"$ref": f"#/components/responses/{_name(status.phrase)}"} for status in sorted(refused)
    }
    if method.upper() in WRITES:
        key = {"$ref": f"#/components/parameters/{_name(HEADER)}"}
        operation["parameters"] = [*operation.get("parameters", []), key]


def _refused(operation: Json, *, method: str, path: str) -> Iterator[HTTPStatus]:
    """The refusals that follow from an operation's place, method, parameters and body."""
    yield from (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
    writes = method.upper() in WRITES
    asked = {parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"}
    if path.startswith(GUARDED):
        yield from (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    if writes or asked:
        yield HTTPStatus.UNPROCESSABLE_ENTITY
    if writes or CURSOR in asked:
        yield HTTPStatus.BAD_REQUEST
    if writes:
        yield HTTPStatus.CONFLICT
    if "requestBody" in operation:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if NAME in path:
        yield HTTPStatus.NOT_FOUND


def _answered(response: Json, status: HTTPStatus) -> Json:
    """A success in the words of its status, and without a body where there is none."""
    content = {} if status is HTTPStatus.NO_CONTENT else {"content": response["content"]}
    return {"description": status.phrase, **content}


def _response(status: HTTPStatus) -> Json:
    content: Json = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if status in FROM_THE_GATEWAY:
        content["application/json"] = {"schema": {"$ref": "#/components/schemas/GatewayRefusal"}}
    response: Json = {"description": MEANINGS[status], "content": content}
    if status in RETRIED:
        waiting = {"description": "Seconds after which to repeat the request, where they are known."}
        response["headers"] = {"Retry-After": waiting | {"schema": {"type": "integer", "minimum": 1}}}
    return response


def _name(words: str) -> str:
    """A component's name: the words without spaces and hyphens."""
    return words.replace(" ", "").replace("-", "")
