"""A batch of lines against each provider and each fault: what it came to, in this process and deployed.

Time is made up (`virtual_time`), so an outage of minutes, a day that is spent and an endpoint of twenty seconds cost
none, and no figure rests on how busy the machine is. The SDKs, the connections, the command, the functions' handlers
and the conditional writes are real.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from functions import batch, observability
from functions.composition import judging, stores, work
from tests.support import replies
from tests.support.batches import BatchMachine
from tests.support.deployment import Context, Deployment, deployed
from tests.support.machines import Handler
from tests.support.overrides import REGISTRY_VARIABLE, registry
from tests.support.providers import ProviderServer, error, hang, success
from tests.support.virtual_time import VirtualTime
from tests.support.wire import Asked, Behaviour, Kind
from touchstone.answers.judge_time import DEFAULT_SECONDS, VARIABLE
from touchstone.answers.model import VerifyRequest
from touchstone.answers.pipeline import longest
from touchstone.budgets import next_reset
from touchstone.budgets.days import day_of
from touchstone.cli.app import app
from touchstone.cli.batches.local_batch import WAIT_SECONDS
from touchstone.cli.local import inprocess
from touchstone.judges import Judges, load_registry
from touchstone.operations.batches import chunks

PROVIDERS = ("gemini", "openai", "claude", "compatible")
COUNT = 60
SIDE_BY_SIDE = 10
"""Lines in this process; chunks, each in a function of its own, in a deployment."""
REFUSED_A_MINUTE = 3
NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
"""In California; no provider's day ends within hours."""
ENDPOINT_SECONDS = 0.02
OUTAGE = timedelta(minutes=4)
MINUTE = 60.0
FUNCTION_SECONDS = 900.0
"""What Lambda gives a function."""
TENANT = "demo"
VERDICT = replies.verify(independent_answer="x")
UNLIMITED = {"per_day": None, "per_minute": None}

