"""The API's refusals as errors: problem documents (RFC 9457) are turned into the library's errors."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from touchstone.cli.deployment.connection import TOKEN_VARIABLE
from touchstone.cli.terminal.exits import ServiceError
from touchstone.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    TouchstoneError,
    UnauthenticatedError,
)

TOKEN_REFUSED = (
    f"The API does not accept the token: it may have expired or been revoked. Check {TOKEN_VARIABLE}, or run "
    "`touchstone login URL` again."
)
TOO_MANY = "The API has too many requests just now; try again in a minute."
MOST_FAULTS_SHOWN = 10


def error_of(status: int, document: Mapping[str, Any]) -> TouchstoneError:
    """The error that a refusal means. `document` is empty if the reply held no JSON object."""
    detail = document.get("detail")
    sentence = detail if isinstance(detail, str) and detail else None
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return UnauthenticatedError(sentence or TOKEN_REFUSED)
        case HTTPStatus.FORBIDDEN:
            # If the authorizer refuses a token, the gateway itself replies, with nothing but "Forbidden".
            return ForbiddenError(sentence) if sentence else UnauthenticatedError(TOKEN_REFUSED)
        case HTTPStatus.NOT_FOUND:
            return NotFoundError(sentence or "The API has no such address: is the URL that of a Touchstone API?")
        case HTTPStatus.CONFLICT:
            return ConflictError(sentence or "The API cannot do that now.")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return ServiceError(sentence or TOO_MANY)
        case _ if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            where = document.get("where")
            return InputError(
                _faults(document) or sentence or f"The API refused the request (HTTP {status}).",
                where=where if isinstance(where, str) else None,
            )
        case _:
            return ServiceError(sentence or f"The API failed (HTTP {status}); it is safe to repeat the command.")


def _faults(document: Mapping[str, Any]) -> str | None:
    """A sentence with the first faults in the document, each with its place; None if the document lists none."""
    listed = document.get("errors")
    if not isinstance(listed, list):
        return None
    faults = [
        f"{str(fault.get('where', '')).removeprefix('body.')}: {fault.get('fault', '')}"
        for fault in listed[:MOST_FAULTS_SHOWN]
        if isinstance(fault, dict)
    ]
    return "; ".join(faults) + "." if faults else None
