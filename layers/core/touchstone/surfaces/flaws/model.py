"""A flaw of a quiz item, and the sentences about it in either language: why it is a flaw, and what to write instead."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, cast

from touchstone.packaged import own_table
from touchstone.surfaces.options import shortened
from touchstone.text.language import Language

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
    "REPEATED_QUESTION",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One flaw of one question. `values` fill the places in the sentences of its label."""

    label: FlawLabel
    values: Mapping[str, str | int] = field(default_factory=dict)


type _Sentences = Mapping[FlawLabel, Mapping[Language, Mapping[str, str]]]

_PLACES: Mapping[Language, Mapping[str, str]] = {
    "en": {"true": "“true”", "false": "“false”", "choice": "choice {number}"},
    "zh": {"true": "“对”", "false": "“错”", "choice": "第 {number} 项"},
}  # fmt: skip


def reason_and_advice(flaw: Flaw, language: Language) -> tuple[str, str]:
    """The sentences (why it is a flaw, what to write instead) in a language."""
    said = _sentences()[flaw.label][language]
    values = {name: shortened(value) if isinstance(value, str) else value for name, value in flaw.values.items()}
    if flaw.label == "KEY_POSITION":
        place = str(values["place"])
        word = place if place in _PLACES[language] else "choice"
        values["place"] = _PLACES[language][word].format(number=place)
    return said["reason"].format(**values), said["suggestion"].format(**values)


@lru_cache(maxsize=1)
def _sentences() -> _Sentences:
    """The sentences by label and language. `{names}` in them are names of a flaw's values."""
    return cast("_Sentences", own_table(__file__, "sentences.json"))
