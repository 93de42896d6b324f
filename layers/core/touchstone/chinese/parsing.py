"""Split letters that are written together into syllables.

Every split has a price, and the cheapest split is taken. A syllable without a tone costs, a syllable that would need an
apostrophe before it costs more, and a letter that belongs to no syllable costs most. The prices are added from left to
right, so that the time grows with the length and no faster.
"""

from dataclasses import dataclass
from functools import lru_cache

from touchstone.chinese.letters import Piece, carrier, spelled
from touchstone.chinese.syllables import INTERJECTIONS, Reading, table

type Readings = list[frozenset[Reading]]
"""By position, the readings of each character; an empty set admits any reading."""
type Step = tuple[int, int, str]
"""One step of a split: the first letter, the letter behind the last, and the syllable; "" for letters that are none."""

FAULTS = ("tone_number", "umlaut", "wrong_mark", "misplaced_tone_mark", "missing_apostrophe")
"""The faults of a syllable in itself, the most telling first. Only the first one is named, but the correction removes
all."""

LONGEST = 6
"""The number of letters of the longest syllables: zhuang, chuang, shuang."""
MOST_STATES = 4000
"""How many states are tried when a piece is split to fit its characters; a word has a few dozen."""

_PER_SYLLABLE = 1.0
_SUFFIX = 1.5
_TONELESS = 3.0
_MISPLACED = 5.0
_NO_APOSTROPHE = 10.0
_INTERJECTION = 30.0
_NO_SYLLABLE = 50.0
_VOWELS = frozenset("aeioêuü")
_NEED_APOSTROPHE = ("a", "e", "o", "ê")
"""First letters of the syllables that need an apostrophe before them inside a word."""
_NO_TONE, _NUMBER = -1, -2
"""Places of a tone mark that are no index: there is no tone, or the tone is a number."""
_RISING, _LOW = 2, 3


@dataclass(frozen=True, slots=True)
class Syllable:
    """One syllable of a piece: its letters from `start` to `end`.

    `base` is the meant syllable without marks, "" if the letters are no syllable, "r" for the suffix. `tone` is 1 to 4,
    0 for a stated neutral tone, None if no tone is stated. `fault` is the first rule that the syllable breaks in
    itself, None if it breaks none.
    """

    start: int
    end: int
    base: str
    tone: int | None
    fault: str | None
    capitals: tuple[bool, ...]

    @property
    def reading(self) -> Reading:
        """The syllable and its tone, to compare with the readings of a character."""
        return self.base, self.tone or 0

    def written(self, tone: int | None) -> str:
        """The correct writing of this syllable with that tone, with the apostrophe that it needs before it."""
        apostrophe = "'" if self.start and self.base[0] in _NEED_APOSTROPHE else ""
        return apostrophe + spelled(self.base, tone, self.capitals)


@lru_cache(maxsize=4096)
def syllables(piece: Piece) -> tuple[Syllable, ...]:
    """The cheapest split of a piece. Letters that fit nowhere are syllables with an empty base."""
    size = len(piece.letters)
    best = [0.0] + [float("inf")] * size
    before: list[tuple[int, str]] = [(0, "")] * (size + 1)
    for start in range(size):
        so_far = best[start]
        for end, base, price in _steps(piece, start):
            if so_far + price < best[end]:
                best[end], before[end] = so_far + price, (start, base)
    steps: list[Step] = []
    end = size
    while end:
        start, base = before[end]
        if steps and not base and not steps[-1][2]:
            steps[-1] = (start, steps[-1][1], "")
        else:
            steps.append((start, end, base))
        end = start
    return tuple(_syllable(piece, step) for step in reversed(steps))


def fitting(piece: Piece, readings: Readings, first: int) -> tuple[Syllable, ...] | None:
    """A split whose syllables can be read as the characters from `first` on; None if there is no such split."""
    waiting: list[tuple[int, int, tuple[Syllable, ...]]] = [(0, first, ())]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < MOST_STATES:
        start, at, taken = waiting.pop()
        if start == len(piece.letters):
            return taken
        if (start, at) in seen:
            continue
        seen.add((start, at))
        for end, base, price in sorted(_steps(piece, start), key=lambda step: -step[2]):
            if base and price < _INTERJECTION:
                syllable = _syllable(piece, (start, end, base))
                if at < len(readings) and fits(syllable, readings, at):
                    waiting.append((end, at + 1, (*taken, syllable)))
                elif base == "r":
                    waiting.append((end, at, (*taken, syllable)))
    return None


def fits(syllable: Syllable, readings: Readings, at: int) -> bool:
    """Whether the character at `at` can be read as this syllable.

    A third tone before another third tone may also be written as a second tone.
    """
    allowed = readings[at]
    base, tone = syllable.reading
    if not allowed or (base, tone) in allowed or (base == "r" and ("er", _RISING) in allowed):
        return True
    if tone == 0:
        return any(known == base for known, _ in allowed)
    precedes_low = at + 1 < len(readings) and any(number == _LOW for _, number in readings[at + 1])
    return tone == _RISING and precedes_low and (base, _LOW) in allowed


def _steps(piece: Piece, start: int) -> list[tuple[int, str, float]]:
    """The syllables that may begin at a letter: where each ends, its base, and its price."""
    bases, letters = piece.bases, piece.letters
    known = table().syllables
    steps = [(start + 1, "", _NO_SYLLABLE)]
    place = _NO_TONE
    for end in range(start + 1, min(len(bases), start + LONGEST) + 1):
        letter = letters[end - 1]
        if letter.tone is not None:
            if place != _NO_TONE:
                break
            place = _NUMBER if letter.is_number else end - 1 - start
        base = known.get(bases[start:end])
        if base is not None:
            steps.append((end, base, _price(base, place, start == 0, len(bases) == end - start)))
    if start and bases[start] == "r" and letters[start].tone is None and bases[start + 1 : start + 2] not in _VOWELS:
        steps.append((start + 1, "r", _SUFFIX))
    return steps


@lru_cache(maxsize=8192)
def _price(base: str, place: int, begins: bool, is_whole: bool) -> float:
    """The price of a syllable whose tone mark stands at `place`.

    `begins`: the syllable begins its piece. `is_whole`: the syllable is the whole piece.
    """
    price = _PER_SYLLABLE
    if place == _NO_TONE:
        price += _TONELESS
    elif place not in (_NUMBER, carrier(base)):
        price += _MISPLACED
    if not begins and base[0] in _NEED_APOSTROPHE:
        price += _NO_APOSTROPHE
    return price + (_INTERJECTION if base in INTERJECTIONS and not is_whole else 0)


def _syllable(piece: Piece, step: Step) -> Syllable:
    start, end, base = step
    tone: int | None = None
    faults = {"missing_apostrophe"} if start and base[:1] in _NEED_APOSTROPHE else set()
    letters = piece.letters[start:end]
    for at, letter in enumerate(letters):
        if letter.fault is not None:
            faults.add(letter.fault)
        if letter.tone is not None:
            tone = letter.tone
            if letter.is_number:
                faults.add("tone_number")
            elif at != carrier(base):
                faults.add("misplaced_tone_mark")
    if piece.bases[start:end] != base:
        faults.add("umlaut")
    fault = None
    if not base:
        fault = "unknown_syllable"
    elif faults:
        fault = next(rule for rule in FAULTS if rule in faults)
    return Syllable(start, end, base, tone, fault, tuple([letter.is_capital for letter in letters]))
