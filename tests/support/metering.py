"""What a deployment in the process would be billed for: every call to AWS by its units, every invocation by its time.

DynamoDB is counted as it bills on demand: a write unit for each kilobyte of the larger of an item before and after,
twice in a transaction; one for each kilobyte of an index's entry that comes, changes or goes; a read unit for
four kilobytes read consistently, half of one otherwise
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
"""

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import TypeSerializer
from botocore.client import BaseClient

from tests.support.handlers import HANDLERS, place_of

KB = 1024
INDEXES = {
    "by_time": ("gsi1pk", "gsi1sk", "summary", "verification_status"),
    "deferred": ("gsi2pk", "gsi2sk"),
    "by_count": ("gsi3pk", "count", "text"),
}
"""The attributes that each index carries, its two keys first; a test holds it against the template."""

type Stored = Mapping[str, Mapping[str, Any]]
"""An item as DynamoDB is sent it: each value says its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One run of a function: its module, and how often a judge was asked while it ran."""

    module: str
    judged: int


@dataclass(kw_only=True)
class Meter:
    """What was used.

    `units` are by their names in the price list, `tables` the writes by operation, item and units. `states` are those
    that executions of each machine entered. `metrics` are the names of what was published.
    """

    units: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    tables: Counter[str] = field(default_factory=Counter)
    executions: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    invocations: list[Invocation] = field(default_factory=list)
    log_bytes: int = 0
    metrics: set[str] = field(default_factory=set)

    def begun(self, machine: str) -> None:
        """An execution of a machine began."""
        self.executions[machine] += 1

    def entered(self, machine: str) -> None:
        """A state of a machine was entered."""
        self.states[machine] += 1


def item_bytes(item: Stored) -> int:
    """The size of an item as DynamoDB counts it."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return len(content.strip("-").replace(".", "")) // 2 + 2
        case "B":
            return len(content) * 3 // 4
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_bytes(each) for name, each in content.items())
        case "L":
            return 3 + sum(1 + _value_bytes(each) for each in content)
        case "SS" | "NS":
            return sum(len(each.encode()) for each in content)
    return 1


def write_units(before: Stored | None, after: Stored | None) -> int:
    """Units of a plain write that leaves `after` where `before` was."""
    largest = max(item_bytes(each) if each else 0 for each in (before, after))
    return max(1, math.ceil(largest / KB))


def index_units(before: Stored | None, after: Stored | None) -> int:
    """Units of what a write changes in the indexes."""
    units = 0
    for carried in INDEXES.values():
        old, new = (_entry(each, carried) for each in (before, after))
        if old == new:
            continue
        moved = old is not None and new is not None and any(old[name] != new[name] for name in carried[:2])
        if moved:
            units += write_units(old, None) + write_units(None, new)
        else:
            units += write_units(old, new)
    return units


def _entry(item: Stored | None, carried: tuple[str, ...]) -> Stored | None:
    if item is None or not all(name in item for name in carried[:2]):
        return None
    return {name: item[name] for name in ("pk", "sk", *carried) if name in item}


@contextmanager
def metering(judged: Callable[[], int]) -> Iterator[Meter]:
    """A meter of all that runs meanwhile; `judged` says how often a judge was asked so far."""
    meter = Meter()
    lock, send = threading.RLock(), BaseClient._make_api_call  # type: ignore[attr-defined]
    looking = boto3.client("dynamodb")

    def found(place: _Place) -> Stored | None:
        item: Stored | None = send(looking, "GetItem", {"TableName": place.table, "Key": place.key}).get("Item")
        return item

    def make_api_call(self: BaseClient, operation: str, given: dict[str, Any]) -> Any:
        with lock:
            places = _places(operation, given)
            before = [found(place) for place in places]
            said: Mapping[str, Any] = {}
            done = False
            try:
                said = send(self, operation, given)
                done = True
            finally:
                service = self.meta.service_model.service_name
                after = [found(place) for place in places] if done else before
                if service == "dynamodb":
                    _count_table(meter, operation, zip(places, before, after, strict=True))
                    meter.units["read_units"] += 0 if places else _read_units(given, said)
                else:
                    _count_other(meter, service, operation)
            return said

    with pytest.MonkeyPatch.context() as inner:
        inner.setattr(BaseClient, "_make_api_call", make_api_call)
        for name in HANDLERS:
            module, attribute = place_of(name)
            inner.setattr(module, attribute, _metered(name, getattr(module, attribute), meter, judged))
        yield meter


def _metered(name: str, handler: Callable[..., Any], meter: Meter, judged: Callable[[], int]) -> Callable[..., Any]:
    @wraps(handler)
    def metered(*arguments: Any, **named: Any) -> Any:
        asked, before = judged(), sum(one.judged for one in meter.invocations)
        try:
            return handler(*arguments, **named)
        finally:
            # What a machine ran that this function started and did not wait for is not its time.
            inner = sum(one.judged for one in meter.invocations) - before
            meter.invocations.append(Invocation(module=name, judged=judged() - asked - inner))

    return metered


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a write goes."""

    table: str
    key: Stored


