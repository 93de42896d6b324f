"""What a deployment costs on AWS: the table of docs/how-to/deploy.md.

    uv run python -m tests.bench.cost [--write] [--items]

The real handlers run over moto, the machines from their definitions; every call to AWS is counted, by the units it
would be billed in, and multiplied by the list prices in `prices.json`. Given are how long a judge takes, and how long a
function takes beside it (`OWN_SECONDS`). `--write` puts the table into the document, `--items` shows every write. Below
the table each row stands beside what it may cost (`BARS`); it ends with 1 where one costs more.
"""

import argparse
import contextlib
import io
import itertools
import json
import logging
import math
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from functions import sweep
from functions.composition import stores, work
from functions.environment import environment
from functions.observability import METRICS, logger
from tests.bench.layers import synthesized
from tests.support import replies
from tests.support.api import Api
from tests.support.aws import in_process
from tests.support.batches import BatchMachine, in_lines
from tests.support.deployment import Context, Deployment, deployed
from tests.support.metering import Invocation, Meter, metering
from tests.support.overrides import registry
from tests.support.providers import ProviderServer
from tests.support.templates import Resources, functions, of_type
from touchstone.clock import OFFSET_VARIABLE, system_clock
from touchstone.operations.answers import intake
from touchstone.operations.answers.draining import ROUND
from touchstone.references import Reference

DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md"
PRICES = Path(__file__).with_name("prices.json")
BEGIN, END = "<!-- what it costs: begin -->", "<!-- what it costs: end -->"
JUDGE_SECONDS = (1.5, 10.0)
SHOWN_USD = 0.005
OWN_SECONDS = 0.06
"""Of a warm function beside its judge: a handful of calls to the table, a few milliseconds each."""
BATCHED_SECONDS = 0.08
"""Of a question that goes by a batch: it is gathered, sent and stored, and nobody waits for its judge."""
AUTHORIZER_SECONDS = 0.01
"""One read by key."""
SWEEP_SECONDS = 0.5
PLATFORM_LOG_BYTES = 600
"""What Lambda logs of an invocation by itself: its start, end and report as JSON."""
ACCESS_LOG_BYTES = 250
STATE_LOG_BYTES = 1_500
"""What a state machine logs of a task without its data: entered, scheduled, succeeded, exited."""
TRACED = 0.05
"""X-Ray takes one request a second and this part of the rest."""
EXPRESS_GB = 64 / 1024
"""The least that an Express execution is billed for; it holds references only."""
SWEEPS_A_MONTH, DRAINS_A_MONTH = 4 * 730, 730 + 30
MACHINE = re.compile(r"([A-Z][a-z]+)Machine")
TENANT = "acme"
PUPILS = itertools.count(1_000)
AHEAD_MS = 60_000
LONGEST_MS = 900_000
PATIENCE_SECONDS = 600.0
"""That a caller waits, in place of five: how much is written does not depend on how busy this machine is."""
CREATED, ACCEPTED = 201, 202
DAY_SECONDS = 86_400
THOUSAND = 1_000
BULK = (21, 41)
"""Evaluations of two drains, and of two batches: what the second costs more is what each costs where there are many."""
LINES = (50, 100)
"""Of two files, in whole chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The most US dollars that a thousand of a row of the table may cost, with a judge of so many seconds."""

    usd: float
    judge_seconds: float = JUDGE_SECONDS[-1]


