"""What a judge call used, as its provider counted it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call. Cached input tokens are part of `input_tokens`, thinking is part of `output_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
