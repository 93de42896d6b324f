"""A deployment whose deep evaluations go by batches at a provider on loopback, in made-up time."""

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import boto3
import pytest

from functions import drain, sweep
from functions.composition import judging, stores, work
from tests.support.api import Api
from tests.support.batches import BatchMachine
from tests.support.deaths import Fate, KilledError
from tests.support.deployment import REGION, SECRET, Context, Deployment, deployed
from tests.support.machines import Handler
from tests.support.providers import ProviderServer
from tests.support.records import an_answer, an_attempt
from touchstone.answers.model import AnswerRecord
from touchstone.clock import OFFSET_VARIABLE, system_clock
from touchstone.judges.batches.anthropic import AnthropicBatches
from touchstone.judges.batches.gemini import GeminiBatches
from touchstone.judges.batches.openai import OpenAIBatches
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.records.answers import asked
from touchstone.references import Reference

FIFTEEN_MINUTES_MS = 900_000
TENANT = "demo"
MOST_WAKES = 400
MOST_WAITS = 300
LAST_BREATH = 10.0
"""Seconds within which calls that are in flight when a function dies have come back."""
SWEEP_EVERY = timedelta(minutes=15)
"""How often a deployment sweeps."""
KEYS = {"gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY"}
"""The key that leads to each provider with batches."""
PROVIDER_CALLS: list[tuple[Any, str]] = [
    (kind, name)
    for kind in (GeminiBatches, OpenAIBatches, AnthropicBatches)
    for name in ("submit", "look", "collect", "find")
]
"""Where the batch APIs of the providers are asked for something."""


@dataclass(kw_only=True)
class BatchingHouse:
    """A deployment, its provider, and time that is moved by hand.

    What `tests.support.balance` has to know: `spends` are the calls that records of other kinds than answers keep,
    `untold_usd` is what batches count as paid beyond what records keep, for replies whose record is out of reach, and
    `lost_usd` is what calls at once may count or hold back at most whose caller died: no record keeps them.
    `asked_before` are calls at once that the provider's log has no more. `unreadable` are answers that a test spoilt.
    """

    deployment: Deployment
    server: ProviderServer
    monkeypatch: pytest.MonkeyPatch
    passed: timedelta = timedelta(0)
    spends: Callable[[], Sequence[Spend]] = tuple
    untold_usd: float = 0.0
    asked_before: int = 0
    lost_usd: float = 0.0
    unreadable: set[str] = field(default_factory=set)
    _runs: "itertools.count[int]" = field(default_factory=itertools.count)

    def later(self, **duration: float) -> None:
        """Let time pass."""
        self.passed += timedelta(**duration)
        # Added to what there is: late in the day a deployment's clock is set back (`deployed`).
        ahead = float(os.environ[OFFSET_VARIABLE]) + timedelta(**duration).total_seconds()
        self.monkeypatch.setenv(OFFSET_VARIABLE, str(ahead))

    def enqueue(self, count: int, *, tenant: str = TENANT) -> list[AnswerRecord]:
        """Finished answers whose deep evaluations wait in the line, as from a file."""
        bulk = work.bulk_evaluations()
        made = []
        for number in range(count):
            now = system_clock()
            record = an_answer(
                tenant=tenant,
                at=now,
                problem=f"Problem island-{number}-?",
                stage="finished",
                attempts=(an_attempt(answer=str(number)),),
                best_attempt=1,
                verification_status="verified",
                verification_confidence=0.9,
                evaluation=asked(now),
            )
            made.append(bulk.add(stores.answers().create(record)))
        return made

    def drain(self) -> None:
        """One step of the drain, with the executions that it starts."""
        drain.handler({"execution_id": f"run-{next(self._runs)}"}, Context(FIFTEEN_MINUTES_MS))
        self.deployment.machines.work()

    def carry_on(self, *, swept: bool = False) -> None:
        """Let the executions go on to their ends, each when it said; `swept`: the sweep looks after what is left."""
        machines = self.deployment.machines
        machines.context = Context(FIFTEEN_MINUTES_MS)
        for _ in range(MOST_WAKES):
            if not machines.asleep:
                return
            self.wake()
            if swept:
                sweep.handler({}, Context())
                machines.work()
        raise AssertionError("a batch comes to no end")

    def wake(self) -> None:
        """Let the first wait of the executions pass, and those that are due by then go on."""
        machines = self.deployment.machines
        name = min(machines.asleep, key=machines.asleep_for.__getitem__)
        self.later(seconds=machines.asleep_for[name] + 1)
        machines.wake()
        machines.work()

    def now(self, records: list[AnswerRecord]) -> list[AnswerRecord]:
        """The records as they are stored by now."""
        return [stores.answers().get(Reference(each.tenant, "answer", each.id)) for each in records]

    def states(self, records: list[AnswerRecord]) -> dict[str, int]:
        """How many of these records' evaluations are in which state."""
        found: dict[str, int] = {}
        for record in self.now(records):
            found[record.evaluation.state] = found.get(record.evaluation.state, 0) + 1
        return found

    def batches(self, *, tenant: str = TENANT) -> list[ProviderBatch]:
        """The tenant's batches, oldest first."""
        page = stores.provider_batches().page(tenant=tenant, limit=100)
        return [stores.provider_batches().get(Reference(tenant, "provider_batch", each.id)) for each in page.items][
            ::-1
        ]

    def take_keys_away(self) -> None:
        """Leave no key in the secret, and let every function read it anew."""
        boto3.client("secretsmanager", region_name=REGION).put_secret_value(SecretId=SECRET, SecretString="{}")
        judging.forget()
        judging._secrets.cache_clear()

    def hour(self, fate: Fate | None = None) -> None:
        """An hour passes, and the schedules do their work; whoever is killed in it leaves theirs to the others."""
        self.later(hours=1)
        for work_of in (self._drained, self.carry_on, self.sweep, self.carry_on):
            try:
                work_of()
            except KilledError:
                bury()
                if fate is not None:
                    fate.alive()

    def _drained(self) -> None:
        self.deployment.machines.context = Context(FIFTEEN_MINUTES_MS)
        self.deployment.machines.begin("drain", f"hour-{next(self._runs)}", {})
        self.deployment.machines.work()

    def sweep(self) -> None:
        """Start again what a crash left behind."""
        sweep.handler({}, Context())
        self.deployment.machines.work()