type Fails = Callable[["Endpoint", Asked], Behaviour | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a provider. `fails` says how a call fails, None where it does not.

    `seconds` is what a reply takes, `allowed` what a verification is given (TOUCHSTONE_VERIFY_SECONDS).
    """

    name: str
    fails: Fails = lambda _endpoint, _asked: None
    seconds: float = ENDPOINT_SECONDS
    allowed: float = DEFAULT_SECONDS


@dataclass
class Endpoint:
    """A provider that lives in made-up time, and takes down what it did."""

    time: VirtualTime
    provider: str
    fault: Fault
    lines: int
    served: list[tuple[float, str]] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Behaviour:
        now, failure = self.time.monotonic(), self.fault.fails(self, asked)
        if failure is None:
            self.served.append((now, asked.prompt.partition("island-")[2].partition(".")[0]))
            return success(VERDICT, seconds=self.fault.seconds)
        (self.refused if failure.kind.endswith("_quota") else self.failed).append(now)
        return failure.model_copy(update={"seconds": failure.seconds or ENDPOINT_SECONDS})

    @property
    def calls(self) -> int:
        """How many arrived."""
        return len(self.served) + len(self.failed) + len(self.refused)

    @property
    def served_today(self) -> int:
        """How many were answered since the provider's midnight."""
        today = day_of(self.provider, self.time.now())
        return sum(day_of(self.provider, self.time.start + timedelta(seconds=at)) == today for at, _ in self.served)

    @property
    def served_this_minute(self) -> list[float]:
        """When those of the last 60 seconds were answered."""
        return [at for at, _ in self.served if self.time.monotonic() - at < MINUTE]

    @property
    def most_refused_in_a_minute(self) -> int:
        """The most calls that were refused in any 60 seconds."""
        return max((sum(at <= other <= at + MINUTE for other in self.refused) for at in self.refused), default=0)


def _each_fifth(failure: Behaviour) -> Fails:
    return lambda endpoint, _: failure if (endpoint.calls + 1) % 5 == 0 else None


def _spent_day(endpoint: Endpoint, _: Asked) -> Behaviour | None:
    quota = endpoint.lines // 2
    return None if endpoint.served_today < quota else error("day_quota", limit=quota)


def _spent(endpoint: Endpoint, _: Asked) -> Behaviour | None:
    free = len(endpoint.served) < endpoint.lines // 2 or endpoint.time.now() >= NOON + OUTAGE
    return None if free else error("unknown_quota", retry_after=1.0)


def _a_minute(minutes: int, kind: Kind) -> Fails:
    """So many calls a minute that the lines take so many minutes."""

    def fails(endpoint: Endpoint, _: Asked) -> Behaviour | None:
        limit, recent = endpoint.lines // minutes, endpoint.served_this_minute
        if len(recent) < limit:
            return None
        named = kind == "minute_quota"
        wait = MINUTE - (endpoint.time.monotonic() - recent[0])
        return error(kind, limit=limit if named else None, retry_after=round(wait, 1) if named else 1.0)

    return fails


FAULTS: Mapping[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault(name="none"),
        Fault(name="500", fails=_each_fifth(error("server_error"))),
        Fault(name="garbage", fails=_each_fifth(success("no JSON"))),
        Fault(name="hung", fails=_each_fifth(hang(3600.0))),
        Fault(name="day", fails=_spent_day),
        Fault(name="spent", fails=_spent),
        Fault(name="rpm", fails=_a_minute(4, "minute_quota")),
        Fault(name="rpm unnamed", fails=_a_minute(6, "unknown_quota")),
        Fault(name="8 s", seconds=8.0),
        Fault(name="20 s", seconds=20.0),
        Fault(name="60 s", seconds=60.0, allowed=90.0),
    )
}
"""`day` is as many calls of each of the provider's days as half of the lines need. `spent` refuses from the call after
those on until four minutes are over, with a `retry-after` of a second that proves wrong; `rpm unnamed` says the same of
a sixth of the lines a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a batch came to. `served_twice` counts verdicts that were paid again; `waited` is all of its time, in s.

    `longest` is the longest time that something with an end took (a line here, a function deployed), of `allowed` s.
    """

    way: str
    provider: str
    fault: str
    lines: int
    scored: int
    calls: int
    repeats: int
    refused: int
    refused_a_minute: int
    served_twice: int
    longest_call: float
    longest: float
    allowed: float
    waited: float
    says: str

    @property
    def missed(self) -> list[str]:
        """The bars that it missed, in words."""
        bars = {
            f"{self.scored} of {self.lines} lines were scored": self.scored == self.lines,
            f"{self.served_twice} verdicts were paid twice": self.served_twice == 0,
            f"{self.calls} calls for {self.lines} lines, of which {self.repeats} failed": (
                self.calls == self.lines + self.repeats
            ),
            f"{self.refused_a_minute} were refused in a minute": self.refused_a_minute <= REFUSED_A_MINUTE,
            f"a call took {self.longest_call:.1f} s": self.longest_call <= FAULTS[self.fault].allowed,
            f"{self.longest:.0f} s of {self.allowed:.0f}": self.longest <= self.allowed,
            self.says: not self.says,
        }
        return [words for words, kept in bars.items() if not kept]


@dataclass
class _Longest:
    """The longest that anything took."""

    time: VirtualTime
    seconds: float = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        begun = self.time.monotonic()
        try:
            yield
        finally:
            self.seconds = max(self.seconds, self.time.monotonic() - begun)


def _led(server: ProviderServer, provider: str) -> tuple[dict[str, str], dict[str, str]]:
    """The keys and the variables that lead to one provider alone, whose limits nobody was told of."""
    if provider == "compatible":
        return {}, {
            "TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url,
            "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3",
            "TOUCHSTONE_COMPATIBLE_PRICE_IN": "0.1",
            "TOUCHSTONE_COMPATIBLE_PRICE_OUT": "0.4",
        }
    keys, addresses = server.led_here()
    models = [model.name for model in load_registry({}).provider(provider).models.values()]
    own = {"gemini": "GEMINI", "openai": "OPENAI", "claude": "ANTHROPIC"}[provider]
    variables = addresses | registry(**{provider: {"models": dict.fromkeys(models, UNLIMITED)}})
    return {name: key for name, key in keys.items() if name.startswith(own)}, variables


