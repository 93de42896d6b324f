"""Find, by code, passages of a submission that speak to whoever grades it or that hide from its reader.

Code does not decide what such a passage means: an essay about attacks on judges quotes them and is flagged too. Code
only makes sure that a passage of this kind cannot pay (see `scoring`) and that the reader of a result is told of it.
"""

import asyncio
import re
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain, groupby, islice
from string import ascii_lowercase, ascii_uppercase
from threading import Lock

from touchstone.oracle.folding import Folded
from touchstone.oracle.model import RiskFlag
from touchstone.oracle.passages import Passage
from touchstone.oracle.phrases import NEEDED, PHRASES
from touchstone.oracle.rendering import in_prose, rendered, with_marks

type Place = tuple[int, int]
type Found = tuple[RiskFlag, int, int]
"""A passage: its flag, and the places where it begins and ends."""

_SENTENCE_END = re.compile(r"[.!?](?![.!?])(?:'(?=\s)|(?=[\s']))|[。！？\n]")
_FLANKS = 600
"""How many characters before and behind a match its sentence may begin and end. This bounds the sentence in a text
without any full stop."""

_HIDDEN_RUN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\uffa0\u3164]{3,}"
)
"""Three unseen characters in a row carry data. A single one may mark where a word can be broken, and two may choose the
form of an emoji."""
_OVERRIDES = re.compile("[\u202d\u202e]+")
_DIRECTIONS = re.compile("[\u202a\u202b\u2066-\u2068]+")
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0001-\U000e007f]+|[\U000e0100-\U000e01ef]{2,}")
"""Tag characters write invisible text, except behind a black flag, where they name a region. One supplementary
variation selector chooses the form of a Chinese character; two or more encode bytes."""
_INSIDE_WORDS = re.compile("(?<=[^\\W\\d_])[\u200b\u2060\ufeff\u180e]+(?=[^\\W\\d_])")
_SPLIT_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "CJK")
"""Scripts in which no zero-width space belongs inside a word, so that one there is suspicious. Thai and Khmer are not
among them, because they are written with zero-width spaces."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


_LOWER = str.maketrans(dict(zip(ascii_uppercase, ascii_lowercase, strict=True)) | {"ı": "i", "İ": "i", "ſ": "s"})
"""Lower-case forms as `re.IGNORECASE` has them for the letters of English words. No character becomes two, so that
places in the text stay the same."""
_MOST_PLACES = 1_000
_AHEAD = 500
"""How many characters behind the longest match a pattern may look at, to see that something does not follow."""

MOST_PASSAGES = 1_000
"""Most passages of one flag that are told apart: far more than anybody hides, and few enough for a record to hold."""

_KEPT = 4
"""How many texts have their passages remembered: the finalists of a contest and one more. The texts themselves are not
kept."""
_found: OrderedDict[bytes, tuple[Passage, ...]] = OrderedDict()
_searching = Lock()


async def flag_passages(text: str) -> tuple[Passage, ...]:
    """Find what `find_passages` finds, in a thread, so that the event loop goes on.

    Results of recent texts are remembered. So a text is searched only once for all stages that ask for it in a row. A
    million characters take one to four seconds. The thread makes nothing faster: a search holds the interpreter's lock.
    But it releases the lock between one match and the next and between one pattern and the next, so that timers and
    replies that the loop waits for are late by a fifth of a second and not by a whole one. Texts are searched one at a
    time: several at once would take as long in total and leave the loop a smaller share.
    """
    return await asyncio.to_thread(_remembered, text)


def _remembered(text: str) -> tuple[Passage, ...]:
    key = sha256(text.encode("utf-8", "surrogatepass")).digest()
    with _searching:
        if key not in _found:
            _found[key] = find_passages(text)
        _found.move_to_end(key)
        while len(_found) > _KEPT:
            _found.popitem(last=False)
        return _found[key]


def find_passages(text: str) -> tuple[Passage, ...]:
    """The passages of a text that are flagged, in their order. No two passages with the same flag overlap.

    A phrase is looked for in the text as it was sent and as Markdown shows it. It is flagged with its whole sentence
    and the marks around that, because cutting out the phrase alone would leave half an order. Lines of code or data
    around it are no part of its sentence. A marker or hidden characters are flagged by themselves. If there are more
    than `MOST_PASSAGES` with one flag, the last passage begins at its own place and ends at the end of all that follow.
    """
    forms = dict.fromkeys((text, rendered(text)))
    sentences = {
        (flag, *in_prose(text, match, sentence)) for form in forms for flag, match, sentence in _phrases(Folded(form))
    }
    phrases = [(flag, *with_marks(text, start, end)) for flag, start, end in sentences]
    found = _bounded(_merged([*phrases, *_hidden(text)]))
    found.sort(key=lambda one: (one[1], one[2], one[0]))
    return tuple(Passage(flag=flag, start=start, end=end) for flag, start, end in found)


def _phrases(folded: Folded) -> Iterator[tuple[RiskFlag, Place, Place]]:
    """The phrases of a text: the flag, the place of the match, and that of what is flagged with it."""
    words = _Words(folded.text)
    for flag, phrases in PHRASES.items():
        for phrase, needed in zip(phrases, NEEDED[flag], strict=True):
            found = (phrase.pattern.finditer(folded.text, *stretch) for stretch in words.around(*needed))
            for match in chain.from_iterable(found):
                trimmed = _trimmed(folded.text, *match.span())
                whole = trimmed if flag == "imitates_prompt_markers" else _sentence(folded.text, *trimmed)
                yield flag, folded.place(*trimmed), folded.place(*whole)


class _Words:
    """The places of words in a text, in any case. Each word is searched once, a hundred times as fast as a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text.translate(_LOWER)
        self._letters = frozenset(self._text)
        self._places: dict[str, Sequence[int]] = {}

    def around(self, longest: int, words: Sequence[str]) -> Sequence[tuple[int, int]]:
        """The stretches of the text that can hold a match with one of the words.

        `longest` is the most characters that a match has; 0 if it has no bound. Without a bound, or if the words occur
        too often, the one stretch is the whole text.
        """
        places = sorted(place for word in words for place in self._places_of(word))
        if not places:
            return ()
        if not longest or len(places) >= _MOST_PLACES:
            return ((0, len(self._text)),)
        stretches: list[tuple[int, int]] = []
        for place in places:
            start, end = max(0, place - longest), min(len(self._text), place + longest + _AHEAD)
            if stretches and start <= stretches[-1][1]:
                start, _ = stretches.pop()
            stretches.append((start, end))
        return stretches

    def _places_of(self, word: str) -> Sequence[int]:
        """The first places of a word, `_MOST_PLACES` at most.

        If there are more, to look around each of them saves no time.
        """
        if word not in self._places:
            found: list[int] = []
            at = self._text.find(word) if self._letters.issuperset(word) else -1
            while at >= 0 and len(found) < _MOST_PLACES:
                found.append(at)
                at = self._text.find(word, at + 1)
            self._places[word] = found
        return self._places[word]


