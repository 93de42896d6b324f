"""Repeat safety: a write that carries an `Idempotency-Key` is done once, and its first response is returned again."""

import base64
import json
import lzma
from http import HTTPMethod
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from functions import idempotency
from functions.api.requests import HEADER, caller, sender_key

WRITES = frozenset({HTTPMethod.POST, HTTPMethod.PUT, HTTPMethod.DELETE, HTTPMethod.PATCH})
PACKED_FROM_CHARS = 100_000
"""An item holds 400 KB. An answer's longest texts stand twice in its response, and escaped they would take 600 KB."""
SHOWN_ONCE = frozenset({"token"})
"""Fields of a response that are not remembered, since tokens are stored nowhere; a repeat is given null instead."""


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

    idempotency.begin(app.lambda_context)
    remembered = idempotency.done_once(
        answer, tenant=identity.tenant, key=key, called=HEADER, content=content, names=True
    )
    return fresh[0] if fresh else unpacked(remembered)


def packed(response: Response[Any]) -> dict[str, Any]:
    """A response as it is remembered: its body as JSON, compressed where it is long, without what is shown once."""
    body = response.body
    if isinstance(body, dict):
        body = {name: None if name in SHOWN_ONCE else value for name, value in body.items()}
    text = json.dumps(body)
    long = len(text) > PACKED_FROM_CHARS
    return {
        "status_code": response.status_code,
        "headers": dict(response.headers),
        "packed": long,
        # The window of LZMA is larger than any response, so a text that stands twice in it is stored once.
        "body": base64.b64encode(lzma.compress(text.encode())).decode() if long else text,
    }


def unpacked(remembered: dict[str, Any]) -> Response[Any]:
    """The response that was remembered so."""
    body: str = remembered["body"]
    if remembered["packed"]:
        body = lzma.decompress(base64.b64decode(body)).decode()
    return Response(status_code=remembered["status_code"], headers=remembered["headers"], body=json.loads(body))
