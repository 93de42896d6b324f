"""A provider, a quota and a clock in memory, for the tests of what stands around the adapters."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import (
    JudgeError,
)
from touchstone.judges import (
    Answered,
    Call,
    Judge,
    JudgeQuestion,
    Judges,
    Prompt,
    Registry,
    ReplyCache,
    Usage,
    load_registry,
)
from touchstone.judges.conversing import Turn, TurnRequest, Wire
from touchstone.judges.keys import Place


class Verdict(BaseModel):
    is_correct: bool
    note: str = ""


VERDICT = Verdict(is_correct=True, note="the reply's own words")
ON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PROMPT = Prompt(name="verify", version="0123456789abcdef", system="You check answers.", user="What is 6 × 7?")


class Time:
    """A monotonic clock that moves only when told to; stands in for the `time` module in `touchstone.clock`."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@dataclass(frozen=True)
class Step:
    """One call: how long it takes, and how it ends (None: with a reply)."""

    error: BaseException | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=10))


class ScriptedAdapter:
    """Answers by a script, then with replies. `events` is shared with the admission, to see what came first."""

    provider = "gemini"
    wire: Wire = "gemini"

    def __init__(self, *script: Step, time: Time | None = None, events: list[str] | None = None) -> None:
        self.script = deque(script)
        self.time = time
        self.events: list[str] = [] if events is None else events
        self.timeouts: list[float] = []
        self.questions: list[JudgeQuestion[BaseModel]] = []
        self.turns: list[TurnRequest] = []
        self.loads = 0
        self.load_error: Exception | None = None
        self.hang = False
        self.closed = False
        self.asked = asyncio.Event()

    @property
    def calls(self) -> int:
        return len(self.timeouts)

    def load(self) -> None:
        self.loads += 1
        self.events.append("load")
        if self.load_error is not None:
            raise self.load_error

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109
        """A turn of few words, by the same script."""
        self.timeouts.append(timeout)
        self.turns.append(request)
        step = self.script.popleft() if self.script else Step()
        if step.error is not None:
            raise step.error
        turn = Turn(text="Well.", usage=step.usage, model=f"{model}-001", wire=self.wire, opaque=None)
        return Answered(value=turn, model=turn.model, usage=step.usage)

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109
        self.events.append("ask")
        self.timeouts.append(timeout)
        self.asked.set()
        self.questions.append(question)
        if self.hang:
            await asyncio.sleep(60)
        step = self.script.popleft() if self.script else Step()
        if self.time is not None:
            self.time.now += min(step.seconds, timeout)
        if step.error is not None:
            raise step.error
        return Answered(
            value=question.reply_type.model_validate(VERDICT.model_dump()), model=f"{model}-001", usage=step.usage
        )

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class LoggedPermit:
    """A permit that remembers how it ended."""

    expired: bool = False
    endings: list[str] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    errors: list[JudgeError | None] = field(default_factory=list)
    settle_error: Exception | None = None
    held: asyncio.Event | None = None

    async def settle(self, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        if self.held is not None:
            await self.held.wait()
        self.endings.append("settle")
        self.costs.append(cost_usd)
        self.errors.append(error)
        if self.settle_error is not None:
            raise self.settle_error

    async def release(self) -> None:
        self.endings.append("release")


class LoggedAdmission:
    """Gives the permits it was made with, then fresh ones; raises `refusal` once `units` are given."""

    def __init__(
        self,
        *permits: LoggedPermit,
        units: int | None = None,
        refusal: Exception | None = None,
        events: list[str] | None = None,
    ) -> None:
        self.ready = deque(permits)
        self.units = units
        self.refusal = refusal
        self.events: list[str] = [] if events is None else events
        self.given: list[LoggedPermit] = []
        self.calls: list[Call] = []

    async def admit(self, call: Call) -> LoggedPermit:
        self.events.append("admit")
        if self.refusal is not None and len(self.given) >= (self.units or 0):
            raise self.refusal
        self.calls.append(call)
        self.given.append(self.ready.popleft() if self.ready else LoggedPermit())
        return self.given[-1]


class OneKey:
    """The same key for every provider, or none."""

    place: Place = "environment"

    def __init__(self, key: str | None = "sk-canary-4711") -> None:
        self.key = key

    def get(self, provider: str) -> str | None:
        return self.key if provider else None


def registry() -> Registry:
    """The shipped registry, whatever the environment says."""
    return load_registry({})


def question(*, prompt: Prompt = PROMPT, use_cache: bool = True) -> JudgeQuestion[Verdict]:
    return JudgeQuestion(prompt=prompt, reply_type=Verdict, use_cache=use_cache)


def within(seconds: float = 30.0) -> Deadline:
    return Deadline.after(seconds)


def judges_with(
    adapter: ScriptedAdapter,
    *,
    admission: LoggedAdmission | None = None,
    cache: ReplyCache | None = None,
    time: Time | None = None,
    jitter: float = 0.5,
    tenant: str = "local",
    on: datetime = ON,
) -> Judges:
    """Judges whose every provider is this adapter, on a fixed day, with fixed jitter."""
    return Judges(
        registry(),
        OneKey(),
        admission=admission,
        cache=cache,
        tenant=tenant,
        clock=lambda: on,
        connect=lambda _provider, _key: adapter,
        sleep=asyncio.sleep if time is None else time.sleep,
        draw=lambda: jitter,
    )


def judge_with(adapter: ScriptedAdapter, **around: Any) -> Judge:
    """A judge of tier `verify` over this adapter."""
    return judges_with(adapter, **around).get("gemini", "verify")


class FreeTicket:
    expired = False

    async def settle(self, *, cost_usd: float | None, error: Exception | None = None) -> None:
        """Nothing is kept."""

    async def release(self) -> None:
        """Nothing was kept."""