def _places(operation: str, given: Mapping[str, Any]) -> list[_Place]:
    if operation == "TransactWriteItems":
        return [
            _Place(table=one["TableName"], key=_key(one, one["TableName"]))
            for action in given["TransactItems"]
            for one in action.values()
        ]
    if operation in {"PutItem", "UpdateItem", "DeleteItem"}:
        return [_Place(table=given["TableName"], key=_key(given, given["TableName"]))]
    return []


def _key(given: Mapping[str, Any], table: str) -> Stored:
    if "Key" in given:
        return _typed(given["Key"])
    names = ("id",) if table.endswith("idempotency") else ("pk", "sk")
    return _typed({name: given["Item"][name] for name in names})


def _typed(item: Mapping[str, Any]) -> Stored:
    """An item in DynamoDB's types, where a client that takes Python's was given it."""
    plain = any(isinstance(item.get(name), str) for name in ("pk", "id"))
    return {name: TypeSerializer().serialize(value) for name, value in item.items()} if plain else item


def _count_table(meter: Meter, operation: str, written: Iterable[tuple[_Place, Stored | None, Stored | None]]) -> None:
    for place, old, new in written:
        units = write_units(old, new) * (2 if operation.startswith("Transact") else 1)
        index = index_units(old, new)
        meter.units["write_units"] += units
        meter.units["index_write_units"] += index
        meter.tables[f"{operation} {_named(place.key)} ({units} + {index})"] += 1


def _count_other(meter: Meter, service: str, operation: str) -> None:
    match service:
        case "s3":
            meter.units["s3_gets" if operation.startswith(("Get", "Head")) else "s3_puts"] += 1
        case "sqs":
            meter.units["sqs_requests"] += 1
        case "events":
            meter.units["events"] += 1


def _as_sent(item: Mapping[str, Any]) -> Stored:
    """An item as it is sent, where a client has read its values already."""
    serialize = TypeSerializer().serialize
    return {name: value if isinstance(value, Mapping) else serialize(value) for name, value in item.items()}


def _read_units(given: Mapping[str, Any], said: Mapping[str, Any]) -> float:
    if "RequestItems" in given:
        return sum(
            _units_of_batch(asked, said.get("Responses", {}).get(table, ()))
            for table, asked in given["RequestItems"].items()
        )
    return _units(said.get("Items", [said["Item"]] if "Item" in said else []), given)


def _units_of_batch(asked: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> float:
    """Each item of a batch is charged as if it were read by itself, as is one that is not there."""
    missing = max(0, len(asked["Keys"]) - len(items))
    return sum(_units([item], asked) for item in items) + missing * _units((), asked)


def _units(items: Iterable[Mapping[str, Any]], asked: Mapping[str, Any]) -> float:
    blocks = max(1, math.ceil(sum(item_bytes(_as_sent(_typed(item))) for item in items) / (4 * KB)))
    return blocks if asked.get("ConsistentRead") else blocks / 2


def _named(key: Stored) -> str:
    """The kind of an item: the word of its partition."""
    if "pk" not in key:
        return "remembered request"
    parts = key["pk"]["S"].split("#")
    word = parts[2] if parts[0] == "T" and len(parts) > 2 else parts[0]
    return f"{word} {key['sk']['S'].split('#')[0]}"
