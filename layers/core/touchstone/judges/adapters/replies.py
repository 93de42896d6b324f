"""From a provider's response to a value: shared by all adapters, since a reply is JSON text everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from touchstone.errors import JudgeError, MismatchedError, UnreadableError
from touchstone.judges import tracing
from touchstone.judges.base import LINE_ID, JudgeQuestion
from touchstone.usage import Usage

if TYPE_CHECKING:
    from touchstone.judges.conversing import Turn, TurnRequest

LONGEST_NAME = 256
"""The most characters of a model's name in a reply. Names are kept in records and shown."""
MOST_DIGITS = 1_000
"""The most digits of a whole number in a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An HTTP response: `headers` by lower-case name, `body` as the SDK hands it over."""

    status: int
    headers: Mapping[str, str]
    body: bytes | str

    def json(self) -> Any:
        """The parsed body. None if it is not JSON (or nested deeper than any reply)."""
        try:
            return json.loads(self.body, parse_int=_whole)
        except (ValueError, RecursionError):
            return None


def json_object(provider: str, model: str, response: Response) -> dict[str, Any]:
    """The body of a successful response.

    Raises `UnreadableError` if it is not a JSON object (a gateway's HTML, say).
    """
    tracing.note_response(response.body)
    body = response.json()
    if not isinstance(body, dict):
        raise UnreadableError(f"{provider} answered for {model} with something that is not JSON; check its base URL.")
    return body


def parse_reply[T: BaseModel](provider: str, model: str, question: JudgeQuestion[T], text: str) -> T:
    """The reply as a value, read strictly: a number in quotes is no number.

    Raises `UnreadableError` if the reply does not fit its type. For a line of a batch, raises `MismatchedError` if the
    reply does not repeat the line's id.
    """
    reply_type = question.reply_type
    tracing.note_reply_text(text)
    document, twice = _document(text)
    if question.line_id is not None and isinstance(document, dict):
        if document.pop(LINE_ID, None) != question.line_id:
            raise MismatchedError(
                f"{provider} {model} gave a reply in its batch that is not of the line it stands under."
            )
        text = json.dumps(document)
    if twice:
        raise UnreadableError(f"{provider} {model} gave a reply with two values for one field.")
    try:
        return reply_type.model_validate_json(text, strict=True)
    except ValidationError as error:
        # The error quotes the reply, so only the kinds of its faults are told: these are pydantic's own words.
        kinds = ", ".join(sorted({fault["type"] for fault in error.errors(include_input=False, include_url=False)}))
    raise UnreadableError(f"{provider} {model} gave a reply that does not fit {reply_type.__name__} ({kinds}).")


def _document(text: str) -> tuple[object, bool]:
    """The value of a JSON text, None if it is none; and whether a field stands twice in one of its objects.

    Of such a field pydantic would take the last value.
    """
    twice = False

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        found = dict(pairs)
        twice = twice or len(found) < len(pairs)
        return found

    try:
        return json.loads(text, object_pairs_hook=fields, parse_int=_whole), twice
    except (ValueError, RecursionError):
        return None, False


def check_line(provider: str, model: str, request: TurnRequest, turn: Turn) -> None:
    """Raise `MismatchedError` if a turn in a batch has no calls, or a call that does not repeat the line's id."""
    from touchstone.judges.conversing import without_line_id

    line_ids = [without_line_id(call)[1] for call in turn.calls]
    if request.line_id is not None and (not line_ids or any(one != request.line_id for one in line_ids)):
        raise MismatchedError(f"{provider} {model} gave a turn in its batch that is not of the line it stands under.")


@contextmanager
def with_usage(usage: Usage, model: str) -> Iterator[None]:
    """Give a failure the usage that the provider had counted by then, if any, and the model that worked on it."""
    try:
        yield
    except JudgeError as error:
        if usage.known:
            error.usage, error.model = usage, model
        raise


def embedded_object(text: str) -> str:
    """The outermost JSON object of a text, or the text if it holds none.

    Some servers ignore the schema and add prose, a fence or a monologue.
    """
    return text[start : end + 1] if -1 < (start := text.find("{")) < (end := text.rfind("}")) else text


def _whole(digits: str) -> int | float:
    """A whole number of JSON.

    A number of more than `MOST_DIGITS` digits becomes infinite, so that it spoils no reply.
    """
    return int(digits) if len(digits) <= MOST_DIGITS else math.inf


def answering_model(named: Any, asked: str) -> str:
    """The model that answered, as the reply names it; the model asked for if the reply gives no name."""
    is_name = isinstance(named, str) and 0 < len(named) <= LONGEST_NAME and named.isprintable()
    return named if is_name else asked