VERIFIED = "an answer verified through the API"
ALONE = "a deep evaluation asked for by itself"
IN_BULK = "a deep evaluation in bulk"
BATCHED = "a deep evaluation by a provider's batch"
LINE = "a line of a file by a provider's batch"
BARS = {
    # What a judge takes longer than 1.5 s is billed while a caller waits.
    VERIFIED: Bar(usd=0.06, judge_seconds=JUDGE_SECONDS[0]),
    ALONE: Bar(usd=0.10),
    IN_BULK: Bar(usd=0.04),
    BATCHED: Bar(usd=0.03),
    LINE: Bar(usd=0.03),
}
"""By the rows of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices in US dollars, of `region` as of a date."""

    region: str
    as_of: str
    note: str
    million: Mapping[str, float]
    lambda_gb_second: float
    express_gb_second: float
    logs_gb: float
    month: Mapping[str, float]
    free: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What a template says of prices: memory by module, which machines are Express, what is there all the time."""

    memory_mb: Mapping[str, int]
    express: frozenset[str]
    alarm_metrics: int
    dashboards: int
    secrets: int


@dataclass(kw_only=True)
class Bill:
    """US dollars by what they are for."""

    parts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.parts.values())

    @property
    def dominated(self) -> str:
        """Its parts of at least a fifth, in percent, the largest first."""
        large = [(name, usd / self.total) for name, usd in self.ordered() if usd >= self.total / 5]
        return ", ".join(f"{name} {share:.0%}".replace("%", " %") for name, share in large)

    def ordered(self) -> list[tuple[str, float]]:
        """Its parts, the largest first."""
        return sorted(self.parts.items(), key=lambda part: -part[1])

    def times(self, factor: float) -> "Bill":
        """So many times this."""
        return Bill(parts=defaultdict(float, {name: usd * factor for name, usd in self.parts.items()}))

    def less(self, other: "Bill") -> "Bill":
        """This without another one."""
        return Bill(parts=defaultdict(float, {name: usd - other.parts[name] for name, usd in self.parts.items()}))


def prices() -> Prices:
    """The price list."""
    return Prices(**json.loads(PRICES.read_text(encoding="utf-8")))


def stack_of(resources: Resources) -> Stack:
    """What the synthesized template says."""
    machines = of_type(resources, "AWS::StepFunctions::StateMachine").items()
    express = [name for name, item in machines if item["Properties"].get("StateMachineType") == "EXPRESS"]
    alarms = [item["Properties"] for item in of_type(resources, "AWS::CloudWatch::Alarm").values()]
    return Stack(
        memory_mb={
            item["Handler"].removesuffix(".handler"): item["MemorySize"] for item in functions(resources).values()
        },
        express=frozenset(name.lower() for logical in express for name in MACHINE.findall(logical)[:1]),
        alarm_metrics=sum(sum("MetricStat" in one for one in alarm.get("Metrics", ())) or 1 for alarm in alarms),
        dashboards=len(of_type(resources, "AWS::CloudWatch::Dashboard")),
        secrets=len(of_type(resources, "AWS::SecretsManager::Secret")),
    )


def bill(meter: Meter, *, judge_seconds: float, stack: Stack, listed: Prices) -> Bill:
    """What was used, in US dollars. Whoever asked a judge waited for it once in each round."""
    found = Bill()
    million = {name: usd / 1e6 for name, usd in listed.million.items()}
    logged = float(meter.log_bytes)
    waited = 0.0
    for one in meter.invocations:
        seconds = _seconds(one, judge_seconds)
        waited += seconds if not one.module.startswith("functions.api.") else 0.0
        found.parts["functions"] += seconds * stack.memory_mb[one.module] / 1024 * listed.lambda_gb_second
        found.parts["functions"] += million["lambda_requests"]
        logged += PLATFORM_LOG_BYTES
        if one.module in {"functions.api.app", "functions.api.verifying"}:
            found.parts["gateway"] += million["http_api_requests"]
            logged += ACCESS_LOG_BYTES
    for machine, states in meter.states.items():
        logged += STATE_LOG_BYTES * states
        if machine in stack.express:
            found.parts["machines"] += meter.executions[machine] * million["express_requests"]
        else:
            found.parts["machines"] += (states + meter.executions[machine]) * million["transitions"]
    if stack.express & meter.executions.keys():
        found.parts["machines"] += waited * EXPRESS_GB * listed.express_gb_second
    for name, units in meter.units.items():
        kind = {"write_units": "table", "index_write_units": "table", "read_units": "table"}.get(name, "other")
        found.parts[kind] += units * million[name.removeprefix("index_")]
    found.parts["logs"] += logged / 1024**3 * listed.logs_gb
    found.parts["other"] += TRACED * million["traces"]
    return found


def _seconds(one: Invocation, judge_seconds: float) -> float:
    if one.module == "functions.api.authorizer":
        return AUTHORIZER_SECONDS
    if one.module == "functions.sweep":
        return SWEEP_SECONDS
    if one.module == "functions.provider_batches.advance":
        return OWN_SECONDS + BATCHED_SECONDS * one.judged
    rounds = one.judged
    if one.module == "functions.drain":
        # The first goes alone, the others side by side; each is stored after the other.
        rounds = min(one.judged, 1) + math.ceil(max(0, one.judged - 1) / ROUND)
    return OWN_SECONDS * max(1, one.judged) + rounds * judge_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A deployment in the process whose judges answer at once, a caller of its API, and a way to meter work."""

    here: Deployment
    api: Api
    server: ProviderServer

    def metered(self, do: Callable[[], Any]) -> Meter:
        """What some work uses."""
        printed = io.StringIO()
        with metering(lambda: len(self.server.calls)) as meter, logging_to(printed):
            machines = self.here.machines
            machines.entered, machines.begun = meter.entered, meter.begun
            do()
            machines.entered = machines.begun = lambda _machine: None
        meter.log_bytes += len(printed.getvalue().encode())
        for line in printed.getvalue().splitlines():
            if line.startswith('{"_aws"'):
                listed = json.loads(line)["_aws"]["CloudWatchMetrics"]
                meter.metrics |= {metric["Name"] for each in listed for metric in each["Metrics"]}
        return meter

    def verify(self, pupil: int, **more: Any) -> str:
        """Have an answer verified through the API, by a request with a key; its id."""
        body = {**_question(pupil), **more}
        reply = self.api.call(
            "POST",
            "/v1/verifications",
            json.dumps(body),
            key=f"answer-{pupil:04}-of-class-7",
            # Later than it is, so that a busy machine has time enough.
            received_at_ms=time.time_ns() // 1_000_000 + AHEAD_MS,
        )
        assert reply.status == CREATED, reply.body
        assert reply.json["method"] == "judge", reply.body
        return str(reply.json["id"])

    def evaluate(self, answer_id: str) -> None:
        """Ask for a deep evaluation through the API, and have it done."""
        assert self.api.post(f"/v1/answers/{answer_id}/deep-evaluation").status == ACCEPTED
        assert self.state_of(answer_id) == "done"

    def evaluate_many(self, answer_ids: Sequence[str]) -> None:
        """Line up deep evaluations as a batch does, and have the drain work them off."""
        for answer_id in answer_ids:
            work.bulk_evaluations().add(stores.answers().get(Reference(TENANT, "answer", answer_id)))
        self.here.machines.begin("drain", f"drain-{len(answer_ids)}", {})
        assert {self.state_of(answer_id) for answer_id in answer_ids} == {"done"}

    def evaluate_by_batch(self, answer_ids: Sequence[str]) -> None:
        """Line up deep evaluations as a batch does, and have them done by the batch of a provider."""
        machines = self.here.machines
        for answer_id in answer_ids:
            work.bulk_evaluations().add(stores.answers().get(Reference(TENANT, "answer", answer_id)))
        machines.begin("drain", f"gathering-{len(answer_ids)}", {})
        machines.work()
        while machines.asleep:
            self.later(max(machines.asleep_for[name] for name in machines.asleep) + 1)
            machines.wake()
        assert {self.state_of(answer_id) for answer_id in answer_ids} == {"done"}

    def check_by_batch(self, count: int) -> None:
        """Drop a file of so many answers to check, and have their judge asked by the batch of a provider."""
        machines = self.here.machines
        rows = [
            {**_question(next(PUPILS)), "kind": "verify", "id": f"row-{number}", "when": "cheap"}
            for number in range(count)
        ]
        file = BatchMachine(deployment=self.here, tenant=TENANT, name=f"file-{count}", owner=f"file-{count}")
        file.drop(in_lines(rows))
        while machines.asleep:
            first = min(machines.asleep, key=machines.asleep_for.__getitem__)
            self.later(machines.asleep_for[first] + 1)
            if first == file.owner:
                file.pause = lambda _seconds: None
                file.wait()
            else:
                machines.wake(first)
            machines.work()
        assert {line["answer"]["method"] for line in file.results()} == {"judge"}

    def later(self, seconds: float) -> None:
        """Let time pass."""
        os.environ[OFFSET_VARIABLE] = str(float(os.environ[OFFSET_VARIABLE]) + seconds)

    def state_of(self, answer_id: str) -> str:
        """Where a deep evaluation stands."""
        return stores.answers().get(Reference(TENANT, "answer", answer_id)).evaluation.state


