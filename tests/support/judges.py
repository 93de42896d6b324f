"""Judges in memory: the real `Judges`, with its retries and its error taxonomy, over an adapter that follows a script.

::

    script = Script({"verify": [{"independent_answer": "4", "is_correct": True, …}]})
    judges = script.judges()               # every provider has a key and answers from the script
    …
    assert script.asked[0].prompt == "verify"
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from touchstone.clock import Clock
from touchstone.errors import JudgeError, UnreadableError
from touchstone.judges import Admission, Answered, JudgeQuestion, Judges, MemoryCache, Usage, load_registry
from touchstone.judges.conversing import Turn, TurnRequest, Wire
from touchstone.judges.keys import Place
from touchstone.judges.registry import OVERRIDES_VARIABLE

type Line = Mapping[str, Any] | str | JudgeError | float | Callable[["Asked"], "Line"]
"""What a provider does with one question: a value, raw text, a failure, seconds of silence, or what a function says."""

MOMENT = datetime(2026, 11, 21, 12, tzinfo=UTC)
"""When these judges are asked, so that no test depends on the day it runs."""
USAGE = Usage(input_tokens=1000, output_tokens=100)


def paid[E: JudgeError](error: E, model: str | None = None) -> E:
    """A failure of which the provider told what it had counted by then."""
    error.usage, error.model = USAGE, model
    return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as it reached a provider."""

    provider: str
    model: str
    prompt: str
    system: str
    user: str
    images: int
    max_output_tokens: int


@dataclass(slots=True)
class Script:
    """What is answered, by the prompt's name, or by provider and name as `gemini/verify`, which goes first.

    Lines are used up in order; the last one is repeated. `providers` are those that have a key.
    """

    lines: Mapping[str, Sequence[Line]]
    providers: Sequence[str] = ("gemini", "openai", "claude")
    asked: list[Asked] = field(default_factory=list)
    _used: dict[str, int] = field(default_factory=dict)

    def judges(
        self,
        *,
        cache: MemoryCache | None = None,
        admission: Admission | None = None,
        clock: Clock = lambda: MOMENT,
        tenant: str = "local",
        overrides: Mapping[str, Any] | None = None,
    ) -> Judges:
        """Judges that answer from this script; nothing is waited for between retries.

        `overrides` are merged over the registry, as a deployment's would be.
        """
        return Judges(
            load_registry(environ={OVERRIDES_VARIABLE: json.dumps(overrides)} if overrides else {}),
            _Keys(self.providers),
            cache=cache,
            admission=admission,
            tenant=tenant,
            clock=clock,
            connect=lambda provider, _key: _Adapter(provider.name, self),
            sleep=_at_once,
        )

    def prompts(self) -> list[str]:
        """Who was asked what, in order, as `provider/prompt`."""
        return [f"{asked.provider}/{asked.prompt}" for asked in self.asked]

    def next(self, asked: Asked) -> Line:
        """The line for a question; one that no line was written for fails the test."""
        self.asked.append(asked)
        for name in (f"{asked.provider}/{asked.prompt}", asked.prompt):
            if lines := self.lines.get(name):
                used = self._used.get(name, 0)
                self._used[name] = used + 1
                line = lines[min(used, len(lines) - 1)]
                while callable(line):
                    line = line(asked)
                return line
        raise AssertionError(f"the script has no line for {asked.provider}/{asked.prompt}")


@dataclass(frozen=True, slots=True)
class _Keys:
    providers: Sequence[str]
    place: Place = "environment"

    def get(self, provider: str) -> str | None:
        return "key" if provider in self.providers else None


class _Adapter:
    wire: Wire = "chat"

    def __init__(self, provider: str, script: Script) -> None:
        self.provider = provider
        self._script = script

    def load(self) -> None:
        """Nothing to import."""

    async def aclose(self) -> None:
        """Nothing to close."""

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109
        """Scripts answer questions; conversations are tested over the wire."""
        raise AssertionError(f"nobody was to converse with {model} about {request} within {timeout}")

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ARG002, ASYNC109
        asked = Asked(
            provider=self.provider,
            model=model,
            prompt=question.prompt.name,
            system=question.prompt.system,
            user=question.prompt.user,
            images=len(question.images),
            max_output_tokens=question.max_output_tokens,
        )
        match self._script.next(asked):
            case JudgeError() as error:
                raise error
            case float() as seconds:
                await asyncio.sleep(seconds)
                raise AssertionError("nobody was to wait for this judge")
            case str() as text:
                return self._answered(text, model, question)
            case value:
                return self._answered(json.dumps(value, ensure_ascii=False), model, question)

    def _answered[T: BaseModel](self, text: str, model: str, question: JudgeQuestion[T]) -> Answered[T]:
        try:
            value = question.reply_type.model_validate_json(text)
        except ValidationError:
            raise paid(
                UnreadableError(f"{self.provider}'s reply does not fit the schema."), f"{model}-answered"
            ) from None
        return Answered(value=value, model=f"{model}-answered", usage=USAGE)


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)
