"""What identifies a question, so that an earlier reply to it is found, and the most that a call for it can cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel

from touchstone.judges.base import JudgeQuestion
from touchstone.judges.registry import COMPATIBLE_PRICES, OVERRIDES_VARIABLE, UNPRICED_VARIABLE, Model
from touchstone.usage import Usage

if TYPE_CHECKING:
    from touchstone.judges.conversing import ModelRequest, TurnRequest

TOKENS_PER_PRICE = 1_000_000

IMAGE_TOKENS = 8_192
"""The most tokens of one picture. The listed models count 258 to about 5,000 for one at its highest resolution."""


def cost_usd(model: Model, usage: Usage, *, on: date) -> float | None:
    """The cost in US dollars of a call with this usage on a day (UTC). None if the registry has no price for the model.

    Cached input is part of the input. It costs `price_cached_in`, or as much as other input if that price is unknown.
    """
    price = model.price(on=on, input_tokens=usage.input_tokens)
    if price.price_in is None or price.price_out is None:
        return None
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    cached_price = price.price_in if price.price_cached_in is None else price.price_cached_in
    dollars = (
        (usage.input_tokens - cached) * price.price_in + cached * cached_price + usage.output_tokens * price.price_out
    )
    return dollars / TOKENS_PER_PRICE


def max_cost_usd(model: Model, *, input_bytes: int, images: int, max_output_tokens: int, on: date) -> float | None:
    """The highest possible cost of a call in US dollars. None if the registry has no price.

    A token of a byte-level vocabulary holds at least one byte of UTF-8, so `input_bytes` bounds the input's tokens.
    """
    highest = max_usage(input_bytes=input_bytes, images=images, max_output_tokens=max_output_tokens)
    return cost_usd(model, highest, on=on)


def max_usage(*, input_bytes: int, images: int, max_output_tokens: int) -> Usage:
    """The highest possible usage of a call."""
    return Usage(input_tokens=input_bytes + images * IMAGE_TOKENS, output_tokens=max_output_tokens)


def without_price(provider: str, model: str) -> str:
    """Why a ceiling cannot be kept for a model without a price, and the ways out, as a sentence for people."""
    return (
        f"No price is known for {provider}'s {model}, so a ceiling of cost could not be kept. Give its price: "
        f"{' and '.join(COMPATIBLE_PRICES)} for the endpoint of TOUCHSTONE_COMPATIBLE_BASE_URL, {OVERRIDES_VARIABLE} "
        f"for any model; or set {UNPRICED_VARIABLE}=allow, so that its calls pass uncounted."
    )


ADDED_TOKENS = 1_024
"""The most tokens that a provider may add to a prompt of ours: roles, and the words that ask for structured output. The
number is generous, since a usage above the highest possible one is not believed."""


def address_of(question: JudgeQuestion[BaseModel], *, recipient: Sequence[str]) -> str:
    """The content address of a question (SHA-256, hex): the same for the same words to the same model.

    `request` names whom the question goes to: the provider, its address, the model. The random marks around graded
    texts do not change the address, but replicates have addresses of their own.
    """
    prompt = question.prompt
    words = [prompt.name, prompt.version, prompt.digest] if prompt.digest else [prompt.name, prompt.system, prompt.user]
    rest = [question.temperature, question.max_output_tokens, [image.media_type for image in question.images]]
    if question.replicate > 1:
        rest.append(question.replicate)
    key = hashlib.sha256(json.dumps(list(recipient)).encode())
    key.update(_schema(question.reply_type).digest)
    key.update(json.dumps([words, rest]).encode())
    for image in question.images:
        key.update(hashlib.sha256(image.data).digest())
    return key.hexdigest()


def address_of_turn(request: TurnRequest, *, recipient: Sequence[str]) -> str:
    """The content address of a request for a turn (SHA-256, hex), as `address_of` gives it for a question.

    All words count.
    """
    tools = [[tool.name, tool.description, _schema(tool.parameters).digest.hex()] for tool in request.tools]
    rest = [list(recipient), tools, request.temperature, request.max_output_tokens]
    key = hashlib.sha256(json.dumps(rest).encode())
    key.update(request.conversation.model_dump_json().encode(errors="replace"))
    return key.hexdigest()


def highest_cost_usd(model: Model, request: ModelRequest, *, on: date) -> float | None:
    """The highest possible cost in US dollars of one call on a day (UTC). None if the model's price is not known.

    The `max_output_tokens` of `request` must include the room for thinking already.
    """
    return cost_usd(model, max_usage_of(request), on=on)


def max_usage_of(request: ModelRequest) -> Usage:
    """The highest possible usage of one call for a question or a turn; see `highest_cost_usd`."""
    return _max_usage_of_question(request) if isinstance(request, JudgeQuestion) else max_usage_of_turn(request)


def _max_usage_of_question(question: JudgeQuestion[BaseModel]) -> Usage:
    return max_usage(
        input_bytes=input_bytes(question), images=len(question.images), max_output_tokens=question.max_output_tokens
    )


def max_usage_of_turn(request: TurnRequest) -> Usage:
    """The highest possible usage of one call for a turn.

    The whole conversation is sent again. A turn with calls is counted twice, since it is kept in two forms.
    """
    size = len(request.conversation.model_dump_json().encode(errors="replace"))
    tools = sum(
        len(tool.name) + len(tool.description.encode()) + _schema(tool.parameters).size for tool in request.tools
    )
    return max_usage(input_bytes=size + tools + ADDED_TOKENS, images=0, max_output_tokens=request.max_output_tokens)


def input_bytes(question: JudgeQuestion[BaseModel]) -> int:
    """The bytes of everything that is sent with a question except its images. They bound the tokens of its input."""
    prompt = question.prompt
    text = len(prompt.system.encode(errors="replace")) + len(prompt.user.encode(errors="replace"))
    return text + _schema(question.reply_type).size + ADDED_TOKENS


@dataclass(frozen=True, slots=True)
class _Schema:
    digest: bytes
    size: int


@lru_cache(maxsize=256)
def _schema(reply_type: type[BaseModel]) -> _Schema:
    text = json.dumps(reply_type.model_json_schema(), sort_keys=True).encode()
    return _Schema(hashlib.sha256(text).digest(), len(text))
