"""A flaw of a quiz item: its label, and what its sentences name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

type FlawLabel = Literal[
    "NO_KEY",
    "KEY_OUTSIDE_CHOICES",
    "SEVERAL_KEYS",
    "TOO_FEW_OPTIONS",
    "BLANK_OPTION",
    "DUPLICATE_OPTIONS",
    "OVERLAPPING_OPTIONS",
    "ALL_OF_THE_ABOVE",
    "NONE_OF_THE_ABOVE",
    "COMBINED_OPTIONS",
    "LONGEST_KEY",
    "ABSOLUTE_WORDS",
    "NEGATIVE_STEM",
    "GRAMMATICAL_CUE",
    "WORD_REPEAT",
    "ANSWER_IN_STEM",
    "KEY_POSITION",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One flaw of one question. `values` are what the sentences of its label name."""

    label: FlawLabel
    values: Mapping[str, str | int] = field(default_factory=dict)
