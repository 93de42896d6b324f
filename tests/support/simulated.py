"""A made-up world in which thousands of functions work at once: its clock, and a table as slow and strict as AWS's.

Each function is a thread, and one at a time has its turn: whoever sleeps lets the clock go on to whoever is due next.
So the real code runs with any number of writers, the same way each time, in no more time than its own work takes.
"""

import heapq
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from boto3.dynamodb.types import TypeSerializer
from botocore.exceptions import ClientError

from tests.support.metering import item_bytes

START = datetime(2026, 11, 23, 18, 0, tzinfo=UTC)
"""In the middle of a day in California."""
READ_SECONDS, WRITE_SECONDS = 0.004, 0.007
"""Medians of a consistent read and of a write of one item within a region, as callers see them."""
SPREAD = 0.35
"""Of their logarithms: one in a hundred takes more than twice as long."""
ITEM_WRITES_A_SECOND = 1_000
"""Write units that DynamoDB takes for one item each second."""
_STACK_BYTES = 256 * 1024


@dataclass(kw_only=True)
class SimulatedWorld:
    """The clock and the turns of all that is at work."""

    seconds: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311 - the same way each time
    _due: list[tuple[float, int, threading.Lock]] = field(default_factory=list)
    _number: int = 0
    _back: threading.Lock = field(default_factory=threading.Lock)
    _faults: list[BaseException] = field(default_factory=list)

    def now(self) -> datetime:
        """The moment, in UTC."""
        return START + timedelta(seconds=self.seconds)

    def sleep(self, seconds: float) -> None:
        """Let others have their turns until so much time has passed."""
        turn = threading.Lock()
        turn.acquire()
        self._wait(self.seconds + max(0.0, seconds), turn)
        self._back.release()
        turn.acquire()

    def run(self, functions: Mapping[float, Callable[[], None]] | list[tuple[float, Callable[[], None]]]) -> None:
        """Begin each function at its second, and return when all have ended. Raises what one of them raised."""
        threading.stack_size(_STACK_BYTES)
        begun = functions.items() if isinstance(functions, Mapping) else functions
        for at, work in begun:
            turn = threading.Lock()
            turn.acquire()
            self._wait(at, turn)
            threading.Thread(target=self._work, args=(work, turn), daemon=True).start()
        threading.stack_size(0)
        self._back.acquire()
        while self._due:
            at, _, turn = heapq.heappop(self._due)
            self.seconds = max(self.seconds, at)
            turn.release()
            self._back.acquire()
            if self._faults:
                raise self._faults[0]
        self._back.release()

    def _wait(self, until: float, turn: threading.Lock) -> None:
        self._number += 1
        heapq.heappush(self._due, (until, self._number, turn))

    def _work(self, work: Callable[[], None], turn: threading.Lock) -> None:
        turn.acquire()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised by `run`
            self._faults.append(error)
        finally:
            self._back.release()


@dataclass(kw_only=True)
class SimulatedTable:
    """One table for `Quotas`: reads and writes take their time, and a write of an item that changed meanwhile fails.

    `written` counts writes as DynamoDB bills them: one that its condition refused too. `units` are of a kilobyte.
    """

    world: SimulatedWorld
    name: str = "simulated"
    items: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    read: int = 0
    written: int = 0
    refused: int = 0
    throttled: int = 0
    units: int = 0
    _latest: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    @property
    def meta(self) -> Any:
        """What leads from boto3's table to its client, which this is too."""
        return SimpleNamespace(client=self)

    def get_item(self, *, Key: Mapping[str, str], **_: Any) -> dict[str, Any]:  # noqa: N803 - AWS's name
        """Read one item."""
        whole = self._takes(READ_SECONDS)
        self.world.sleep(whole / 2)
        self.read += 1
        found = self.items.get((Key["pk"], Key["sk"]))
        self.world.sleep(whole / 2)
        return {} if found is None else {"Item": found}

    def put_item(self, **put: Any) -> None:
        """Write one item."""
        self._write([put], "PutItem")

    def transact_write_items(self, *, TransactItems: list[dict[str, Any]]) -> None:  # noqa: N803 - AWS's name
        """Write all items or none."""
        self._write([one["Put"] for one in TransactItems], "TransactWriteItems")

    def _write(self, puts: list[dict[str, Any]], operation: str) -> None:
        whole = self._takes(WRITE_SECONDS)
        self.world.sleep(whole / 2)
        keys = [(put["Item"]["pk"], put["Item"]["sk"]) for put in puts]
        while any(map(self._is_hot, keys)):
            # boto3 repeats what was throttled; what is throttled is not billed.
            self.throttled += 1
            self.world.sleep(self.world.chance.uniform(0.025, 0.1))
        holds = [self._holds(key, put) for key, put in zip(keys, puts, strict=True)]
        for key, put in zip(keys, puts, strict=True):
            self.written += 1
            self.units += -(-_bytes(put["Item"]) // 1024) if self.written % 50 == 1 else 1
            self._latest.setdefault(key, deque()).append(self.world.seconds)
            if all(holds):
                self.items[key] = put["Item"]
        self.world.sleep(whole / 2)
        if all(holds):
            return
        self.refused += 1
        if operation == "PutItem":
            raise ClientError({"Error": {"Code": "ConditionalCheckFailedException", "Message": ""}}, operation)
        reasons: Any = [{"Code": "None" if held else "ConditionalCheckFailed"} for held in holds]
        raise ClientError(
            {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons},
            operation,
        )

    def _holds(self, key: tuple[str, str], put: Mapping[str, Any]) -> bool:
        condition, stored = put.get("ConditionExpression"), self.items.get(key)
        if condition is None:
            return True
        if condition == "attribute_not_exists(pk)":
            return stored is None
        assert condition == "version = :seen", condition
        return stored is not None and stored["version"] == put["ExpressionAttributeValues"][":seen"]

    def _is_hot(self, key: tuple[str, str]) -> bool:
        latest = self._latest.setdefault(key, deque())
        while latest and latest[0] <= self.world.seconds - 1.0:
            latest.popleft()
        return len(latest) >= ITEM_WRITES_A_SECOND

    def _takes(self, median: float) -> float:
        return median * self.world.chance.lognormvariate(0.0, SPREAD)


def _bytes(item: Mapping[str, Any]) -> int:
    return item_bytes({name: TypeSerializer().serialize(value) for name, value in item.items()})


@dataclass(kw_only=True)
class SentCalls:
    """The calls that were sent, by the tenth of a second; says how many of them lie in any minute at most."""

    tenths: Counter[int] = field(default_factory=Counter)

    def note(self, seconds: float) -> None:
        """A call was sent."""
        self.tenths[int(seconds * 10)] += 1

    @property
    def total(self) -> int:
        """All of them."""
        return self.tenths.total()

    def most_a_minute(self) -> int:
        """The most in any 60 seconds, to the tenth: where two lie at its two ends, both count."""
        most = held = 0
        window: deque[int] = deque()
        for tenth in sorted(self.tenths):
            window.append(tenth)
            held += self.tenths[tenth]
            while window[0] < tenth - 599:
                held -= self.tenths[window.popleft()]
            most = max(most, held)
        return most