def _question(pupil: int) -> dict[str, Any]:
    problem = f"Which city is the capital of Australia? Give its name only, as pupil {pupil} of class 7 did."
    return {"problem": problem, "answer": "Canberra", "deep_evaluation": False}


@contextlib.contextmanager
def logging_to(printed: io.StringIO) -> Iterator[None]:
    """Have what functions log and publish written there."""
    handler = logger.registered_handler
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(printed)
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        handler.setStream(before)


def unlimited() -> dict[str, str]:
    """The variable by which no quota of a provider is met."""
    models = ("gemini-3.8-flash", "gemini-3.5-flash-lite")
    return registry(gemini={"models": {name: {"per_day": None, "per_minute": None} for name in models}})


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """A deployment at work: what is loaded and made once is loaded and made."""
    with ProviderServer() as server, pytest.MonkeyPatch.context() as patch, in_process(patch):
        patch.setattr(intake, "SYNC_SECONDS", PATIENCE_SECONDS)
        server.reply(replies.verify(), schema="VerifyReply")
        server.reply(replies.evaluate(), schema="EvaluateReply")
        keys, addresses = server.led_here()
        with deployed(patch, keys=keys, **addresses, **unlimited()) as here:
            here.machines.context = Context(LONGEST_MS)
            one = Scene(here=here, api=Api(token=here.token(TENANT)), server=server)
            # Work of two days counts on both, which costs more, and so does an answer that is later than its key: the
            # day of the table begins anew.
            one.later(-(system_clock().timestamp() % DAY_SECONDS))
            with logging_to(io.StringIO()):
                one.evaluate(one.verify(0))
            yield one


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What each kind of work used; `fewer` and `more` are two drains of different length, and two batches;
    `fewer_lines` and `more_lines` are two files."""

    verified: Meter
    evaluated: Meter
    fewer: Meter
    more: Meter
    fewer_batched: Meter
    more_batched: Meter
    fewer_lines: Meter
    more_lines: Meter
    sweep: Meter
    empty_drain: Meter


def measure() -> Measured:
    """Do each kind of work once."""
    with scene() as one:
        verified = one.metered(lambda: one.verify(1))
        alone = one.verify(2)
        evaluated = one.metered(lambda: one.evaluate(alone))
        drained = [one.metered(partial(one.evaluate_many, asked_for(one, count))) for count in BULK]
        swept = one.metered(lambda: sweep.handler({"source": "schedule"}, one.here.machines.context))
        empty = one.metered(lambda: one.here.machines.begin("drain", "empty", {}))
        batched = []
        with batches_on():
            for count in BULK:
                answer_ids = asked_for(one, count)
                one.later(3600)  # so few wait for others, an hour at most
                batched.append(one.metered(partial(one.evaluate_by_batch, answer_ids)))
            lines = [one.metered(partial(one.check_by_batch, count)) for count in LINES]
    return Measured(
        verified=verified,
        evaluated=evaluated,
        fewer=drained[0],
        more=drained[1],
        fewer_batched=batched[0],
        more_batched=batched[1],
        fewer_lines=lines[0],
        more_lines=lines[1],
        sweep=swept,
        empty_drain=empty,
    )


def asked_for(one: Scene, count: int) -> list[str]:
    """Answers whose deep evaluation was asked for, as a batch's answers do by the write of their end."""
    with logging_to(io.StringIO()):
        answer_ids = [one.verify(next(PUPILS)) for _ in range(count)]
        for answer_id in answer_ids:
            stores.evaluations().request(Reference(TENANT, "answer", answer_id))
    return answer_ids


