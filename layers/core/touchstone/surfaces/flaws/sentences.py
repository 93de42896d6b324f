"""What is said of each flaw: why it is one, and what to write instead, in either language."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from touchstone.packaged import own_table
from touchstone.surfaces.flaws.model import Flaw, FlawLabel
from touchstone.surfaces.options import shortened
from touchstone.text.language import Language

type _Sentences = Mapping[FlawLabel, Mapping[Language, Mapping[str, str]]]

_PLACES: Mapping[Language, Mapping[str, str]] = MappingProxyType({
    "en": {"true": "“true”", "false": "“false”", "choice": "choice {number}"},
    "zh": {"true": "“对”", "false": "“错”", "choice": "第 {number} 项"},
})  # fmt: skip


def sentences_of(flaw: Flaw, language: Language) -> tuple[str, str]:
    """Why it is a flaw, and what to write instead."""
    said = _sentences()[flaw.label][language]
    values = {name: shortened(value) if isinstance(value, str) else value for name, value in flaw.values.items()}
    if flaw.label == "KEY_POSITION":
        place = str(values["place"])
        word = place if place in _PLACES[language] else "choice"
        values["place"] = _PLACES[language][word].format(number=place)
    return said["reason"].format(**values), said["suggestion"].format(**values)


@lru_cache(maxsize=1)
def _sentences() -> _Sentences:
    """By label and language; `{names}` in them are a flaw's values."""
    found: _Sentences = own_table(__file__)
    return found
