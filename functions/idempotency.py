"""Work that is done once for each key of its sender: a repeat is given what the first one came to."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from functions.environment import environment
from touchstone.errors import InProgressError, KeyReusedError, StoreError
from touchstone.records.ulids import derived_ulid

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from functions.request_memory import RequestMemory
    from touchstone.records import RequestIds

KEEP_SECONDS = 15 * 24 * 3600
"""Longer than SQS keeps a message (14 days), so that no redelivery outlives the memory of its first run."""

type Work = Callable[[], dict[str, Any]]


@dataclass(slots=True)
class ClaimedKey:
    """A key that a tenant's request holds while it runs, and the moment at which it was first used, by any run."""

    tenant: str
    key: str
    at: datetime | None = None


CLAIM: ContextVar[ClaimedKey | None] = ContextVar("claim", default=None)
"""What the request under way holds. Its item in the memory tells the moment."""


@dataclass(frozen=True, slots=True)
class IdsOfClaims:
    """The ids of records by the keys of those who asked for them.

    For the key that the request under way holds, the id follows from it and the moment at which it was first used,
    which the memory of requests keeps; for others `stored` keeps it.
    """

    stored: RequestIds

    def id_for(self, *, tenant: str, key: str) -> str:
        """The id of the record that belongs to `key`: a new one the first time, the same one ever after."""
        claim = CLAIM.get()
        held = claim is not None and tenant == claim.tenant and (key == claim.key or key.endswith(f" {claim.key}"))
        if claim is None or claim.at is None or not held:
            return self.stored.id_for(tenant=tenant, key=key)
        return derived_ulid(claim.at, tenant, key)


def begin(context: LambdaContext) -> None:
    """Say how much time this invocation has, so that the key of one that dies is free again when it is over."""
    _memory()[1].register_lambda_context(context)


def done_once(
    work: Work, *, tenant: str, key: str, called: str, content: object, names: bool = False
) -> dict[str, Any]:
    """What `work` returned (as JSON keeps it) when it was first done for this key of this tenant.

    `content` tells one request from another, and `called` is what senders know the key as. `names`: records that the
    work makes for the key have ids that follow from it (`IdsOfClaims`), for as long as it is remembered. Raises
    `InProgressError` while the first one runs, `KeyReusedError` for a key that came with another content, `StoreError`
    where nothing can be remembered, and whatever `work` raises, which leaves the key free.
    """
    from aws_lambda_powertools.utilities.idempotency import exceptions

    request = {"owner": [called, tenant, key], "content": content}
    held = CLAIM.set(ClaimedKey(tenant, key) if names else None)
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
    finally:
        CLAIM.reset(held)
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
def _memory() -> tuple[RequestMemory, IdempotencyConfig]:
    import boto3
    from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig

    from functions.clients import for_tables
    from functions.request_memory import RequestMemory

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
    return RequestMemory(table_name=table_name, client=client, claim=CLAIM.get), config
