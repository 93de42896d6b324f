"""Errors as RFC 9457 problem documents. Only this module knows the HTTP status of an error."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from touchstone import errors
from touchstone.strict import fault_sentence, fault_words, placed

STATUS: Mapping[type[errors.TouchstoneError], HTTPStatus] = {
    errors.KeyReusedError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.InputError: HTTPStatus.BAD_REQUEST,
    errors.UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    errors.ForbiddenError: HTTPStatus.FORBIDDEN,
    errors.NotFoundError: HTTPStatus.NOT_FOUND,
    errors.ConflictError: HTTPStatus.CONFLICT,
    errors.LimitError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SettingsError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.JudgeError: HTTPStatus.BAD_GATEWAY,
}
PROBLEM_JSON = "application/problem+json"
MAX_FAULTS = 100
"""The most faults of one request that are listed: more than anybody mends at once, in a few kilobytes."""
MAX_WHERE_CHARS = 200
MAX_FAULT_CHARS = 500
"""The most characters of a fault's place and of its sentence. Both may hold a name that the caller made up, of any
length."""
TOO_LONG = frozenset({"string_too_long", "too_long", "bytes_too_long"})


def problem(
    status: HTTPStatus, detail: str, *, reason: str, headers: dict[str, str] | None = None, **members: Any
) -> Response[str]:
    """A problem document: its `type` holds the stable `reason`, its `detail` the sentence for people."""
    document = {
        "type": f"urn:touchstone:problem:{reason}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        **members,
    }
    return Response(
        status_code=status.value,
        content_type=PROBLEM_JSON,
        body=json.dumps(document, ensure_ascii=False),
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def from_error(error: errors.TouchstoneError) -> Response[str]:
    """The problem document of a domain error."""
    members = {"where": error.where} if isinstance(error, errors.InputError) and error.where else {}
    return problem(status_of(error), str(error), reason=error.reason, headers=_headers(error), **members)


def status_of(error: errors.TouchstoneError) -> HTTPStatus:
    """The status of a domain error: the most specific entry of `STATUS` decides."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), HTTPStatus.INTERNAL_SERVER_ERROR)


def _headers(error: errors.TouchstoneError) -> dict[str, str]:
    match error:
        case errors.UnauthenticatedError():
            return {"WWW-Authenticate": "Bearer"}
        case errors.LimitError(until=datetime() as until):
            return {"Retry-After": str(max(1, round((until - datetime.now(UTC)).total_seconds())))}
        case errors.InProgressError() | errors.StoreError():
            return {"Retry-After": "2"}
        case _:
            return {}


def from_validation(error: RequestValidationError, given: Mapping[str, Any]) -> Response[str]:
    """The problem document 422 with the place and sentence of each fault; 413 if a field of the body is too long.

    `given` has what was sent as `body` and `query`; it names the places. The values at fault are not repeated: they are
    the caller's, and may be large. Faults may be many, too: the first `MAX_FAULTS` are listed, and `more_errors` says
    how many more there are. Names may be long: they are cut.
    """
    from touchstone.text import shortened

    found = placed(error.errors(), {"path": None, "header": None, "response": None, **given})
    faults = [
        {
            "where": shortened(".".join(str(part) for part in fault["loc"]), MAX_WHERE_CHARS),
            "fault": shortened(fault_words(fault), MAX_FAULT_CHARS),
        }
        for fault in found[:MAX_FAULTS]
    ]
    too_long = any(fault["type"] in TOO_LONG and fault["loc"][:1] == ("body",) for fault in found)
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if too_long else HTTPStatus.UNPROCESSABLE_ENTITY
    reason = errors.TooLargeError.reason if too_long else errors.InputError.reason
    told = shortened(fault_sentence(found[0], faults[0]["where"]), MAX_WHERE_CHARS + MAX_FAULT_CHARS)
    more: dict[str, Any] = {"more_errors": len(found) - MAX_FAULTS} if len(found) > MAX_FAULTS else {}
    return problem(status, f"{told}.", reason=reason, errors=faults, **more)


def unexpected() -> Response[str]:
    """The problem document of an unexpected error of ours. Nothing of the error is shown."""
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong on our side; it was recorded.", reason="unexpected"
    )


def as_proxy(response: Response[str]) -> dict[str, Any]:
    """A response in the form that API Gateway takes, for errors that are raised outside the resolver."""
    headers = {name: str(value) for name, value in response.headers.items()}
    return {"statusCode": response.status_code, "headers": headers, "body": response.body, "isBase64Encoded": False}
