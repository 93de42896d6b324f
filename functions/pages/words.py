"""The texts of the pages, in each language that they are shown in: `words/<language>.json`, one sentence a key."""

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
        """The text of a key, with its gaps filled. A key without a text raises `KeyError`: it is a fault of ours."""
        return self.texts[key].format_map(filled) if filled else self.texts[key]

    def known(self, prefix: str, word: str | None) -> str:
        """The text of one of a closed set of words; a word that came from elsewhere is shown as it is."""
        return "" if word is None else self.texts.get(f"{prefix}.{word}", word)


@cache
def words(language: Language) -> PageTexts:
    """The texts of a language."""
    return PageTexts(language, json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8")))


def language_for(chosen: str | None, accepted: str) -> Language:
    """The language somebody chose, else the first of their browser's (`Accept-Language`) that there is, else English.

    A browser lists its languages by preference in practice, so their weights are not read.
    """
    wanted = [chosen or "", *(part.partition(";")[0].strip() for part in accepted.split(","))]
    primary = (tag.partition("-")[0].lower() for tag in wanted)
    return next((language for tag in primary for language in LANGUAGES if tag == language), "en")
