"""The sentences of all derivations, in the language of the problem."""

import json
from functools import cache
from pathlib import Path
from typing import Literal

type Language = Literal["zh", "en"]


def sentence(key: str, language: Language, /, **values: object) -> str:
    """One line of a derivation."""
    return _sentences()[key][language].format(**values)


@cache
def _sentences() -> dict[str, dict[Language, str]]:
    sentences: dict[str, dict[Language, str]] = json.loads(
        Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    )
    return sentences
