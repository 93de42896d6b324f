"""The tokens that a judge call used, as its provider counted them, and the words for what calls cost."""

from dataclasses import dataclass

from touchstone.figures import usd

NOT_KNOWN = "not known"
CLAIM_CHARS = 200
"""How many characters of an impossible count are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of one call. `input_tokens` include cached input tokens, `output_tokens` include thinking.

    `claimed` is set if the provider told an impossible count. It holds the provider's words, cut to `CLAIM_CHARS`. If
    the count is more than the call could use, the usage is the most that the call could use. If it is no count at all,
    all numbers stay 0. `claimed` is None if the numbers are as the provider told them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    claimed: str | None = None

    @property
    def known(self) -> bool:
        """Whether the provider counted anything: no question is empty, so a count without input tokens is no count."""
        return self.input_tokens > 0

    def within(self, most: "Usage") -> "Usage":
        """The usage, or if it is more than the call could use: the `most` that it could use, none of it cached."""
        if self.input_tokens <= most.input_tokens and self.output_tokens <= most.output_tokens:
            return self
        claimed = f"{self.input_tokens} tokens of input and {self.output_tokens} of output"
        if len(claimed) > CLAIM_CHARS:
            claimed = f"{claimed[: CLAIM_CHARS - 1]}…"
        return Usage(
            input_tokens=min(self.input_tokens, most.input_tokens),
            output_tokens=min(self.output_tokens, most.output_tokens),
            claimed=claimed,
        )


def dollars(known: float | None, unpriced: int = 0) -> str:
    """The cost of calls in US dollars, as words for people.

    `known` is the cost of the calls whose price is known, None if none is. `unpriced` is the number of calls at an
    unknown price.
    """
    if known is None or (unpriced and not known):
        return NOT_KNOWN
    amount = usd(known)
    return f"{amount} + {unpriced:,} call{'' if unpriced == 1 else 's'} at a price not known" if unpriced else amount
