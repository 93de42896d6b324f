"""Conversing with a model that may call tools: the same for all providers.

    conversation ──> model ──> turn ─┬─ calls ──> tools ──> results ──┐
         ^                           └─ text alone: it has its say    │
         └────────────────────────────────────────────────────────────┘

A conversation is frozen and made of plain data. It can be written as JSON after a turn, and go on in another process.
Providers want some parts back exactly as they gave them (signatures of thoughts, encrypted reasoning): these are kept
with the turn in the provider's own form.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, Discriminator, JsonValue, ValidationError

from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import LINE_ID, JudgeQuestion, NamedModel, Prompt, Reply
from touchstone.strict import Strict
from touchstone.usage import Usage

type Wire = Literal["gemini", "anthropic", "responses", "chat"]
"""The form in which a provider takes a conversation: `responses` is OpenAI's own, `chat` that of compatible servers."""

TURN_TOKENS = 8192
"""The default limit of output tokens for one turn, thinking not included: a script of two hundred lines, or several
short ones."""
UNNUMBERED = "unnumbered-"
"""The beginning of the ids that we make up for calls that came without an id."""
MAX_FIELD_CHARS = 64
MAX_FAULTS = 8
"""The most faults of one call's arguments that are named."""


class ToolCall(Strict):
    """A model's call of a tool.

    `arguments` is JSON as the model wrote it, which may be anything. `id` is unique in its turn.
    """

    id: str
    name: str
    arguments: str


class ToolResult(Strict):
    """The outcome of a call, as text for the model. `failed` says that the call could not be carried out."""

    call_id: str
    name: str
    text: str
    failed: bool = False


class UserMessage(Strict):
    """Words to the model."""

    kind: Literal["words"] = "words"
    text: str


class ToolResults(Strict):
    """The results of all calls of the turn before, in the order of the calls."""

    kind: Literal["results"] = "results"
    results: tuple[ToolResult, ...]


class Turn(Strict):
    """What a model said and called in one turn.

    `text` is None if the model said nothing. After a turn without calls, the model waits for an answer in words.
    `opaque` is the turn in the provider's own form, which `wire` names. It is given back unchanged.
    """

    kind: Literal["turn"] = "turn"
    text: str | None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str
    wire: Wire
    opaque: JsonValue


type Message = Annotated[UserMessage | ToolResults | Turn, Discriminator("kind")]


