"""What the providers put on the wire: requests as they are read, and replies and errors with their real bodies.

The bodies were taken down from the live services; `{…}` values are what a script varies. Error messages carry the key
and the prompt on purpose, as some services echo them: nothing of a message may reach a record or a log.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from touchstone.clock import system_clock

type Kind = Literal[
    "success", "day_quota", "minute_quota", "unknown_quota", "token_quota", "credit", "server_error", "overloaded",
    "unauthorized", "forbidden", "unknown_model", "bad_request", "hang", "drip", "reset", "html", "truncated", "empty",
    "max_tokens", "refused", "blocked", "off_schema", "garbled",
]  # fmt: skip
"""`garbled` is a 500 whose body is no text; `blocked` refuses the prompt before an answer begins, `refused` the answer;
`empty` is a reply without content."""


class Called(BaseModel):
    """A call of a tool. `arguments` that are a string go as they are, which may be no JSON at all where the provider
    sends text; Gemini and Anthropic send an object, and of a string make one that fits nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arguments: Any = None


class Behaviour(BaseModel):
    """How one request is answered.

    `value` is the reply of a success (None: of submissions what they say of themselves, else made from the requested
    schema); a string is sent as it is, unquoted. `seconds` is how long the answer is held back; for `drip` the
    pause between bytes. `latch` names what it is held back by until a test opens it; None: nothing. `retry_after` and
    `limit` are what a 429 tells of itself, None leaves it out. `model` None: the model asked for. `thinking_tokens` are
    thought before the answer's `output_tokens`; where the limit of the request has no room for both, it ends before the
    answer. `counted` False leaves out what was used; `claim` is JSON that stands in the place of every count. In a
    conversation with tools `calls` are what a success calls, next to a `value` that is text; `by_turn` are its turns
    instead, the last of which is repeated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = "success"
    value: Any = None
    seconds: float = 0.0
    latch: str | None = None
    retry_after: float | None = None
    limit: int | None = None
    model: str | None = None
    input_tokens: int = 120
    output_tokens: int = 40
    cached_tokens: int = 0
    thinking_tokens: int = 0
    counted: bool = True
    claim: str | None = None
    calls: tuple[Called, ...] = ()
    by_turn: tuple["Behaviour", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as the server understood it. `system` and `prompt` are all their text parts, joined by line breaks.

    Of a conversation with tools: `tools` are their names, `turn` how many turns the model had, `results` the texts of
    the latest results. `fault` is why the provider would refuse the conversation, "" where it would not. `parameters`
    are the schemas of the tools' arguments.
    """

    provider: str
    model: str
    key: str
    system: str
    prompt: str
    images: int
    schema: Mapping[str, Any] | None
    title: str
    max_output_tokens: int | None
    temperature: float | None
    form: Literal["", "turn", "responses"] = ""
    tools: tuple[str, ...] = ()
    turn: int = 0
    results: tuple[str, ...] = ()
    fault: str = ""
    parameters: tuple[Mapping[str, Any], ...] = ()

    @property
    def line_id(self) -> str | None:
        """The id of its line in a batch that the calls of a turn are to repeat, None where there is none."""
        match self.parameters:
            case ({"properties": {"line_id": {"enum": [str(line_id)]}}}, *_):
                return line_id
            case _:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response to be written."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] | None = None


def _texts(parts: Any) -> Iterator[str]:
    """The text of a message's content, whatever way it is nested."""
    match parts:
        case str():
            yield parts
        case list():
            for part in parts:
                yield from _texts(part)
        case {"text": str(text)}:
            yield text
        case {"parts": inner} | {"content": inner}:
            yield from _texts(inner)


def _images(parts: Any) -> int:
    """How many pictures a message's content holds."""
    match parts:
        case list():
            return sum(_images(part) for part in parts)
        case {"parts": inner} | {"content": inner}:
            return _images(inner)
        case {"inlineData": _} | {"type": "image_url" | "image"}:
            return 1
        case _:
            return 0


def read_gemini(model: str, key: str, body: Mapping[str, Any]) -> Asked:
    """A `generateContent` request."""
    config = body.get("generationConfig", {})
    schema = config.get("responseJsonSchema")
    return Asked(
        provider="gemini",
        model=model,
        key=key,
        system="\n".join(_texts(body.get("systemInstruction"))),
        prompt="\n".join(_texts(body.get("contents"))),
        images=_images(body.get("contents")),
        schema=schema,
        title=(schema or {}).get("title", ""),
        max_output_tokens=config.get("maxOutputTokens"),
        temperature=config.get("temperature"),
    )


