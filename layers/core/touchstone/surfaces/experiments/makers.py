"""Who makes the items of a variant: a prompt and the model that it is sent to, a command, or an endpoint.

    {"prompt": "Sum this up for a child:\\n\\n{{ source }}", "model": "openai/gpt-5"}
    {"command": ["python", "summarise.py"]}       the source on standard input, the material on standard output
    {"endpoint": "http://127.0.0.1:8000/make"}    the source as JSON, the material as JSON

The places of a prompt are filled once, with the values as they are: if a source itself holds `{{ source }}`, that is
text like the rest of it.
"""

import re
from collections import Counter
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag
from pydantic_core import PydanticCustomError

from touchstone.material import Source
from touchstone.material.parts import not_blank
from touchstone.strict import Strict
from touchstone.text.language import Language

MAX_PROMPT_CHARS = 20_000
MAX_OUTPUT_TOKENS = 32_000
MAX_ARGUMENTS, MAX_ARGUMENT_CHARS = 64, 4_096
MAX_URL_CHARS = 2_048
SECONDS, MAX_SECONDS = 60.0, 600.0

PLACES = ("source", "source_id", "language")
"""The places that a prompt may name: the source's text, its id, and its language (`en` or `zh`)."""
MAX_TIMES_NAMED = 3
"""How often a prompt may name the same place."""
MAX_FILLED_CHARS = 2_000_000
"""Most characters of a prompt with its places filled: twice the longest markdown of a source."""
_PLACE = re.compile(r"\{\{\s*(\w{1,64})\s*\}\}")


def _known_places(prompt: str) -> str:
    """The prompt itself. Refuse a place that nothing fills, and a place that is named too often."""
    named = Counter(_PLACE.findall(prompt))
    unknown = [name for name in named if name not in PLACES]
    if unknown:
        raise PydanticCustomError(
            "unknown_place",
            "the prompt names {place}, which nothing fills; its places are {known}",
            {"place": f"{{{{ {unknown[0]} }}}}", "known": ", ".join(PLACES)},
        )
    place, times = named.most_common(1)[0] if named else ("", 0)
    if times > MAX_TIMES_NAMED:
        raise PydanticCustomError(
            "place_repeated",
            "the prompt names {place} {times} times, {most} at most; name it once",
            {"place": f"{{{{ {place} }}}}", "times": f"{times:,}", "most": MAX_TIMES_NAMED},
        )
    return prompt


def _shows_source(prompt: str) -> str:
    """The prompt itself. Refuse a prompt without the source: it would say the same about every source."""
    if "source" not in _PLACE.findall(prompt):
        raise PydanticCustomError(
            "no_source", "the prompt must show the source: write {{ source }} where its text is to stand"
        )
    return prompt


def _web_address(url: str) -> str:
    """The URL itself. Refuse a URL that cannot be asked, or that holds a password."""
    try:
        parts = urlsplit(url)
        told = bool(parts.hostname) and parts.port != 0
    except ValueError:
        told, parts = False, urlsplit("")
    if not told or parts.scheme not in {"http", "https"} or any(one.isspace() for one in url):
        raise PydanticCustomError("endpoint", "an endpoint is a URL that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise PydanticCustomError("endpoint", "an endpoint's URL must not hold a password; leave it out")
    return url


type Template = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_PROMPT_CHARS),
    AfterValidator(not_blank),
    AfterValidator(_known_places),
]
type Seconds = Annotated[float, Field(gt=0.0, le=MAX_SECONDS)]
type Price = Annotated[float, Field(ge=0.0, le=1_000.0)]