@contextlib.contextmanager
def batches_on() -> Iterator[None]:
    """Deep evaluations that wait go by the batches of their provider."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHSTONE_BATCHES", "on")
        # All of a batch is held back at its highest price: a low ceiling would make several of one.
        patch.setenv("TOUCHSTONE_DAILY_CEILING_USD", "1000")
        for kept in (environment, work.bulk_evaluations):
            kept.cache_clear()
        yield
    for kept in (environment, work.bulk_evaluations):
        kept.cache_clear()


def idle(measured: Measured, *, stack: Stack, listed: Prices) -> Bill:
    """What a month costs in which nothing is asked."""
    month, free = listed.month, listed.free
    found = Bill()
    for meter, times in ((measured.sweep, SWEEPS_A_MONTH), (measured.empty_drain, DRAINS_A_MONTH)):
        run = bill(meter, judge_seconds=0.0, stack=stack, listed=listed).times(times)
        found.parts["sweeps and drains"] += run.total
        found.parts["sweeps and drains"] += times * listed.million["schedules"] / 1e6
    found.parts["secret"] = stack.secrets * month["secret"]
    found.parts["alarms"] = max(0, stack.alarm_metrics - free["alarms"]) * month["alarm"]
    found.parts["dashboard"] = max(0, stack.dashboards - free["dashboards"]) * month["dashboard"]
    found.parts["metrics"] = max(0, len(measured.sweep.metrics) - free["metrics"]) * month["metric"]
    return found


type Used = Callable[[float], Bill]
"""What a thousand of something cost with a judge of so many seconds."""


def rows(measured: Measured, *, stack: Stack, listed: Prices) -> dict[str, Used]:
    """The rows of the table."""

    def of(meter: Meter) -> Used:
        return lambda seconds: bill(meter, judge_seconds=seconds, stack=stack, listed=listed).times(THOUSAND)

    def bulk(fewer: Meter, more: Meter, counts: tuple[int, int] = BULK) -> Used:
        return lambda seconds: of(more)(seconds).less(of(fewer)(seconds)).times(1 / (counts[1] - counts[0]))

    def lines(seconds: float) -> Bill:
        found = bulk(measured.fewer_lines, measured.more_lines, LINES)(seconds)
        # A function of a chunk asks no judge here, so that its calls do not say how many lines it tried.
        gigabytes = stack.memory_mb["functions.batch.lines"] / 1024
        found.parts["functions"] += THOUSAND * OWN_SECONDS * gigabytes * listed.lambda_gb_second
        return found

    return {
        VERIFIED: of(measured.verified),
        ALONE: of(measured.evaluated),
        IN_BULK: bulk(measured.fewer, measured.more),
        BATCHED: bulk(measured.fewer_batched, measured.more_batched),
        LINE: lines,
    }


def against_bars(costs: Mapping[str, Used]) -> dict[str, float]:
    """What each row costs of what it may cost: 1 is the bar."""
    return {what: costs[what](bar.judge_seconds).total / bar.usd for what, bar in BARS.items()}


def missed(parts: Mapping[str, float]) -> list[str]:
    """The rows that cost more than they may, by the thousandths of a dollar that the table tells."""
    return [what for what, part in parts.items() if round(part * BARS[what].usd, 3) > BARS[what].usd]


def table(measured: Measured, *, stack: Stack, listed: Prices) -> str:
    """The table of the document."""

    def dollars(used: Used) -> tuple[str, str]:
        bills = [used(seconds) for seconds in JUDGE_SECONDS]
        return " / ".join(f"{one.total:.3f}" for one in bills), bills[-1].dominated

    shown = [(what, *dollars(used)) for what, used in rows(measured, stack=stack, listed=listed).items()]
    units = measured.verified.units
    resting = idle(measured, stack=stack, listed=listed)
    seconds = " / ".join(f"{each:g}" for each in JUDGE_SECONDS)
    parts = ", ".join(f"{name} {usd:.2f}" for name, usd in resting.ordered() if usd >= SHOWN_USD)
    return f"""\