def read_openai(provider: str, key: str, body: Mapping[str, Any]) -> Asked:
    """A `chat.completions` request, of OpenAI or of a server compatible with it."""
    messages = body.get("messages", [])
    instructions = [m for m in messages if m.get("role") in {"system", "developer"}]
    rest = [m for m in messages if m not in instructions]
    form = body.get("response_format", {}).get("json_schema", {})
    return Asked(
        provider=provider,
        model=body.get("model", ""),
        key=key,
        system="\n".join(_texts(instructions)),
        prompt="\n".join(_texts(rest)),
        images=_images(rest),
        schema=form.get("schema"),
        title=form.get("name", ""),
        max_output_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
        temperature=body.get("temperature"),
    )


def read_anthropic(key: str, body: Mapping[str, Any]) -> Asked:
    """A `messages` request."""
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    return Asked(
        provider="anthropic",
        model=body.get("model", ""),
        key=key,
        system="\n".join(_texts(body.get("system"))),
        prompt="\n".join(_texts(body.get("messages"))),
        images=_images(body.get("messages")),
        schema=schema,
        title=(schema or {}).get("title", ""),
        max_output_tokens=body.get("max_tokens"),
        temperature=body.get("temperature"),
    )


def sample(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """The plainest value that fits a JSON schema: what a success answers with when nothing else was arranged."""
    root = root or schema
    match schema:
        case {"$ref": str(reference)}:
            return sample(root["$defs"][reference.rsplit("/", 1)[-1]], root)
        case {"enum": [first, *_]} | {"const": first}:
            return first
        case {"anyOf": [first, *_]} | {"allOf": [first, *_]}:
            return sample(first, root)
        case {"type": "object"}:
            return {name: sample(part, root) for name, part in schema.get("properties", {}).items()}
        case {"type": "array"}:
            return [sample(schema.get("items", {}), root) for _ in range(schema.get("minItems", 0))]
        case {"type": "integer" | "number"}:
            return schema.get("minimum", 1)
        case {"type": "boolean"}:
            return True
        case {"type": "null"}:
            return None
        case _:
            return "text"


def reply_text(asked: Asked, behaviour: Behaviour) -> str:
    """The model's own words for a behaviour: JSON, or what is left of it."""
    match behaviour.kind:
        case "off_schema":
            return json.dumps({"is_this_the_schema": "no"})
        case "empty":
            return ""
        case _ if isinstance(behaviour.value, str):
            return behaviour.value
        case _:
            value = sample(asked.schema or {}) if behaviour.value is None else behaviour.value
            value = _of_line(value, asked.schema or {})
            text = json.dumps(value, ensure_ascii=False)
            return text[: len(text) // 2] if behaviour.kind in {"truncated", "max_tokens"} else text


def _of_line(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with the id of its line in a batch, where the schema asks for it."""
    match schema:
        case {"properties": {"line_id": {"enum": [line_id]}}} if isinstance(value, dict):
            return {**value, "line_id": line_id}
        case _:
            return value


def answer(asked: Asked, behaviour: Behaviour) -> Answer:
    """The provider's response to a request under a behaviour."""
    from tests.support import wire_errors, wire_replies, wire_turns  # they build on this module

    match behaviour.kind:
        case "html":
            return Answer(status=200, body=b"<!doctype html><title>Welcome</title>", content_type="text/html")
        case "garbled":
            return Answer(status=500, body=b"\xff{")
        case kind if kind in wire_errors.STATUS:
            return wire_errors.error(asked, behaviour)
        case _ if asked.form:
            return wire_turns.reply(asked, behaviour)
        case _:
            return wire_replies.reply(asked, behaviour)


def json_answer(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answer:
    """A JSON response."""
    return Answer(
        status=status, body=json.dumps(body, ensure_ascii=False).encode(errors="backslashreplace"), headers=headers
    )


def counted_answer(body: Mapping[str, Any], behaviour: Behaviour) -> Answer:
    """A reply of status 200 with what was used, without it, or with what a wrong provider claims."""
    usage = {"usage", "usageMetadata"} & body.keys()
    if not behaviour.counted:
        return json_answer(200, {name: value for name, value in body.items() if name not in usage})
    if behaviour.claim is None:
        return json_answer(200, body)
    marked = {
        name: {each: "§" if type(count) is int else count for each, count in body[name].items()} for name in usage
    }
    answer = json_answer(200, {**body, **marked})
    return replace(answer, body=answer.body.replace('"§"'.encode(), behaviour.claim.encode()))


def moment(seconds: float) -> str:
    """An RFC 3339 time that lies `seconds` from now, as Anthropic writes resets."""
    return (system_clock() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
