"""Repeat safety: a write that carries an `Idempotency-Key` is done once, and its first response is returned again."""

from functools import cache
from http import HTTPMethod
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from functions.composition import identity, idempotency_store
from touchstone.errors import InProgressError, InputError, KeyReusedError

HEADER = "idempotency-key"
WRITES = frozenset({HTTPMethod.POST, HTTPMethod.PUT, HTTPMethod.DELETE, HTTPMethod.PATCH})
KEEP_SECONDS = 15 * 24 * 3600
"""Longer than SQS keeps a message (14 days), so that no redelivery outlives the memory of its first run."""
MAX_KEY_CHARS = 255


def idempotent(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware of every route. Raises `KeyReusedError` (422) and `InProgressError` (409)."""
    event = app.current_event
    key = event.headers.get(HEADER)
    if key is None or event.http_method not in WRITES:
        return next_middleware(app)
    if not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable():
        raise InputError(
            f"The Idempotency-Key must be 1 to {MAX_KEY_CHARS} printable characters; a UUID serves well.",
            where="Idempotency-Key",
        )
    from aws_lambda_powertools.utilities.idempotency import exceptions

    request = {
        "owner": [identity(app).tenant, key],
        "content": [event.http_method, event.path, event.body or ""],
    }
    try:
        first = _remembered()(request=request, app=app, next_middleware=next_middleware)
    except exceptions.IdempotencyAlreadyInProgressError:
        raise InProgressError(
            "The first request with this Idempotency-Key is still running; repeat it in a moment."
        ) from None
    except exceptions.IdempotencyValidationError:
        raise KeyReusedError(
            "This Idempotency-Key was used before with another request; use a new key for a new request."
        ) from None
    return Response(**first)


@cache
def _remembered() -> Any:
    from aws_lambda_powertools.utilities.idempotency import idempotent_function

    store, config = idempotency_store(
        event_key_jmespath="owner", payload_validation_jmespath="content", keep_seconds=KEEP_SECONDS
    )

    @idempotent_function(data_keyword_argument="request", persistence_store=store, config=config)
    def answer(
        *,
        request: dict[str, Any],  # noqa: ARG001 - Powertools reads the key from it
        app: APIGatewayHttpResolver,
        next_middleware: NextMiddleware,
    ) -> dict[str, Any]:
        response = next_middleware(app)
        return {
            "status_code": response.status_code,
            "content_type": response.headers.get("Content-Type", "application/json"),
            "body": response.body,
            "headers": {name: value for name, value in response.headers.items() if name != "Content-Type"},
        }

    return answer
