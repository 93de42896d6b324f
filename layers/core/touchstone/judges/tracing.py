"""The trace of judge calls: what was asked, what came back as it came, and what was read of it.

    with trace_calls() as calls:      # what is asked in here, in tasks begun in here too
        await judge.ask(question, deadline=deadline)
    calls[0].tries[0].reply           # the model's own words

Nothing is kept if nobody collects. A trace holds graded texts, and nothing of it is logged. A provider's response is
kept only if its status is 200: other responses may quote the key. The keys of all providers are removed from the kept
responses too, since a graded text may hold one. If a question cannot be traced, it is missing in the trace; its reply,
or the failure that is reported for it, is not lost.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, JsonValue

from touchstone.clock import Clock
from touchstone.errors import JudgeError, LimitError
from touchstone.judges.base import Image, JudgeQuestion, Reply
from touchstone.strict import Strict

MOST_TEXT_CHARS = 100_000
"""The most characters of one text of a call. A longer text is cut, and the trace says so."""
MOST_CALLS = 500
"""The most calls in one collection. A measurement of the largest quiz asks some three hundred times."""
LEAST_KEY_CHARS = 8
"""The fewest characters of a key that is looked for in a text. A shorter string is no key that could be found."""
REMOVED = "[key removed]"
type Secrets = Callable[[], Iterable[str]]
"""Returns the keys that no trace may show. It is called only if a question is traced."""
_log = logging.getLogger(__name__)
_FENCED = re.compile(r"⟦data ([0-9a-f]{16})⟧\n[^⟦]*⟦end \1⟧")


class PromptPart(Strict):
    """A part of a prompt as it was sent.

    `fenced` is true for a graded text between its fences, and false for words of the project.
    """

    text: str
    fenced: bool = False


class TracedTry(Strict):
    """One call that was sent for a question.

    `reply` is the model's text exactly as it came. If the response holds no words of a model, `reply` is the response
    itself. It is null if nothing came, or the provider failed. `failure` is why the call brought nothing usable, and
    `detail` says it in a sentence. `next_in_seconds` is the pause after which the question was sent again, null if it
    was not sent again.
    """

    latency_ms: float
    reply: str | None = None
    failure: str | None = None
    detail: str | None = None
    next_in_seconds: float | None = None


class TracedCall(Strict):
    """A question to a judge, with every call that was sent for it.

    `system` and `user` are the whole prompt, in order. `value` is what was read from the reply, null if no reply fits
    `reply_schema`; `failure` then says why. A `cached` question was answered by an earlier reply and has no tries. The
    tokens and `cost_usd` are those of the call that answered, null if no call answered or no price is known. `cut`
    names the texts that are not whole here, because they have more than 100,000 characters or all texts together are
    too long.
    """

    asked_at: datetime
    prompt_name: str
    prompt_version: str
    system: tuple[PromptPart, ...]
    user: tuple[PromptPart, ...]
    images: tuple[str, ...] = ()
    reply_schema: dict[str, JsonValue]
    max_output_tokens: int
    temperature: float | None = None
    provider: str
    requested_model: str
    model: str | None = None
    cached: bool = False
    line_id: str | None = None
    tries: tuple[TracedTry, ...] = ()
    value: JsonValue = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    failure: str | None = None
    detail: str | None = None
    cut: tuple[str, ...] = ()


class TraceView(Strict):
    """The judge calls for a record, oldest first. `cursor` leads to the next calls; it is null at the end."""

    id: str
    calls: tuple[TracedCall, ...]
    cursor: str | None


@dataclass(slots=True)
class _Try:
    """A call that is being sent, or was sent."""

    started: float
    body: str | None = None
    words: str | None = None
    latency_ms: float = 0.0
    failure: str | None = None
    detail: str | None = None
    next_in_seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class TracedQuestion:
    """A question that is being asked while calls are collected. `secrets` returns the keys that no trace may show."""

    question: JudgeQuestion[Any]
    provider: str
    model: str
    asked_at: datetime
    secrets: Secrets
    tries: list[_Try] = field(default_factory=list)
    reply: Reply[Any] | None = None
    failure: str | None = None
    detail: str | None = None


_collected: ContextVar[list[TracedCall] | None] = ContextVar("touchstone_traced_calls", default=None)
_asking: ContextVar[TracedQuestion | None] = ContextVar("touchstone_traced_question", default=None)


@contextmanager
def trace_calls() -> Iterator[list[TracedCall]]:
    """Collect the questions that are asked in this block, in the order in which they end."""
    calls: list[TracedCall] = []
    token = _collected.set(calls)
    try:
        yield calls
    finally:
        _collected.reset(token)


@contextmanager
def trace_question(
    question: JudgeQuestion[Any], *, provider: str, model: str, secrets: Secrets, clock: Clock
) -> Iterator[TracedQuestion | None]:
    """Trace one question to one model. The caller sets `reply` on the object that this yields.

    Yields None if nobody collects, or if the collection is full.
    """
    calls = _collected.get()
    if calls is None or len(calls) >= MOST_CALLS:
        yield None
        return
    noted = TracedQuestion(question=question, provider=provider, model=model, asked_at=clock(), secrets=secrets)
    token = _asking.set(noted)
    try:
        yield noted
    except (JudgeError, LimitError) as error:
        noted.failure, noted.detail = error.reason, str(error)
        raise
    except BaseException as error:
        # As a rule, the question was cancelled at a deadline. The words of any other error are not kept: they may be
        # anything.
        noted.failure, noted.detail = "timed_out", f"It was broken off ({type(error).__name__})."
        raise
    finally:
        _asking.reset(token)
        try:
            calls.append(_traced(noted))
        except Exception as error:  # noqa: BLE001 - whatever it is, the reply is paid for
            _log.warning("a question to a judge could not be traced: %s", type(error).__name__)


def note_sent() -> None:
    """Note that a call for the present question is about to be sent."""
    if (noted := _asking.get()) is not None:
        noted.tries.append(_Try(started=time.perf_counter()))


def note_response(body: bytes | str) -> None:
    """Note the body of a response of status 200."""
    if (current := _current()) is not None:
        current.body = body.decode(errors="replace") if isinstance(body, bytes) else body


def note_reply_text(words: str) -> None:
    """Note the model's words in the response, as they came."""
    if (current := _current()) is not None and current.words is None:
        current.words = words


