"""Conversing with a model that may call tools: the same for all providers.

    conversation ──> model ──> turn ─┬─ calls ──> tools ──> results ──┐
         ^                           └─ text alone: it has its say    │
         └────────────────────────────────────────────────────────────┘

A conversation is frozen and made of plain data: written as JSON after a turn, it goes on in another process as if
nothing had happened. What a provider wants back as it gave it (signatures of what was thought, encrypted reasoning) is
kept with the turn in the provider's own form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, Self

from pydantic import BaseModel, Discriminator, JsonValue, ValidationError

from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import JudgeQuestion, Prompt, Reply
from touchstone.strict import Strict
from touchstone.usage import Usage

type Wire = Literal["gemini", "anthropic", "responses", "chat"]
"""The form in which a provider takes a conversation: `responses` is OpenAI's own, `chat` that of compatible servers."""

TURN_TOKENS = 8192
"""Default room for one turn, without its thinking: a script of two hundred lines, or several short ones."""
UNNUMBERED = "unnumbered-"
"""How ids begin that we made up for calls that came without."""
MAX_FIELD_CHARS = 64
MAX_FAULTS = 8
"""Faults of one call's arguments that are named."""


class ToolCall(Strict):
    """What a model calls. `arguments` is JSON as the model wrote it, which may be anything. `id` is the turn's own."""

    id: str
    name: str
    arguments: str


class ToolResult(Strict):
    """What a call came to, as text for the model. `failed` says that the call could not be carried out."""

    call_id: str
    name: str
    text: str
    failed: bool = False


class UserMessage(Strict):
    """What is said to the model."""

    kind: Literal["words"] = "words"
    text: str


class ToolResults(Strict):
    """What the calls of the turn before came to, each of them, in its order."""

    kind: Literal["results"] = "results"
    results: tuple[ToolResult, ...]


class Turn(Strict):
    """What a model said and called. `text` None: it said nothing. Without calls it waits for an answer in words.

    `opaque` is the turn in the provider's own form, which is named by `wire`, to be given back as it is.
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
        """The wire format of its turns, None where there is none yet."""
        return next((message.wire for message in self.messages if isinstance(message, Turn)), None)

    @property
    def waiting(self) -> Turn | None:
        """The turn whose calls have no results yet, None where there is none."""
        last = self.messages[-1] if self.messages else None
        return last if isinstance(last, Turn) and last.calls else None

    def taken(self, turn: Turn) -> Self:
        """With the model's turn. Raises ValueError where it is not the model's."""
        if self.messages[-1].kind == "turn":
            raise ValueError("The model has just had its turn.")
        return self._with(turn)

    def answered(self, results: Sequence[ToolResult]) -> Self:
        """With the results of the last turn's calls. Raises ValueError unless there is one for each, in order.

        All providers refuse a conversation in which a call has no result.
        """
        called = [] if self.waiting is None else [call.id for call in self.waiting.calls]
        if not called or [result.call_id for result in results] != called:
            raise ValueError(
                f"There are {len(called)} calls to be answered, and their results must follow their order."
            )
        return self._with(ToolResults(results=tuple(results)))

    def told(self, text: str) -> Self:
        """With words to the model. Raises ValueError where it waits for the results of calls instead."""
        if self.waiting is not None:
            raise ValueError("The calls of the last turn must be answered first.")
        return self._with(UserMessage(text=text))

    def _with(self, message: UserMessage | ToolResults | Turn) -> Self:
        return self.model_copy(update={"messages": (*self.messages, message)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool[T: BaseModel]:
    """Something a model may call. `description` tells it when and what for.

    `parameters` is the model of the arguments: named fields, each of them to be given, with None for what may be left
    out; their descriptions are told too.
    """

    name: str
    description: str
    parameters: type[T]

    def read(self, call: ToolCall) -> T:
        """The arguments of a call, strictly: a number in quotes is no number. Raises InputError, saying what is wrong.

        The sentence names the fields, and holds no value of what was given.
        """
        try:
            return self.parameters.model_validate_json(call.arguments, strict=True)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)
        told = "; ".join(f"{_place(fault['loc'])}: {fault['type']}" for fault in faults[:MAX_FAULTS])
        raise InputError(f"The arguments of {self.name} do not fit its parameters ({told}).", where=self.name)


class CallSaid(Strict):
    """A tool that a model called in a turn, and with what."""

    tool: str
    arguments: str


class TurnSaid(Strict):
    """What is read of a turn: its words, None where there were none, and what was called."""

    text: str | None
    calls: tuple[CallSaid, ...]

    @classmethod
    def of(cls, turn: Turn) -> Self:
        """Of a model's turn."""
        return cls(
            text=turn.text,
            calls=tuple(CallSaid(tool=call.name, arguments=call.arguments) for call in turn.calls),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What is asked for a model's next turn. `max_output_tokens` bounds what it may cost beside its input.

    `temperature` None leaves the model's own default (some models refuse any other).
    """

    conversation: Conversation
    tools: tuple[Tool[BaseModel], ...]
    max_output_tokens: int = TURN_TOKENS
    temperature: float | None = None


def asked_by(request: TurnRequest) -> JudgeQuestion[TurnSaid]:
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
        prompt=prompt,
        reply_type=TurnSaid,
        max_output_tokens=request.max_output_tokens,
        temperature=request.temperature,
    )


class Conversing(Protocol):
    """A model that can be conversed with."""

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        ...

    @property
    def model(self) -> str:
        """The model asked for."""
        ...

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:
        """The model's next turn, all within `deadline`. Raises `JudgeError` or `LimitError`."""
        ...


def _place(parts: Sequence[int | str]) -> str:
    """Where a fault is. A field that there is not is called by a name of the model's own, which may be anything."""
    named = (str(part) if str(part).isidentifier() or isinstance(part, int) else "?" for part in parts)
    return ".".join(part[:MAX_FIELD_CHARS] for part in named) or "all"


def numbered(calls: Sequence[Mapping[str, str]]) -> tuple[ToolCall, ...]:
    """The calls of a turn, each with an id of its own: some servers give none, or one twice."""
    taken: set[str] = set()
    found: list[ToolCall] = []
    for at, call in enumerate(calls, start=1):
        known = call.get("id", "")
        unique = known if known and known not in taken else f"{UNNUMBERED}{at}"
        taken.add(unique)
        found.append(ToolCall(id=unique, name=call["name"], arguments=call["arguments"]))
    return tuple(found)
