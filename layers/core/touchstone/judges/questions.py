"""What identifies a question, so that an earlier reply to it can be found, and what a call for it can cost at most."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from pydantic import BaseModel

from touchstone.judges.base import JudgeQuestion
from touchstone.judges.conversing import TurnRequest
from touchstone.judges.registry import COMPATIBLE_PRICES, OVERRIDES_VARIABLE, UNPRICED_VARIABLE, Model
from touchstone.usage import Usage

TOKENS_PER_PRICE = 1_000_000

IMAGE_TOKENS = 8_192
"""More than any listed model counts for one picture at its highest resolution (they say 258 to about 5,000)."""


def cost_usd(model: Model, usage: Usage, *, on: date) -> float | None:
    """The cost of a call with this usage on a day (UTC); None where the registry has no price for the model.

    Cached input is part of the input and costs `price_cached_in`, or like the rest where that is unknown.
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
    """The highest possible cost of a call; None where the registry has no price.

    A token of a byte-level vocabulary holds at least one byte of UTF-8, so `input_bytes` bounds the input's tokens.
    """
    highest = max_usage(input_bytes=input_bytes, images=images, max_output_tokens=max_output_tokens)
    return cost_usd(model, highest, on=on)


def max_usage(*, input_bytes: int, images: int, max_output_tokens: int) -> Usage:
    """The most that a call can use."""
    return Usage(input_tokens=input_bytes + images * IMAGE_TOKENS, output_tokens=max_output_tokens)


def without_price(provider: str, model: str) -> str:
    """Why a ceiling cannot be kept for a model without a price, and the ways out, as a sentence for people."""
    return (
        f"No price is known for {provider}'s {model}, so a ceiling of cost could not be kept. Give its price: "
        f"{' and '.join(COMPATIBLE_PRICES)} for the endpoint of TOUCHSTONE_COMPATIBLE_BASE_URL, {OVERRIDES_VARIABLE} "
        f"for any model; or set {UNPRICED_VARIABLE}=allow, so that its calls pass uncounted."
    )


ADDED_TOKENS = 1_024
"""What a provider may add to a prompt of ours: roles, and the words that ask for structured output. Generous, since a
count above the most that a call can use is not believed."""


def address_of(question: JudgeQuestion[BaseModel], *, asked: Sequence[str]) -> str:
    """The content address of a question (SHA-256, hex): the same for what is asked of the same model in the same words.

    `asked` names who is asked: the provider, its address, the model. The random marks around graded texts do not count,
    replicates do.
    """
    prompt = question.prompt
    words = [prompt.name, prompt.version, prompt.digest] if prompt.digest else [prompt.name, prompt.system, prompt.user]
    rest = [question.temperature, question.max_output_tokens, [image.media_type for image in question.images]]
    if question.replicate > 1:
        rest.append(question.replicate)
    key = hashlib.sha256(json.dumps(list(asked)).encode())
    key.update(_schema(question.reply_type).digest)
    key.update(json.dumps([words, rest]).encode())
    for image in question.images:
        key.update(hashlib.sha256(image.data).digest())
    return key.hexdigest()


def highest_cost_usd(model: Model, question: JudgeQuestion[BaseModel], *, on: date) -> float | None:
    """The highest possible cost of one call for a question on a day (UTC); None where the model's price is not known.

    The room for thinking must be part of the question's `max_output_tokens` already.
    """
    return cost_usd(model, most_used(question), on=on)


def most_used(question: JudgeQuestion[BaseModel]) -> Usage:
    """The most that one call for a question can use; see `highest_cost_usd`."""
    return max_usage(
        input_bytes=input_bytes(question),
        images=len(question.images),
        max_output_tokens=question.max_output_tokens,
    )


def most_used_by_turn(request: TurnRequest) -> Usage:
    """The most that one call for a turn can use.

    What was said so far is all sent again. Of a turn with calls it is counted twice, since it is kept in two forms.
    """
    said = len(request.conversation.model_dump_json().encode(errors="replace"))
    tools = sum(
        len(tool.name) + len(tool.description.encode()) + _schema(tool.parameters).size for tool in request.tools
    )
    return max_usage(input_bytes=said + tools + ADDED_TOKENS, images=0, max_output_tokens=request.max_output_tokens)


def input_bytes(question: JudgeQuestion[BaseModel]) -> int:
    """The bytes of everything that is sent with a question but its images, which bounds the tokens of its input."""
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
