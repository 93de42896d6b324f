"""How the records reach the table: reads, queries, updates and transactions."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from touchstone.aws import CONFLICT_TRIES, ConditionFailedError, Table, code_of, jitter, store_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError

if TYPE_CHECKING:
    from touchstone.records.artifacts import Artifacts

MAX_ACTIONS = 100
"""The most writes of one transaction: DynamoDB's limit."""
_PASSING = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})

type Item = dict[str, Any]
type Action = dict[str, dict[str, Any]]
"""One action of a transaction without the name of its table: `{"Put": {...}}`, `{"Update": {...}}` …"""


class OfTable:
    """The base of what keeps its items in the table. `pause` waits for so many seconds before a write is repeated."""

    def __init__(
        self, table: Table, *, clock: Clock = system_clock, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._table = table
        self._clock = clock
        self._pause = pause


class OfKind[K](OfTable):
    """The base of what keeps records of one kind in the table, and their long bodies among the `artifacts`.

    `how` says how the records of the kind are stored.
    """

    def __init__(
        self,
        how: K,
        table: Table,
        artifacts: "Artifacts",
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(table, clock=clock, pause=pause)
        self.how = how
        self._artifacts = artifacts


def repeating_conflicts(table: Table) -> Table:
    """The table, with a client that repeats a plain write after a conflict with a transaction on its item, with jitter.

    Neither boto nor DynamoDB repeats such a write by itself. `transact` handles the conflicts of transactions.
    """
    events: Any = table.meta.client.meta.events  # typed for handlers that answer nothing
    events.register("needs-retry.dynamodb", _pause_after_conflict, unique_id="conflicts")
    return table


def _pause_after_conflict(*, response: tuple[Any, dict[str, Any]] | None, attempts: int, **_: Any) -> float | None:
    """The seconds until a refused write is sent again, None if it was not refused for a conflict."""
    code = None if response is None else response[1].get("Error", {}).get("Code")
    return jitter(attempts - 1) if code == "TransactionConflictException" and attempts < CONFLICT_TRIES else None


def read(table: Table, key: dict[str, str], what: str) -> Item | None:
    """One item, strongly consistent; None if there is none."""
    with store_faults(f"read {what}"):
        return table.get_item(Key=key, ConsistentRead=True).get("Item")


def query(table: Table, what: str, **arguments: Any) -> Iterator[Item]:
    """All items of a query, page after page."""
    start: dict[str, Any] = {}
    while True:
        with store_faults(f"list {what}"):
            page = table.query(**(arguments | start))
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def partition(table: Table, what: str, pk: str, *, begins: str = "", **arguments: Any) -> Iterator[Item]:
    """The items of a partition whose sort keys begin with `begins`, in the order of these keys, strongly consistent."""
    condition, values = "pk = :pk", {":pk": pk}
    if begins:
        condition, values = f"{condition} AND begins_with(sk, :begins)", {**values, ":begins": begins}
    return query(
        table,
        what,
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
        ConsistentRead=True,
        **arguments,
    )


def update(
    table: Table, what: str, key: dict[str, str], expression: str, *, condition: str, values: Item, **arguments: Any
) -> Item | None:
    """Update an item if a condition holds, and return it as it is then. None if the condition does not hold.

    `what` completes "The store could not …".
    """
    try:
        with store_faults(what):
            return table.update_item(
                Key=key,
                UpdateExpression=expression,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                **arguments,
            )["Attributes"]
    except ConditionFailedError:
        return None


def transact(
    table: Table, actions: Sequence[Action], what: str, *, pause: Callable[[float], None] = time.sleep
) -> None:
    """Write all actions or none.

    Collisions with another transaction and throttling are repeated with jitter, up to `CONFLICT_TRIES` tries; a failed
    condition is never repeated. Raises `ConditionFailedError` or `StoreError`.
    """
    if len(actions) > MAX_ACTIONS:
        raise StoreError(f"The store could not {what}: {len(actions)} writes at once, {MAX_ACTIONS} are allowed.")
    named = [{kind: {"TableName": table.name, **body}} for action in actions for kind, body in action.items()]
    # All repeats share one token: a transaction whose reply was lost is not applied a second time.
    token = str(uuid.uuid4())
    for attempt in range(CONFLICT_TRIES):
        try:
            table.meta.client.transact_write_items(
                TransactItems=named,  # type: ignore[arg-type] # built as plain dictionaries
                ClientRequestToken=token,
            )
        except ClientError as error:
            _raise_unless_passing(error, what)
            pause(jitter(attempt))
        except BotoCoreError as error:
            raise StoreError(f"The store could not {what} ({type(error).__name__}); it is safe to repeat.") from error
        else:
            return
    raise StoreError(f"The store could not {what}: others kept writing the same items; it is safe to repeat.")


def _raise_unless_passing(error: ClientError, what: str) -> None:
    """Return if a repeat of the transaction can succeed; otherwise raise the error for the failure."""
    code = code_of(error)
    if code == "TransactionInProgressException":
        return
    if code != "TransactionCanceledException":
        raise StoreError(f"The store could not {what} ({code}); it is safe to repeat.") from error
    reasons: list[str] = [reason.get("Code", "None") for reason in error.response.get("CancellationReasons", [])]
    failed = tuple(place for place, reason in enumerate(reasons) if reason == "ConditionalCheckFailed")
    if failed:
        raise ConditionFailedError(failed) from error
    causes = {reason for reason in reasons if reason != "None"}
    if not causes or not causes <= _PASSING:
        raise StoreError(f"The store could not {what} ({', '.join(sorted(causes)) or code}).") from error
