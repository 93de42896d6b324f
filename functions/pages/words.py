"""The texts of the pages in each language, from `words/<language>.json`: one sentence for each key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

type Language = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = get_args(Language.__value__)
_FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True, slots=True)
class PageTexts:
    """The texts of one language."""

    language: Language
    texts: Mapping[str, str]

    def __call__(self, key: str, **filled: Any) -> str:
        """The text of a key, with its gaps filled. Raises `KeyError` for a key without a text, which is a bug."""
        return self.texts[key].format_map(filled) if filled else self.texts[key]

    def known(self, prefix: str, word: str | None) -> str:
        """The text of a word from a closed set; any other word is shown as it is. Empty if the word is None."""
        return "" if word is None else self.texts.get(f"{prefix}.{word}", word)


@cache
def words(language: Language) -> PageTexts:
    """The texts of a language."""
    return PageTexts(language, json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8")))


def language_for(chosen: str | None, accepted: str) -> Language:
    """The language that a person chose, else the first known one of the browser's (`Accept-Language`), else English.

    In practice a browser lists its languages by preference, so their weights are not read.
    """
    wanted = [chosen or "", *(part.partition(";")[0].strip() for part in accepted.split(","))]
    primary = (tag.partition("-")[0].lower() for tag in wanted)
    return next((language for tag in primary for language in LANGUAGES if tag == language), "en")
