"""From a provider's response to a value: shared by all adapters, since a reply is JSON text everywhere."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from touchstone.errors import JudgeError, UnreadableError
from touchstone.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An HTTP response: `headers` by lower-case name, `body` as the SDK hands it over."""

    status: int
    headers: Mapping[str, str]
    body: bytes | str

    def json(self) -> Any:
        """The parsed body, None where it is not JSON (or nested deeper than any reply)."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def json_object(provider: str, model: str, response: Response) -> dict[str, Any]:
    """The body of a successful response. Raises `UnreadableError` where it is not a JSON object (a gateway's HTML)."""
    body = response.json()
    if not isinstance(body, dict):
        raise UnreadableError(f"{provider} answered for {model} with something that is not JSON; check its base URL.")
    return body


def parsed[T: BaseModel](provider: str, model: str, reply_type: type[T], text: str) -> T:
    """The reply as a value. Strictly: a number in quotes is no number. Raises `UnreadableError`."""
    try:
        return reply_type.model_validate_json(text, strict=True)
    except ValidationError as error:
        # The error quotes the reply; only its kinds, which are pydantic's own words, go on.
        kinds = ", ".join(sorted({fault["type"] for fault in error.errors(include_input=False, include_url=False)}))
    raise UnreadableError(f"{provider} {model} gave a reply that does not fit {reply_type.__name__} ({kinds}).")


@contextmanager
def counted(usage: Usage | None, model: str) -> Iterator[None]:
    """Lets a failure carry what the provider had counted by then, and the model that worked on it.

    A count without any input is none, since no question is empty; nor is None.
    """
    try:
        yield
    except JudgeError as error:
        if usage is not None and usage.input_tokens > 0:
            error.usage, error.model = usage, model
        raise


def cut_off(provider: str, model: str, limit: int) -> UnreadableError:
    """The failure of a reply that ended at its token limit."""
    return UnreadableError(
        f"{provider} {model} was cut off at {limit} output tokens; ask for less, or allow more output tokens."
    )


def embedded_object(text: str) -> str:
    """The outermost JSON object of a text: some servers ignore the schema and add prose, a fence or a monologue."""
    return text[start : end + 1] if -1 < (start := text.find("{")) < (end := text.rfind("}")) else text


def count(value: Any) -> int:
    """A token count as providers write it: 0 where it is missing or not a count."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0 else 0


def model_named(said: Any, asked: str) -> str:
    """The model that answered by its own word, the one asked for where the reply does not say."""
    return said if isinstance(said, str) and said else asked