| per {THOUSAND:,}, with a judge of {seconds} s | US dollars | of that, at {JUDGE_SECONDS[-1]:g} s |
|---|---|---|
{"\n".join(f"| {what} | {usd} | {most} |" for what, usd, most in shown)}

A verification writes {units["write_units"]:.0f} units to the table and {units["index_write_units"]:.0f} to its indexes.
A month in which nothing is asked costs {resting.total:.2f} US dollars: {parts}.
The functions publish {len(METRICS)} metrics. Prices are those of {listed.region} as of {listed.as_of}
(`tests/bench/prices.json`), without what the judges ask."""


def written(text: str, shown: str) -> str:
    """The document with the table in its place."""
    before, after = text.split(BEGIN, maxsplit=1)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n{shown}\n{END}{after}"


def main() -> int:
    """Print the table, and what each row costs of what it may."""
    parser = argparse.ArgumentParser(description="What a deployment costs on AWS.")
    parser.add_argument("--write", action="store_true", help="put the table into docs/how-to/deploy.md")
    parser.add_argument("--items", action="store_true", help="show every write")
    options = parser.parse_args()
    stack = stack_of(synthesized()["Resources"])
    measured = measure()
    shown = table(measured, stack=stack, listed=prices())
    print(shown)
    parts = against_bars(rows(measured, stack=stack, listed=prices()))
    print()
    for what, part in parts.items():
        usd, seconds = BARS[what].usd, BARS[what].judge_seconds
        print(f"{part:6.1%} of the bar of ${usd:.2f} per {THOUSAND:,}, with a judge of {seconds:g} s: {what}")
    if options.items:
        for name in ("verified", "evaluated"):
            print(f"\n{name}")
            for what, times in sorted(getattr(measured, name).tables.items()):
                print(f"  {times} x {what}")
    if options.write:
        DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8"), shown), encoding="utf-8")
    return int(bool(missed(parts)))


if __name__ == "__main__":
    sys.exit(main())