def request(number: int) -> dict[str, str]:
    """A request that no computation decides."""
    return {"problem": f"Name island-{number}.", "answer": "x"}


def _rows(count: int) -> bytes:
    rows = ({"kind": "verify", "id": f"n{number}", **request(number)} for number in range(count))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@contextmanager
def _faulty(
    provider: str, fault: Fault, lines: int
) -> Iterator[tuple[pytest.MonkeyPatch, VirtualTime, ProviderServer, Endpoint]]:
    """A provider in made-up time, and an environment that leads to no other."""
    time = VirtualTime(NOON)
    endpoint = Endpoint(time, provider, fault, lines)
    with pytest.MonkeyPatch.context() as patch, ProviderServer(time=time) as server:
        server.script(endpoint)
        others = {name for each in load_registry({}).providers.values() for name in each.key_variables}
        for name in (*others, REGISTRY_VARIABLE, "TOUCHSTONE_COMPATIBLE_BASE_URL"):
            patch.delenv(name, raising=False)
        patch.setenv(VARIABLE, f"{fault.allowed:g}")
        time.take_over(patch)
        yield patch, time, server, endpoint


def _outcome(
    way: str, endpoint: Endpoint, statuses: list[str | None], *, longest: _Longest, allowed: float, says: str = ""
) -> Outcome:
    served = Counter(line for _, line in endpoint.served)
    return Outcome(
        way=way,
        provider=endpoint.provider,
        fault=endpoint.fault.name,
        lines=len(statuses),
        scored=statuses.count("verified"),
        calls=endpoint.calls,
        repeats=len(endpoint.failed) + len(endpoint.refused),
        refused=len(endpoint.refused),
        refused_a_minute=endpoint.most_refused_in_a_minute,
        served_twice=sum(times - 1 for times in served.values()),
        longest_call=endpoint.time.longest_call,
        longest=longest.seconds,
        allowed=allowed,
        waited=endpoint.time.monotonic(),
        says=says,
    )


def run_locally(provider: str, fault: Fault, folder: Path, *, count: int = COUNT) -> Outcome:
    """`touchstone batch run --local --parallel 10`; where a day is spent, once more on the next one."""
    with _faulty(provider, fault, count) as (patch, time, server, endpoint):
        longest_line = _Longest(time)
        answered = inprocess.answered

        async def measured(*given: Any, **named: Any) -> Any:
            with longest_line.measured():
                return await answered(*given, **named)

        patch.setattr(inprocess, "answered", measured)
        for name in ("CONFIG", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name))
        keys, variables = _led(server, provider)
        file = folder / "answers.jsonl"
        file.write_bytes(_rows(count))
        arguments = ["batch", "run", str(file), "--local", "--parallel", str(SIDE_BY_SIDE)]

        def run() -> Any:
            with time.working():
                return CliRunner(env={**keys, **variables}).invoke(app, arguments)

        result = run()
        if fault.name == "day" and result.exit_code == 3:
            time.forward((next_reset(provider, time.now()) - time.now()).total_seconds() + MINUTE)
            result = run()
        results = (folder / "answers.results.jsonl").read_bytes().splitlines()
        statuses = [json.loads(line)["answer"]["verification_status"] for line in results]
    said = "" if result.exit_code == 0 else f"exit {result.exit_code}: {result.stderr or result.exception!r}"
    allowed = WAIT_SECONDS + longest(VerifyRequest(problem="?", answer="x", verify_seconds=fault.allowed))
    return _outcome("local", endpoint, statuses, longest=longest_line, allowed=allowed, says=said)


class TimedContext(Context):
    """A function's context, whose time runs out."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time, self._ends = time, time.monotonic() + FUNCTION_SECONDS

    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override] # Powertools declares it static
        return int((self._ends - self._time.monotonic()) * 1000)


_REMEMBERED = threading.local()
"""What the function of a thread keeps between its calls, by what made it."""
_OPENED = judging._judges
"""As the doors have it: a test's deployment would close what it opened from its own thread."""