def _hidden(text: str) -> Iterator[Found]:
    patterns = [_HIDDEN_RUN, _OVERRIDES, _TAGS]
    if not _RIGHT_TO_LEFT.search(text):
        patterns.append(_DIRECTIONS)
    for pattern in patterns:
        yield from _first(found.span() for found in pattern.finditer(text))
    inside = (found.span() for found in _INSIDE_WORDS.finditer(text))
    yield from _first(
        (start, end) for start, end in inside if _is_undivided(text[start - 1]) and _is_undivided(text[end])
    )


def _first(places: Iterator[tuple[int, int]]) -> Iterator[Found]:
    """Yield the first `MOST_PASSAGES` passages. The last of them reaches to the end of all that follow."""
    for start, end in islice(places, MOST_PASSAGES - 1):
        yield "hidden_text", start, end
    if (rest := next(places, None)) is not None:
        last = deque(places, maxlen=1)
        yield "hidden_text", rest[0], last[0][1] if last else rest[1]


@lru_cache(maxsize=4096)
def _is_undivided(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(_SPLIT_SCRIPTS)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A match without its leading punctuation and white space, which belong to the sentence before."""
    while start < end - 1 and text[start] in " \n.!?。！？":
        start += 1
    return start, end


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence or sentences that hold a match, with the punctuation at their end."""
    before = [found.end() for found in _SENTENCE_END.finditer(text, max(0, start - _FLANKS), start)]
    after = _SENTENCE_END.search(text, max(start, end - 1), end + _FLANKS)
    begin = before[-1] if before else (0 if start <= _FLANKS else start)
    if after is None:
        return begin, (len(text) if len(text) <= end + _FLANKS else end)
    return begin, after.end()


def _merged(found: list[Found]) -> list[Found]:
    """The passages, sorted by flag and place.

    Passages of one flag that overlap or repeat one another are merged into one.
    """
    merged: list[Found] = []
    for flag, start, end in sorted(found):
        if merged and merged[-1][0] == flag and start <= merged[-1][2]:
            merged[-1] = (flag, merged[-1][1], max(merged[-1][2], end))
        else:
            merged.append((flag, start, end))
    return merged


def _bounded(merged: list[Found]) -> list[Found]:
    """The passages, limited to `MOST_PASSAGES` of each flag."""
    bounded: list[Found] = []
    for flag, group in groupby(merged, key=lambda one: one[0]):
        passages = list(group)
        rest = passages[MOST_PASSAGES - 1 :]
        bounded += passages[: MOST_PASSAGES - 1]
        bounded += [(flag, rest[0][1], rest[-1][2])] if rest else []
    return bounded
