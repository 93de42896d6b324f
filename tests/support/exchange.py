"""What a judge on loopback was told to do, and what it was asked: the state behind `tests.support.providers`."""

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from tests.support import grading, marking
from tests.support.wire import Answer, Asked, Behaviour, Kind, answer

type Responder = Callable[[Asked], Behaviour]

MINUTE = 60.0
"""Requests a minute are counted over a window of this many seconds that slides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that arrived. `at` is Unix time; `behaviour` how it was answered, `status` with which HTTP status.
    `by_batch`: it was a line of a batch.

    The caller's key is not kept.
    """

    at: float
    provider: str
    model: str
    system: str
    prompt: str
    images: int
    schema: Mapping[str, Any] | None
    title: str
    max_output_tokens: int | None
    temperature: float | None
    form: str
    tools: tuple[str, ...]
    turn: int
    results: tuple[str, ...]
    parameters: tuple[Mapping[str, Any], ...]
    behaviour: Kind
    status: int
    by_batch: bool = False


class Rule(BaseModel):
    """A standing arrangement: requests whose schema title, prompt, provider and model fit are answered so.

    `prompt` is a regular expression searched in the system and user text; None fits all. `times` is how many
    requests the rule answers before it holds no more; None: all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    behaviour: Behaviour
    schema_title: str | None = None
    prompt: str | None = None
    provider: str | None = None
    model: str | None = None
    times: int | None = None

    def fits(self, asked: Asked) -> bool:
        """Whether this rule answers the request."""
        return (
            self.schema_title in {None, asked.title}
            and self.provider in {None, asked.provider}
            and self.model in {None, asked.model}
            and (self.prompt is None or re.search(self.prompt, f"{asked.system}\n{asked.prompt}") is not None)
        )


class Quota(BaseModel):
    """A limit the server keeps, a provider and model: requests a day and in any 60 s, both counted on arrival.

    A day lasts until `ProviderServer.new_day`. None: unlimited; `provider` or `model` None: each one its own count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rpd: int | None = None
    rpm: int | None = None
    provider: str | None = None
    model: str | None = None


class Control(BaseModel):
    """The body of `POST /__control__`. Fields left out change nothing; lists are appended, except after `reset`.

    `opened` are latches: what they hold back is answered now.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reset: bool = False
    new_day: bool = False
    script: tuple[Behaviour, ...] = ()
    rules: tuple[Rule, ...] = ()
    quotas: tuple[Quota, ...] = ()
    fallback: Behaviour | None = None
    opened: tuple[str, ...] = ()


class Exchange:
    """What is arranged and what arrived. Safe to use from any thread."""

    def __init__(self, moment: Callable[[], float] = time.time) -> None:
        self._lock = threading.Lock()
        self._moment = moment
        self.reset()

    def reset(self) -> None:
        """Forget every arrangement, count and call."""
        with self._lock:
            self._script: deque[Behaviour] = deque()
            self._responder: Responder | None = None
            self._rules: list[Rule] = []
            self._quotas: list[Quota] = []
            self._fallback = Behaviour()
            self._calls: list[Call] = []
            self._opened: set[str] = set()
            self._answered: dict[int, int] = {}
            self._today: dict[tuple[str, str], int] = {}
            self._recent: dict[tuple[str, str], deque[float]] = {}

    def arrange(self, control: Control) -> None:
        """Apply a control message."""
        if control.reset:
            self.reset()
        with self._lock:
            if control.new_day:
                self._today.clear()
            self._script.extend(control.script)
            self._rules.extend(control.rules)
            self._quotas.extend(control.quotas)
            self._opened.update(control.opened)
            self._fallback = control.fallback or self._fallback

    def respond(self, responder: Responder | None) -> None:
        """Let a function answer whatever the script does not; it runs on the server's thread. None removes it."""
        with self._lock:
            self._responder = responder

    @property
    def calls(self) -> list[Call]:
        """Every request so far, in order of arrival."""
        with self._lock:
            return list(self._calls)

    def holds(self, latch: str | None) -> bool:
        """Whether an answer is held back by this latch."""
        with self._lock:
            return latch is not None and latch not in self._opened

    def meet(self, asked: Asked, *, by_batch: bool = False) -> tuple[Behaviour, Answer]:
        """Decide how a request is answered, and take it down. `by_batch`: the quotas of single calls do not count."""
        with self._lock:
            spent = None if by_batch else self._spent(asked)
            behaviour = spent or _refusal(asked) or (self._script.popleft() if self._script else None)
            responder = self._responder
            rules, fallback = list(self._rules), self._fallback
        if behaviour is None and responder is not None:
            behaviour = responder(asked)
        if behaviour is None:
            behaviour = next(
                (rule.behaviour for rule in reversed(rules) if rule.fits(asked) and self._takes(rule)), None
            )
        behaviour = behaviour or fallback
        if behaviour.by_turn:
            behaviour = behaviour.by_turn[min(asked.turn, len(behaviour.by_turn) - 1)]
        if behaviour.kind == "success" and behaviour.value is None and not asked.form:
            graded = next(filter(None, (judge.reply(asked) for judge in (grading, marking))), None)
            behaviour = behaviour if graded is None else behaviour.model_copy(update={"value": graded})
        reply = answer(asked, behaviour)
        kept = {name: value for name, value in asdict(asked).items() if name not in {"key", "fault"}}
        with self._lock:
            self._calls.append(
                Call(at=self._moment(), behaviour=behaviour.kind, status=reply.status, by_batch=by_batch, **kept)
            )
        return behaviour, reply

    def _takes(self, rule: Rule) -> bool:
        """Whether a rule answers one more request, which is counted."""
        if rule.times is None:
            return True
        with self._lock:
            answered = self._answered.get(id(rule), 0)
            self._answered[id(rule)] = answered + 1
            return answered < rule.times

    def _spent(self, asked: Asked) -> Behaviour | None:
        """Count the request against the quotas: the 429 it meets, None when there is room."""
        quota = next(
            (
                q
                for q in reversed(self._quotas)
                if q.provider in {None, asked.provider} and q.model in {None, asked.model}
            ),
            None,
        )
        if quota is None:
            return None
        counted, now = (asked.provider, asked.model), self._moment()
        recent = self._recent.setdefault(counted, deque())
        while recent and now - recent[0] >= MINUTE:
            recent.popleft()
        if quota.rpd is not None and self._today.get(counted, 0) >= quota.rpd:
            return Behaviour(kind="day_quota", limit=quota.rpd, retry_after=37.5)
        if quota.rpm is not None and len(recent) >= quota.rpm:
            wait = MINUTE - (now - recent[0]) if recent else MINUTE
            return Behaviour(kind="minute_quota", limit=quota.rpm, retry_after=round(wait, 1))
        recent.append(now)
        self._today[counted] = self._today.get(counted, 0) + 1
        return None


def _refusal(asked: Asked) -> Behaviour | None:
    """How a provider meets a conversation that it takes amiss, whatever was arranged."""
    return Behaviour(kind="bad_request") if asked.fault else None
