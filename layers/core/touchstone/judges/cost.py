"""What a call costs, in US dollars, by the registry's prices. Nothing is invented: no price, no cost."""

from datetime import date

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
