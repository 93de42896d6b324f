"""Repeat safety: a write with an `Idempotency-Key` is done once, and a repeat gets the first response again."""

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
"""From this length on a body is compressed. An item holds 400 KB; the longest texts of an answer stand twice in its
response, and escaped they take 600 KB."""
SHOWN_ONCE = frozenset({"token"})
"""Fields of a response that are not remembered, since tokens are stored nowhere. A repeat gets null in their place."""


def idempotent(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """The middleware of every route. Raises `KeyReusedError` (422), `InProgressError` (409) and `StoreError` (503)."""
    event = app.current_event
    key = sender_key(app)
    if key is None or event.http_method not in WRITES:
        return next_middleware(app)
    identity = caller(app)
    # A remembered response is returned before the route checks the role. So the role is part of the content: a caller
    # with another role does not get this response.
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
    """The form in which a response is remembered: its body as JSON, compressed if long, without `SHOWN_ONCE`."""
    body = response.body
    if isinstance(body, dict):
        body = {name: None if name in SHOWN_ONCE else value for name, value in body.items()}
    text = json.dumps(body)
    long = len(text) > PACKED_FROM_CHARS
    return {
        "status_code": response.status_code,
        "headers": dict(response.headers),
        "packed": long,
        # The window of LZMA is larger than any response, so a text that stands twice in the body is stored once.
        "body": base64.b64encode(lzma.compress(text.encode())).decode() if long else text,
    }


def unpacked(remembered: dict[str, Any]) -> Response[Any]:
    """The response that `packed` made this form of."""
    body: str = remembered["body"]
    if remembered["packed"]:
        body = lzma.decompress(base64.b64decode(body)).decode()
    return Response(status_code=remembered["status_code"], headers=remembered["headers"], body=json.loads(body))