class PromptMaker(Strict):
    """A prompt and the model that it is sent to for each source.

    `prompt` and `system` (what the model is told before the prompt, nothing by default) may contain the placeholders
    `{{ source }}`, `{{ source_id }}` and `{{ language }}`; `prompt` must contain `{{ source }}`. `model` is
    `provider/model` as the registry lists it, or a provider, which means its strong model; null means the judge's
    model. `max_output_tokens` null means as many as the material of the experiment's `generation` needs. `temperature`
    null means the model's own.
    """

    prompt: Annotated[Template, AfterValidator(_shows_source)]
    model: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    system: Template | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=MAX_OUTPUT_TOKENS)] | None = None
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = None

    kind: ClassVar[Literal["prompt"]] = "prompt"

    @property
    def provider(self) -> str | None:
        """The provider of the prompt's model; None: the judge's model writes."""
        return None if self.model is None else self.model.partition("/")[0]

    @property
    def model_name(self) -> str | None:
        """The name of the prompt's model at its provider; None: the provider's strong model, or the judge's model."""
        return None if self.model is None else self.model.partition("/")[2] or None


class CommandMaker(Strict):
    """A command on this machine. It is run without a shell for each source, and reads the source from standard input.

    It writes the material to standard output: a summary as text, a quiz or a deck as JSON. `cost_usd` is the highest
    cost of one item in US dollars, 0 if it is free, null if it is not known.
    """

    command: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_ARGUMENT_CHARS, pattern=r"^[^\x00]*$")], ...],
        Field(min_length=1, max_length=MAX_ARGUMENTS),
    ]
    seconds: Seconds = SECONDS
    cost_usd: Price | None = None

    kind: ClassVar[Literal["command"]] = "command"


class EndpointMaker(Strict):
    """An address to which each source is sent by POST as JSON (`source`, `source_id`, `language`, `item`, `surface`).

    It answers with status 200 and the material as JSON: `{"text": …}`, `{"questions": […]}` or `{"cards": […]}`.
    Redirects are not followed. `cost_usd` is the highest cost of one item in US dollars, 0 if it is free, null if it is
    not known.
    """

    endpoint: Annotated[str, StringConstraints(max_length=MAX_URL_CHARS), AfterValidator(_web_address)]
    seconds: Seconds = SECONDS
    cost_usd: Price | None = None

    kind: ClassVar[Literal["endpoint"]] = "endpoint"


_KINDS = (PromptMaker.kind, CommandMaker.kind, EndpointMaker.kind)


def _kind_of(value: object) -> str | None:
    """The kind of a maker, parsed or not, by the field that only its kind has; None if it is no maker."""
    match value:
        case PromptMaker() | CommandMaker() | EndpointMaker():
            return value.kind
        case dict():
            return next((kind for kind in _KINDS if kind in value), None)
        case _:
            return None


type Maker = Annotated[
    Annotated[PromptMaker, Tag("prompt")]
    | Annotated[CommandMaker, Tag("command")]
    | Annotated[EndpointMaker, Tag("endpoint")],
    Discriminator(
        _kind_of,
        custom_error_type="no_maker",
        custom_error_message="a maker has a prompt (with a model), a command or an endpoint",
    ),
]
"""A prompt, a command or an endpoint, told apart by its fields."""


def called(maker: Maker) -> str:
    """The name of a maker in a sentence: its model, its program, or the host of its address."""
    match maker:
        case PromptMaker(model=model):
            return model or "the judge's model"
        case CommandMaker(command=command):
            return command[0]
        case EndpointMaker(endpoint=endpoint):
            return urlsplit(endpoint).netloc


def filled_chars(template: str, *, source_chars: int) -> int:
    """The number of characters, about, of a template that is filled with the text of a source.

    The text counts as often as the template names it. The other places count as empty.
    """
    places = list(_PLACE.finditer(template))
    left = len(template) - sum(len(place[0]) for place in places)
    return left + sum(source_chars for place in places if place[1] == "source")


def filled(template: str, source: Source, language: Language) -> str:
    """A template with its places filled. The values are not searched for places."""
    values = {"source": source.text, "source_id": source.id, "language": language}
    return _PLACE.sub(lambda found: values[found[1]], template)