def note_end(error: JudgeError | None = None) -> None:
    """Note that the call sent last has ended, with this failure if there is one."""
    if (current := _current()) is not None:
        current.latency_ms = (time.perf_counter() - current.started) * 1000.0
        if error is not None:
            current.failure, current.detail = error.reason, str(error)


def note_repeat(pause: float) -> None:
    """Note that the question is sent again after a pause, in seconds."""
    if (current := _current()) is not None:
        current.next_in_seconds = pause


def _current() -> _Try | None:
    noted = _asking.get()
    return noted.tries[-1] if noted is not None and noted.tries else None


def parts_of(text: str) -> tuple[PromptPart, ...]:
    """A prompt split into fenced and other parts. Joined together, the parts are the prompt."""
    found: list[PromptPart] = []
    end = 0
    for fenced in _FENCED.finditer(text):
        if fenced.start() > end:
            found.append(PromptPart(text=text[end : fenced.start()]))
        found.append(PromptPart(text=fenced[0], fenced=True))
        end = fenced.end()
    return (*found, PromptPart(text=text[end:])) if end < len(text) else tuple(found)


def shortened_call(call: TracedCall, most_chars: int) -> TracedCall:
    """A call with at most `most_chars` characters of each of its texts. Its `cut` names the texts that were longer."""
    cut = list(call.cut)

    def kept(name: str, text: str) -> str:
        if len(text) > most_chars and name not in cut:
            cut.append(name)
        return text[:most_chars]

    def parts(name: str, found: tuple[PromptPart, ...]) -> tuple[PromptPart, ...]:
        left, short = len(kept(name, "".join(part.text for part in found))), list[PromptPart]()
        for part in found:
            if left > 0:
                short.append(part.model_copy(update={"text": part.text[:left]}))
                left -= len(part.text)
        return tuple(short)

    value = call.value if isinstance(call.value, str) else json.dumps(call.value, ensure_ascii=False)
    changed = {
        "system": parts("system", call.system),
        "user": parts("user", call.user),
        "tries": tuple(
            one.model_copy(update={"reply": one.reply and kept(f"tries.{number}.reply", one.reply)})
            for number, one in enumerate(call.tries)
        ),
        "value": call.value if len(value) <= most_chars else kept("value", value),
    }
    return call.model_copy(update={**changed, "cut": tuple(cut)})


def without_keys(secrets: Iterable[str], text: str) -> str:
    """A text that somebody else wrote, with these keys removed and lone surrogates escaped."""
    return _without(_longest_first(secrets), text)


