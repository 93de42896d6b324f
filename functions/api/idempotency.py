"""Repeat safety: a write that carries an `Idempotency-Key` is done once, and its first response is returned again."""

from __future__ import annotations

import base64
import json
import lzma
from functools import cache
from http import HTTPMethod
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from functions.api.access import Receiver, caller
from functions.composition.stores import idempotency
from touchstone.errors import InProgressError, InputError, KeyReusedError, StoreError

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig

HEADER = "idempotency-key"
WRITES = frozenset({HTTPMethod.POST, HTTPMethod.PUT, HTTPMethod.DELETE, HTTPMethod.PATCH})
KEEP_SECONDS = 15 * 24 * 3600
"""Longer than SQS keeps a message (14 days), so that no redelivery outlives the memory of its first run."""
MAX_KEY_CHARS = 255
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
    from aws_lambda_powertools.utilities.idempotency import exceptions

    # How much time this invocation has, so that the key of one that dies is free again when it is over.
    _store()[1].register_lambda_context(app.lambda_context)
    identity = caller(app)
    request = {
        "owner": [identity.tenant, key],
        # A remembered response is returned before a route asks for a role, so another role's is not this request's.
        "content": [identity.role, event.http_method, event.path, event.body or ""],
    }
    fresh: list[Response[Any]] = []
    try:
        remembered = _remembered()(request=request, app=app, next_middleware=next_middleware, fresh=fresh)
    except exceptions.IdempotencyAlreadyInProgressError:
        raise InProgressError(
            "The first request with this Idempotency-Key is still running; repeat it in a moment."
        ) from None
    except exceptions.IdempotencyValidationError:
        raise KeyReusedError(
            "This Idempotency-Key was used before with another request or role; use a new key for a new request."
        ) from None
    except exceptions.IdempotencyPersistenceLayerError as error:
        raise StoreError("The request could not be remembered; repeat it with the same Idempotency-Key.") from error
    return fresh[0] if fresh else _unpacked(remembered)


def sender_key(app: Receiver) -> str | None:
    """The key that the sender gave this request, None without one. Raises `InputError` for one that cannot serve."""
    key: str | None = app.current_event.headers.get(HEADER)
    if key is not None and (not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable()):
        raise InputError(
            f"The Idempotency-Key must be 1 to {MAX_KEY_CHARS} printable characters; a UUID serves well.",
            where="Idempotency-Key",
        )
    return key


@cache
def _store() -> tuple[DynamoDBPersistenceLayer, IdempotencyConfig]:
    return idempotency(event_key_jmespath="owner", payload_validation_jmespath="content", keep_seconds=KEEP_SECONDS)


@cache
def _remembered() -> Any:
    from aws_lambda_powertools.utilities.idempotency import idempotent_function

    store, config = _store()

    @idempotent_function(data_keyword_argument="request", persistence_store=store, config=config)
    def answer(
        *,
        request: dict[str, Any],  # noqa: ARG001 - Powertools reads the key from it
        app: APIGatewayHttpResolver,
        next_middleware: NextMiddleware,
        fresh: list[Response[Any]],
    ) -> dict[str, Any]:
        response = next_middleware(app)
        fresh.append(response)
        return _packed(response)

    return answer


def _packed(response: Response[Any]) -> dict[str, Any]:
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


def _unpacked(remembered: dict[str, Any]) -> Response[Any]:
    body: str = remembered["body"]
    if remembered["packed"]:
        body = lzma.decompress(base64.b64decode(body)).decode()
    return Response(status_code=remembered["status_code"], headers=remembered["headers"], body=json.loads(body))