@contextmanager
def batching_house(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, *, provider: str = "openai", **variables: str
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    keys, addresses = server.led_here()
    wanted = {KEYS[provider]: keys[KEYS[provider]]}
    with deployed(monkeypatch, keys=wanted, **addresses, **{"TOUCHSTONE_BATCHES": "on", **variables}) as here:
        here.tenant(TENANT)
        yield BatchingHouse(deployment=here, server=server, monkeypatch=monkeypatch)


def finished_file(house: BatchingHouse, machine: BatchMachine) -> BatchMachine:
    """A file that waits, carried on to its end; what nobody carries is swept up as often as in a deployment."""
    swept = house.passed
    for _ in range(MOST_WAITS):
        asleep = house.deployment.machines.asleep_for
        if not house.deployment.machines.asleep:
            return machine
        first = min(house.deployment.machines.asleep, key=asleep.__getitem__)
        house.later(seconds=asleep[first] + 1)
        if first == machine.owner:
            machine.pause = lambda _seconds: None
            machine.wait()
        else:
            house.deployment.machines.wake(first)
        if house.passed - swept >= SWEEP_EVERY:
            swept = house.passed
            house.sweep()
    raise AssertionError(f"the file comes to no end: {machine.batch}, {house.batches()}")


def hastened(house: BatchingHouse, machine: BatchMachine, **query: str) -> dict[str, Any]:
    """What the API says of a file that it was asked to have answered now."""
    api = Api(token=house.deployment.token(TENANT))
    reply = api.call("POST", f"/v1/batches/{machine.batch.id}/now", query=query)
    assert reply.status == HTTPStatus.ACCEPTED, reply.body
    return dict(reply.json)


def call_the_dead_again(house: BatchingHouse, fate: Fate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a machine call a task again whose function died, as Step Functions does, when its lease is over."""
    machines = house.deployment.machines
    invoke = machines.invoke

    def repeated(module: str, handler: Handler, payload: Mapping[str, Any]) -> dict[str, Any]:
        return outlived(house, fate, lambda: invoke(module, handler, payload))

    monkeypatch.setattr(machines, "invoke", repeated)


def outlived(house: BatchingHouse, fate: Fate, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a call says, made again where whoever did it died, once their lease is over."""
    try:
        return call()
    except KilledError:
        bury()
        fate.alive()
        house.later(minutes=20)
        return call()


def bury() -> None:
    """Let what a dead function did side by side end with it: on the loop of the process it would go on with the next.

    Nothing of it has an effect, as long as nobody else is alive.
    """
    loop = work._runner().get_loop()
    left = asyncio.all_tasks(loop)
    if left:
        ended, _ = loop.run_until_complete(asyncio.wait(left, timeout=LAST_BREATH))
        for task in ended:
            task.cancelled() or task.exception()  # told already