def _apart(patch: pytest.MonkeyPatch) -> None:
    """Let each thread be a function of its own: with the table and the bucket in common, and nothing it remembers."""
    for module, name in (
        (stores, "quotas"),
        (stores, "spending"),
        (judging, "registry"),
        (judging, "_adapter"),
        (judging, "judges"),
        (work, "_runner"),
        (work, "bulk_evaluations"),
        (batch, "bulk_evaluations"),
    ):
        patch.setattr(module, name, _per_thread(getattr(module, name).__wrapped__))
    patch.setattr(judging, "_judges", _OPENED)
    # Powertools collects metrics in the process; nothing looks at them here.
    patch.setattr(observability, "metrics", SimpleNamespace(metric_set={}, add_metric=lambda **_: None))


def _per_thread[R](make: Callable[..., R]) -> Callable[..., R]:
    @wraps(make)
    def cached(*given: Any, **named: Any) -> R:
        made, key = vars(_REMEMBERED), repr((make.__qualname__, given, sorted(named.items())))
        if key not in made:
            made[key] = make(*given, **named)
        return made[key]  # type: ignore[no-any-return] # a namespace holds anything

    cached.cache_clear = lambda: None  # type: ignore[attr-defined] # as `functools.cache` gives it
    cached.cache_info = lambda: SimpleNamespace(currsize=0)  # type: ignore[attr-defined]
    return cached


def _forget() -> None:
    """End the function of this thread: the next one is another."""
    made = list(vars(_REMEMBERED).values())
    for judges in made:
        if isinstance(judges, Judges):
            work.run(judges.aclose())
    for runner in made:
        if isinstance(runner, asyncio.Runner):
            runner.close()
    vars(_REMEMBERED).clear()


@contextmanager
def faulty_deployment(
    provider: str, fault: Fault, *, count: int = COUNT
) -> Iterator[tuple[VirtualTime, Deployment, Endpoint]]:
    """A deployment in made-up time, each of whose threads is a function of its own. Must run in `mock_aws`."""
    with _faulty(provider, fault, count) as (patch, time, server, endpoint):
        keys, variables = _led(server, provider)
        with deployed(patch, keys=keys, **variables) as here:
            _apart(patch)
            here.tenant(TENANT)
            stores._s3(), stores.table(), stores.answers()  # clients are made by one thread
            yield time, here, endpoint


def in_a_function[R](time: VirtualTime, work: Callable[[], R]) -> R:
    """What a function of its own comes to, that ends with it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_as_function, time, work).result()


def _as_function[R](time: VirtualTime, work: Callable[[], R]) -> R:
    with time.working():
        try:
            return work()
        finally:
            _forget()


def run_deployed(provider: str, fault: Fault, *, count: int = COUNT, chunk_lines: int = chunks.CHUNK_LINES) -> Outcome:
    """A dropped file through the real handlers, its chunks side by side, as by the machine. Must run in `mock_aws`.

    A small file in small chunks meets what a large one does: several functions at once.
    """
    with (
        pytest.MonkeyPatch.context() as patch,
        faulty_deployment(provider, fault, count=count) as (time, here, endpoint),
    ):
        patch.setattr(chunks, "CHUNK_LINES", chunk_lines)
        longest_step = _Longest(time)

        def called(handler: Handler, payload: Mapping[str, Any]) -> dict[str, Any]:
            with longest_step.measured():
                return in_a_function(time, lambda: handler(payload, TimedContext(time)))

        machine = BatchMachine(deployment=here, tenant=TENANT, call=called, pause=time.forward)
        with ThreadPoolExecutor(SIDE_BY_SIDE) as functions:
            here.machines.together = lambda works: functions.map(lambda work: work(), works)
            machine.run(_rows(count))
        results = machine.results()
    statuses = [(result["answer"] or {}).get("verification_status") for result in results]
    return _outcome("deployed", endpoint, statuses, longest=longest_step, allowed=FUNCTION_SECONDS)