@lru_cache(maxsize=256)
def _schema(reply_type: type[BaseModel]) -> dict[str, Any]:
    """The schema of a reply. Shared between questions: do not change it."""
    return reply_type.model_json_schema()


def _traced(noted: TracedQuestion) -> TracedCall:
    cut: list[str] = []

    def kept(name: str, text: str) -> str:
        text = _escaped(text)
        if len(text) > MOST_TEXT_CHARS:
            cut.append(name)
        return text[:MOST_TEXT_CHARS]

    def reply_of(number: int, one: _Try) -> str | None:
        text = one.body if one.words is None else one.words
        return None if text is None else kept(f"tries.{number}.reply", _without(secrets, text))

    secrets = _longest_first(noted.secrets())
    for one in noted.tries:
        if not one.latency_ms:  # it was broken off
            one.latency_ms = (time.perf_counter() - one.started) * 1000.0
            one.failure, one.detail = noted.failure, noted.detail
    question, reply = noted.question, noted.reply
    detail = None if noted.detail is None else _without(secrets, noted.detail)
    prompt = question.prompt
    reply_type: type[BaseModel] = question.reply_type
    return TracedCall(
        asked_at=noted.asked_at,
        prompt_name=prompt.name,
        prompt_version=prompt.version,
        system=_pieces("system", prompt.system, kept),
        user=_pieces("user", prompt.user, kept),
        images=tuple(map(_image_text, question.images)),
        reply_schema=_schema(reply_type),
        max_output_tokens=question.max_output_tokens,
        temperature=question.temperature,
        provider=noted.provider,
        requested_model=noted.model,
        model=_without(secrets, reply.model) if reply else None,
        cached=reply.cached if reply else False,
        line_id=reply.line_id if reply else question.line_id,
        tries=tuple(
            TracedTry(
                latency_ms=one.latency_ms,
                reply=reply_of(number, one),
                failure=one.failure,
                detail=None if one.detail is None else _without(secrets, one.detail),
                next_in_seconds=one.next_in_seconds,
            )
            for number, one in enumerate(noted.tries)
        ),
        value=_value(reply, secrets, kept),
        input_tokens=reply.usage.input_tokens if reply else None,
        output_tokens=reply.usage.output_tokens if reply else None,
        cost_usd=reply.cost_usd if reply else None,
        latency_ms=reply.latency_ms if reply else None,
        failure=noted.failure,
        detail=detail,
        cut=tuple(cut),
    )


def _pieces(name: str, text: str, kept: Any) -> tuple[PromptPart, ...]:
    """The parts of a prompt, up to as many characters as are kept of one text."""
    left, found = len(kept(name, text)), list[PromptPart]()
    for part in parts_of(_escaped(text)):
        if left > 0:
            found.append(part if len(part.text) <= left else part.model_copy(update={"text": part.text[:left]}))
            left -= len(part.text)
    return tuple(found)


def _value(reply: Reply[Any] | None, secrets: Sequence[str], kept: Any) -> Any:
    """The value that was read of the reply; the beginning of its JSON text if that is too long to be kept whole.

    None if there is no reply.
    """
    if reply is None or not isinstance(reply.value, BaseModel):
        return None
    value = _value_without(secrets, reply.value.model_dump(mode="json", by_alias=True))
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value if len(text) <= MOST_TEXT_CHARS else kept("value", text)


def _value_without(secrets: Sequence[str], value: Any) -> Any:
    """A JSON value with the keys removed from all its parts, and with lone surrogates escaped."""
    match value:
        case dict():
            return {_value_without(secrets, name): _value_without(secrets, each) for name, each in value.items()}
        case list():
            return [_value_without(secrets, each) for each in value]
        case str():
            return _without(secrets, value)
        case _:
            return value if _without(secrets, text := str(value)) == text else REMOVED


def _image_text(image: Image) -> str:
    return f"{image.media_type}, {len(image.data):,} bytes"


def _longest_first(secrets: Iterable[str]) -> list[str]:
    """The keys in the order in which they are removed: longest first, since one may be the beginning of another."""
    return sorted({one for one in secrets if len(one) >= LEAST_KEY_CHARS}, key=len, reverse=True)


def _without(secrets: Sequence[str], text: str) -> str:
    """A text of a provider's with the keys removed, and with lone surrogates escaped."""
    for secret in secrets:
        text = text.replace(secret, REMOVED)
    return _escaped(text)


def _escaped(text: str) -> str:
    """A text with lone surrogates written as escapes: JSON can hold them, and UTF-8 cannot."""
    return text.encode(errors="backslashreplace").decode()
