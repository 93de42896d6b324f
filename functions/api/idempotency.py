"""Repeat safety: a write that carries an `Idempotency-Key` is done once, and its first response is returned again."""

from http import HTTPMethod
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from functions import once
from functions.api.access import Receiver, caller
from functions.api.remembered import packed, unpacked
from touchstone.errors import InputError

HEADER = "Idempotency-Key"
WRITES = frozenset({HTTPMethod.POST, HTTPMethod.PUT, HTTPMethod.DELETE, HTTPMethod.PATCH})
MAX_KEY_CHARS = 255


def idempotent(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware of every route. Raises `KeyReusedError` (422), `InProgressError` (409) and `StoreError` (503)."""
    event = app.current_event
    key = sender_key(app)
    if key is None or event.http_method not in WRITES:
        return next_middleware(app)
    identity = caller(app)
    # A remembered response is returned before a route asks for a role, so another role's is not this request's.
    content = [identity.role, event.http_method, event.path, event.body or ""]
    if query := event.get("rawQueryString"):
        content.append(query)
    fresh: list[Response[Any]] = []

    def answer() -> dict[str, Any]:
        fresh.append(next_middleware(app))
        return packed(fresh[0])

    once.begin(app.lambda_context)
    remembered = once.done_once(answer, tenant=identity.tenant, key=key, called=HEADER, content=content)
    return fresh[0] if fresh else unpacked(remembered)


def sender_key(app: Receiver) -> str | None:
    """The key that the sender gave this request, None without one. Raises `InputError` for one that cannot serve."""
    key: str | None = app.current_event.headers.get(HEADER.lower())
    if key is not None and (not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable()):
        raise InputError(
            f"The {HEADER} must be 1 to {MAX_KEY_CHARS} printable characters; a UUID serves well.",
            where=HEADER,
        )
    return key
