"""Work that is done once for each key of its sender: a repeated request gets the result of the first one."""

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
"""How long a result is remembered: longer than SQS keeps a message (14 days), so that every redelivery finds it."""

type Work = Callable[[], dict[str, Any]]


@dataclass(slots=True)
class ClaimedKey:
    """A key that a tenant's request holds while it runs.

    `at` is the moment at which the key was first used, by this run or an earlier one; None until that is known.
    """

    tenant: str
    key: str
    at: datetime | None = None


CLAIM: ContextVar[ClaimedKey | None] = ContextVar("claim", default=None)
"""The key that the current request holds; None if it holds none. `RequestMemory` fills in `at` from the key's item."""


@dataclass(frozen=True, slots=True)
class IdsOfClaims:
    """The ids of records by the keys of the requests that asked for them.

    For the key that the current request holds, the id is computed from the key and the moment at which it was first
    used; the memory of requests keeps that moment. For any other key `stored` keeps the id.
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
    """Register how much time this invocation has. If the invocation dies, its key is free again after that time."""
    _memory()[1].register_lambda_context(context)


def done_once(
    work: Work, *, tenant: str, key: str, called: str, content: object, names: bool = False
) -> dict[str, Any]:
    """The result of `work` for this key of this tenant; `work` runs only the first time. JSON keeps the result.

    `content` tells one request from another, and `called` is the senders' name for the key. With `names`, the ids of
    the records that `work` makes follow from the key (`IdsOfClaims`) for as long as the key is remembered.

    Raises `InProgressError` while the first request runs, `KeyReusedError` if the key came before with another
    content, and `StoreError` if the memory cannot be read or written. An error of `work` is raised too, and leaves the
    key free.
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
    # The client comes from boto3's default session: a new session would load the service's model a second time.
    client = boto3.client("dynamodb", config=for_tables())
    table_name = environment().require("idempotency_table")
    return RequestMemory(table_name=table_name, client=client, claim=CLAIM.get), config
