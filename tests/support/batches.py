"""A dropped file in the process: the batch machine from its definition, with the real handlers behind it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.batch import prepare
from functions.composition import stores
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.machine import TIMEOUT, StateError
from tests.support.machines import Handler
from touchstone.records import Batch

LONG = Context(remaining_ms=900_000)
MOST_ROUNDS = 500
DIED = "Runtime.ExitError"
"""What Lambda says of a function whose process ends."""


class Killed(BaseException):
    """The process ends here: nothing catches it, nothing is cleaned up."""


async def killed(*_: Any, **__: Any) -> Any:
    """In place of work in which the process ends."""
    raise Killed


@dataclass(kw_only=True)
class BatchMachine:
    """The execution `owner` of the batch machine over one dropped file; its waits take no time.

    `call` is how a function is called, and `pause` lets a wait pass. `lost` are the numbers of chunks whose function
    never comes back, `deaths` says how often the function of a chunk, by its number, still dies once its lines have
    begun. `waits` are the waits that were over. `prepared` is what Prepare said, `said` what Collect said last.
    """

    deployment: Deployment
    tenant: str = "demo"
    name: str = "answers"
    owner: str = "run-1"
    call: Callable[[Handler, Mapping[str, Any]], dict[str, Any]] = lambda handler, payload: handler(payload, LONG)
    pause: Callable[[float], None] = later
    lost: frozenset[int] = frozenset()
    deaths: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    prepared: dict[str, Any] = field(default_factory=dict)

    def drop(self, data: bytes) -> str:
        """Put the file into the inbox, and go on to the first wait or the end; what the batch is then."""
        return self.begin(self.deployment.drop(f"inbox/{self.tenant}/{self.name}.jsonl", data))

    def begin(self, event: dict[str, Any]) -> str:
        """The same for a file that is there, by the event of its drop."""
        machines = self.deployment.machines
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machines, "invoke", self._invoke)
            machines.begin("batch", self.owner, event)
        return self.state

    def wait(self) -> str:
        """Let the wait pass, and go on to the next one or the end."""
        machines = self.deployment.machines
        self.waits.append(machines.asleep_for[self.owner])
        self.pause(machines.asleep_for[self.owner])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machines, "invoke", self._invoke)
            machines.wake(self.owner)
        return self.state

    def run(self, data: bytes) -> Batch:
        """From the drop to the end."""
        state = self.drop(data)
        while state == "waiting":
            assert len(self.waits) < MOST_ROUNDS, "the batch machine runs in a circle"
            state = self.wait()
        return self.batch

    @property
    def state(self) -> str:
        """`waiting`, or the error that the execution ended by, or what Collect said at its end."""
        machines = self.deployment.machines
        if self.owner in machines.asleep:
            return "waiting"
        return machines.ended[self.owner] or str(self.said.get("state"))

    @property
    def batch(self) -> Batch:
        """The batch as it is stored; where Prepare could not say which one it is, the newest."""
        if "batch_id" in self.prepared:
            return stores.batches().get(tenant=self.tenant, batch_id=self.prepared["batch_id"])
        return stores.batches().page(tenant=self.tenant).items[0]

    def results(self) -> list[dict[str, Any]]:
        """The lines of the results."""
        return results_in(self.deployment, self.batch)

    def _invoke(self, module: str, handler: Handler, payload: Mapping[str, Any]) -> dict[str, Any]:
        chunk = payload.get("chunk", -1) if module == "batch.lines" else -1
        if chunk in self.lost:
            raise StateError(TIMEOUT)
        if self.deaths[chunk] > 0:
            self.deaths[chunk] -= 1
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("touchstone.operations.batches.line_work.work_whole", killed)
                with pytest.raises(Killed):
                    self.call(handler, payload)
            raise StateError(DIED)
        said = self.call(handler, payload)
        match module:
            case "batch.prepare":
                self.prepared = said
            case "batch.collect":
                self.said = said
        return said


def chunks(
    deployment: Deployment, rows: Sequence[Mapping[str, Any]], *, tenant: str = "demo", name: str = "work"
) -> list[dict[str, Any]]:
    """The chunks of a dropped file, for a test of a single step."""
    key = f"inbox/{tenant}/{name}.jsonl"
    deployment.drop(key, in_lines(rows))
    return listed(deployment, prepare({"bucket": BUCKET, "key": key, "owner": "run-1"}, LONG))


def listed(deployment: Deployment, prepared: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The chunks that a step listed."""
    manifest = deployment.s3.get_object(Bucket=BUCKET, Key=prepared["manifest_key"])["Body"].read()
    return [json.loads(line) for line in manifest.split(b"\n") if line]


def in_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A file of requests."""
    return "\n".join(json.dumps(row) for row in rows).encode()


def results_of(
    deployment: Deployment, rows: Sequence[Mapping[str, Any]], *, name: str = "work", context: Context = LONG
) -> list[dict[str, Any]]:
    """The results of a dropped file, by functions with so much time."""
    machine = BatchMachine(deployment=deployment, name=name, call=lambda handler, payload: handler(payload, context))
    machine.run(in_lines(rows))
    return machine.results()


def results_in(deployment: Deployment, batch: Batch) -> list[dict[str, Any]]:
    """The lines of a batch's results."""
    assert batch.results_key is not None, batch
    body = deployment.s3.get_object(Bucket=BUCKET, Key=f"inbox/{batch.results_key}")["Body"].read()
    return [json.loads(line) for line in body.split(b"\n") if line]
