"""What a judge call used, as its provider counted it, and what calls cost, in words."""

from dataclasses import dataclass

NOT_KNOWN = "not known"
CLAIM_CHARS = 200
"""How much of an odd count is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call. Cached input tokens are part of `input_tokens`, thinking is part of `output_tokens`.

    `claimed` is what the provider told where that cannot be, in its words, cut to `CLAIM_CHARS`: more than the call
    could use, which is then taken as the most it could, or nothing that is a count, which leaves all at 0. None where
    the counts are as they were told.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    claimed: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything was counted: no question is empty, so a count without input is none."""
        return self.input_tokens > 0

    def within(self, most: "Usage") -> "Usage":
        """The usage, or where it is more than the call could use, the most of it, none of it cached."""
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
    """What calls cost in US dollars, for people. `known` leaves out the `unpriced` ones; None: nothing is known."""
    if known is None or (unpriced and not known):
        return NOT_KNOWN
    amount = f"${known:.2f}" if known >= 1 or known == 0 else f"${known:.4f}"
    return f"{amount} + {unpriced:,} call{'' if unpriced == 1 else 's'} at a price not known" if unpriced else amount