class Conversation(Strict):
    """What was said so far, from the prompt on. `prompt_version` is the content hash of the prompt's template."""

    prompt_name: str
    prompt_version: str
    system: str
    messages: tuple[Message, ...]

    @classmethod
    def opened(cls, prompt: Prompt) -> Self:
        """A conversation that begins with a prompt."""
        return cls(
            prompt_name=prompt.name,
            prompt_version=prompt.version,
            system=prompt.system,
            messages=(UserMessage(text=prompt.user),),
        )

    @property
    def wire(self) -> Wire | None:
        """The wire format of the conversation's turns. None if it has no turn yet."""
        return next((message.wire for message in self.messages if isinstance(message, Turn)), None)

    @property
    def pending_turn(self) -> Turn | None:
        """The last turn if its calls have no results yet. None if no calls wait for results."""
        last = self.messages[-1] if self.messages else None
        return last if isinstance(last, Turn) and last.calls else None

    def with_turn(self, turn: Turn) -> Self:
        """The conversation with the model's turn added. Raises ValueError if the last message is a turn already."""
        if self.messages[-1].kind == "turn":
            raise ValueError("The model has just had its turn.")
        return self._with(turn)

    def with_results(self, results: Sequence[ToolResult]) -> Self:
        """The conversation with the results of the last turn's calls added.

        Raises ValueError unless there is one result for each call, in the order of the calls: all providers refuse a
        conversation in which a call has no result.
        """
        called = [] if self.pending_turn is None else [call.id for call in self.pending_turn.calls]
        if not called or [result.call_id for result in results] != called:
            raise ValueError(
                f"There are {len(called)} calls to be answered, and their results must follow their order."
            )
        return self._with(ToolResults(results=tuple(results)))

    def with_message(self, text: str) -> Self:
        """The conversation with words to the model added.

        Raises ValueError if the last turn's calls have no results yet.
        """
        if self.pending_turn is not None:
            raise ValueError("The calls of the last turn must be answered first.")
        return self._with(UserMessage(text=text))

    def _with(self, message: UserMessage | ToolResults | Turn) -> Self:
        return self.model_copy(update={"messages": (*self.messages, message)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool[T: BaseModel]:
    """A tool that a model may call. `description` tells the model when and what for.

    `parameters` is the pydantic model of the arguments. All its fields are named and required; an optional argument is
    given as None. The fields' descriptions are told to the model too.
    """

    name: str
    description: str
    parameters: type[T]

    def read(self, call: ToolCall) -> T:
        """The arguments of a call, read strictly: a number in quotes is no number.

        Raises InputError if the arguments do not fit. Its sentence names the fields at fault, and holds none of the
        values given. The id of a line in a batch is not read as an argument: a model may go on to repeat the id in
        turns after the one that was asked for in a batch.
        """
        arguments, line_id = without_line_id(call)
        try:
            return self.parameters.model_validate_json(arguments if line_id else call.arguments, strict=True)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)
        details = "; ".join(f"{_place(fault['loc'])}: {fault['type']}" for fault in faults[:MAX_FAULTS])
        raise InputError(f"The arguments of {self.name} do not fit its parameters ({details}).", where=self.name)


def without_line_id(call: ToolCall) -> tuple[str, object]:
    """The arguments of a call without the id of its line in a batch, and that id.

    The id is None if the arguments hold none.
    """
    if LINE_ID not in call.arguments:
        return call.arguments, None
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments, None
    found = arguments.pop(LINE_ID, None) if isinstance(arguments, dict) else None
    return json.dumps(arguments, ensure_ascii=False), found


class CallSaid(Strict):
    """A tool that a model called in a turn, and the arguments."""

    tool: str
    arguments: str


class TurnSaid(Strict):
    """The readable part of a turn: its words (None if there were none) and its calls."""

    text: str | None
    calls: tuple[CallSaid, ...]

    @classmethod
    def of(cls, turn: Turn) -> Self:
        """The readable part of a model's turn."""
        return cls(
            text=turn.text, calls=tuple(CallSaid(tool=call.name, arguments=call.arguments) for call in turn.calls)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A request for a model's next turn. `max_output_tokens` bounds what the turn may cost beside its input.

    If `temperature` is None, the model's own default applies (some models refuse any other). `line_id` is the id of a
    line in a provider's batch, which each call of the turn must repeat among its arguments; None if the turn is asked
    for outside of a batch.
    """

    conversation: Conversation
    tools: tuple[Tool[BaseModel], ...]
    max_output_tokens: int = TURN_TOKENS
    temperature: float | None = None
    line_id: str | None = None


type ModelRequest = JudgeQuestion[Any] | TurnRequest
"""What one call asks of a model: the answer to a question, or a turn of a conversation."""


def as_question(request: TurnRequest) -> JudgeQuestion[TurnSaid]:
    """A request for a turn as a trace tells it: the system prompt, and what was said since the model's last turn."""
    conversation = request.conversation
    new: list[str] = []
    for message in reversed(conversation.messages):
        if isinstance(message, Turn):
            break
        if isinstance(message, UserMessage):
            new.append(message.text)
        else:
            new += (f"{result.name}: {result.text}" for result in reversed(message.results))
    prompt = Prompt(
        name=conversation.prompt_name,
        version=conversation.prompt_version,
        system=conversation.system,
        user="\n\n".join(reversed(new)),
    )
    return JudgeQuestion(
        prompt=prompt, reply_type=TurnSaid, max_output_tokens=request.max_output_tokens, temperature=request.temperature
    )


class Conversing(NamedModel, Protocol):
    """A model that can be conversed with."""

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:
        """The model's next turn, all within `deadline`. Raises `JudgeError` or `LimitError`."""
        ...


def _place(parts: Sequence[int | str]) -> str:
    """The path of a fault in the arguments.

    The model may invent a field, and its name may be any text. So a name that is no identifier is shown as "?", and a
    long one is cut.
    """
    named = (str(part) if str(part).isidentifier() or isinstance(part, int) else "?" for part in parts)
    return ".".join(part[:MAX_FIELD_CHARS] for part in named) or "all"


def numbered(calls: Sequence[Mapping[str, str]]) -> tuple[ToolCall, ...]:
    """The calls of a turn, each with a unique id: some servers give no id, or the same id twice."""
    taken: set[str] = set()
    found: list[ToolCall] = []
    for at, call in enumerate(calls, start=1):
        known = call.get("id", "")
        unique = known if known and known not in taken else f"{UNNUMBERED}{at}"
        taken.add(unique)
        found.append(ToolCall(id=unique, name=call["name"], arguments=call["arguments"]))
    return tuple(found)
