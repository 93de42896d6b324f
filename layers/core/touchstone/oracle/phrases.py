"""The phrases by which a submission speaks to whoever grades it, in English and Chinese, as patterns (`phrases.json`).

They are matched against folded text (see `folding`): quotes are `'`, dashes are `-`, Chinese is simplified and
unspaced. Each pattern asks for an order together with something that only a grader could carry out. So prose about
marks, rules and judges, instructions to readers and ordinary appeals do not match. The time is linear in the text,
because gaps are bounded and stay within a sentence, white space is one character in folded text, and what comes before
a line's first word is bounded.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from touchstone.oracle.model import RiskFlag
from touchstone.packaged import own_sources, own_table


@dataclass(frozen=True)
class Phrase:
    """A phrase by the source of its pattern.

    All patterns take 0.15 to 0.5 s to compile, and most texts need few of them: each is compiled on first use.
    """

    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which ignores case."""
        return re.compile(self.source, re.IGNORECASE)


PHRASES: Mapping[RiskFlag, tuple[Phrase, ...]] = {
    cast("RiskFlag", flag): tuple(map(Phrase, sources)) for flag, sources in own_sources(__file__).items()
}

type NeededWords = tuple[int, Sequence[str]]
"""The length of a pattern's longest match, 0 if it has no bound, and words of which every match holds one, in lower
case."""

NEEDED: Mapping[str, Sequence[NeededWords]] = own_table(__file__, "phrase_words.json")
"""What each of `PHRASES` needs, by flag.

A text without any of the words need not be searched, and one with few of them only around these. The table is derived
from the patterns by a test, which writes it anew if `TOUCHSTONE_WRITE_PHRASE_WORDS` is set.
"""
