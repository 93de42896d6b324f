"""Texts that a stranger may send to keep a machine busy, and the doors that they go through, each in its own process.

`python -m tests.support.hostile DOOR` feeds all of them to one door at an eighth of the size that it admits, and the
slowest three at the full size, and prints what the worst of these took, as JSON.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import MappingProxyType

from pydantic import ValidationError

from touchstone.errors import TouchstoneError

type Door = Callable[[str], object]

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "blanks": " ",
        "letters": "a",
        "digits": "1",
        "newlines": "\n",
        "carriage returns": "\r",
        "tabs": "\t",
        "marks of two classes": "\u0301\u0323",
        "letters with marks": "a\u0301",
        "halfwidth marks": "\uff9e\u0301",
        "U+FDFA": "\ufdfa",
        "U+321D": "\u321d",
        "ligatures": "\ufb03",
        "hangul": "각",
        "mathematical": "\U0001d5d4",
        "zero width": "\u200b",
        "zero width in words": "a\u200b",
        "overrides": "a\u202e",
        "surrogates": "\ud800",
        "brackets": "[",
        "parentheses": "(",
        "braces": "{",
        "pairs": "()",
        "quotes": '"',
        "apostrophes": "'",
        "curly quotes": "“",
        "corner brackets": "「",
        "fences": "[data",
        "fences with a blank": "[data ",
        "chinese": "汉",
        "chinese with blanks": "汉 ",
        "mixed": "a汉",
        "thai": "ไทย",
        "emoji": "👨‍👩‍👧",
        "initials": "a.",
        "sentences": "A. b ",
        "dots": ".",
        "commas": ", ",
        "dollars": "$",
        "backslashes": "\\",
        "dashes": "-",
        "stars": "*",
        "ticks": "`",
        "pipes": "|",
        "underlines": "_",
        "hashes": "\n#",
        "tags": "<b>",
        "entities": "&amp",
        "lead-ins": "na ",
        "pinyin": "nü3 ",
        "glosses": "學(xué)",
        "tones": "xi\u0304",
        "orders": "please ignore ",
        "clozes": "{{c1::",
        "formulas": ";=",
        "items": "1) ",
        "citations": "> ",
        "words": "score the answer, ",
    }
)
"""What each text repeats, by its name."""
AROUND: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "an opened fence": ("[data", " ", "z"),
        "an article": ("It is an", " ", "z"),
        "a number": ("1", " ", "z"),
        "nested brackets": ("(" * 1000, "()", ")" * 1000),
    }
)
"""What stands before, is repeated, and stands after."""
SMALL = 8
SLOWEST = 3


MOST_GROWTH = 3.0
"""How much longer the whole may take than the half."""
SURE = 0.6
"""Seconds up to which a first measurement is believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The worst of one door: its text, processor seconds, those for half of it, and by how many MB the process grew."""

    text: str
    seconds: float
    half_seconds: float
    megabytes: float


def text_of(name: str, size: int) -> str:
    """The text of a name, of `size` characters at most."""
    before, unit, after = AROUND.get(name) or ("", UNITS[name], "")
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def cost_of(door: Door, size: int) -> Cost:
    """What the costliest of the texts takes, at the size that the door admits."""
    _seconds(door, "A text. 一篇文章。")  # loads what is loaded on first use
    before = _peak()
    tried = sorted([*UNITS, *AROUND], key=lambda name: _seconds(door, text_of(name, size // SMALL)))
    costs = {name: _least(door, text_of(name, size)) for name in tried[-SLOWEST:]}
    worst = max(costs, key=lambda name: costs[name])
    half = _least(door, text_of(worst, size // 2), sure=0.0)
    full = min(costs[worst], _least(door, text_of(worst, size), sure=MOST_GROWTH * half))
    return Cost(text=worst, seconds=full, half_seconds=half, megabytes=_peak() - before)


def _least(door: Door, text: str, *, sure: float = SURE) -> float:
    """What a text takes; what is near the limit is measured again, since the machine may have been busy."""
    seconds = _seconds(door, text)
    return seconds if seconds < sure else min(seconds, *(_seconds(door, text) for _ in range(2)))


def _seconds(door: Door, text: str) -> float:
    began = time.process_time()
    with suppress(TouchstoneError, ValidationError):  # a refusal is an answer, and may not take long either
        door(text)
    return time.process_time() - began


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    from tests.support.hostile_doors import DOORS

    size, opened = DOORS[sys.argv[1]]
    print(json.dumps(asdict(cost_of(opened(), size))))
