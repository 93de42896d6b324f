"""Work that is done once for each key of its sender: a repeat is given what the first one came to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from functions.environment import environment
from touchstone.errors import InProgressError, KeyReusedError, StoreError

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
    from aws_lambda_powertools.utilities.typing import LambdaContext

KEEP_SECONDS = 15 * 24 * 3600
"""Longer than SQS keeps a message (14 days), so that no redelivery outlives the memory of its first run."""

type Work = Callable[[], dict[str, Any]]


def begin(context: LambdaContext) -> None:
    """Say how much time this invocation has, so that the key of one that dies is free again when it is over."""
    _memory()[1].register_lambda_context(context)


def done_once(work: Work, *, tenant: str, key: str, called: str, content: object) -> dict[str, Any]:
    """What `work` returned (as JSON keeps it) when it was first done for this key of this tenant.

    `content` tells one request from another, and `called` is what senders know the key as. Raises `InProgressError`
    while the first one runs, `KeyReusedError` for a key that came with another content, `StoreError` where nothing can
    be remembered, and whatever `work` raises, which leaves the key free.
    """
    from aws_lambda_powertools.utilities.idempotency import exceptions

    request = {"owner": [called, tenant, key], "content": content}
    try:
        done: dict[str, Any] = _remembering()(request=request, work=work)
    except exceptions.IdempotencyAlreadyInProgressError:
        raise InProgressError(
            f"The first request with this {called} is still running; repeat it in a moment."
        ) from None
    except exceptions.IdempotencyValidationError:
        raise KeyReusedError(
            f"This {called} was used before with another request or role; use a new one for a new request."
        ) from None
    except exceptions.IdempotencyPersistenceLayerError as error:
        raise StoreError(f"The request could not be remembered; repeat it with the same {called}.") from error
    return done


@cache
def _remembering() -> Any:
    from aws_lambda_powertools.utilities.idempotency import idempotent_function

    store, config = _memory()

    @idempotent_function(data_keyword_argument="request", persistence_store=store, config=config)
    def do(*, request: dict[str, Any], work: Work) -> dict[str, Any]:  # noqa: ARG001 - Powertools reads the key from it
        return work()

    return do


@cache
def _memory() -> tuple[DynamoDBPersistenceLayer, IdempotencyConfig]:
    import boto3
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig

    from functions.clients import for_tables

    config = IdempotencyConfig(
        event_key_jmespath="owner",
        payload_validation_jmespath="content",
        expires_after_seconds=KEEP_SECONDS,
        hash_function="sha256",
        raise_on_no_idempotency_key=True,
    )
    # A client of the session that is there already: one of its own would load the service's model a second time.
    client = boto3.client("dynamodb", config=for_tables())
    table_name = environment().require("idempotency_table")
    return DynamoDBPersistenceLayer(table_name=table_name, boto3_client=client), config
