"""What leaves a decided comparison open: the words around two answers, or how the answers are written.

The values of two answers are the same or differ. Their texts may say more than the values: north and south, the mean
and the median, 01 and 1.
"""

import re
from collections.abc import Callable

from touchstone.checks.equivalence.extraction import BARE_LIMIT, states, what_is_called
from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.equivalence.subjects import is_odds, speak_of_others
from touchstone.checks.equivalence.writing import VECTOR, are_told_apart, has_direction_alone
from touchstone.checks.values.kinds import Truth
from touchstone.packaged import own_sources
from touchstone.text.latex import LOST_BACKSLASH

_PLAIN = re.compile(r"-?(?:[1-9][\d./]{0,40}|0(?:[./][\d./]{0,40})?)", re.ASCII)
"""A number whose writing says nothing more than its value."""
_SENTENCE = 120
"""The most characters of a sentence that may be a whole answer."""
_SENTENCE_ENDS = re.compile(r"[\n。；!！?？#]|[.;] |boxed")
"""What shows that a text is more than one sentence, or marks its answer."""
_SIGNS = re.compile(r"[\W_]")
_NUMBER = re.compile(r"\d++(?:\.\d++)?", re.ASCII)
_LABEL = re.compile(r"(?:(?:[A-Z]|[A-Za-z]{2})[A-Za-z]{1,10}[ _-]?\d{1,4}|\d{1,4}[ _-]?[A-Za-z]{3,12})")
"""A name with a number, which the hyphen of `UTF-8` does not take away."""
_ORDERED = re.compile(
    rf"(?P<one>{VECTOR}|(?<![^\W\d_\\^])[^\W\d_])\s?(?P<sign>×|∘|(?:\\times|\\circ)(?![A-Za-z]))\s?"
    rf"(?P<other>{VECTOR}|[^\W\d_])(?![^\W\d_])"
)
"""Two vectors, sets or functions with a sign between them that has an order: `\\vec a × \\vec b`, `A × B`, `f ∘ g`."""
_VECTORS = (frozenset("ijk"), frozenset("uvw"))
"""Letters that stand for vectors, if a cross is between two of them."""
_POLES = re.compile(
    "|".join(f"(?P<{end}>{'|'.join(words)})" for end, words in own_sources(__file__).items()), re.IGNORECASE
)
"""Words of directions and changes. A group's name is an axis and one of its ends: `side_a` and `side_b`."""
_IN_SPACE = frozenset(("side", "height", "latitude", "longitude"))


def doubt(given: ReadAnswer, expected: ReadAnswer, *, same: bool) -> str:
    """The rule by which two answers are left open whose values are the same, or differ; "" if none leaves them open.

    A rule is a key of `rules.json`.
    """
    if given.text == expected.text or (_PLAIN.fullmatch(given.text) and _PLAIN.fullmatch(expected.text)):
        return ""
    doubts = _OF_THE_SAME if same else _OF_DIFFERENT
    return next((rule for rule, applies in doubts.items() if applies(given, expected)), "")


def _are_other_statements(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether two texts call two statements true or false: `A is true`, `B is true`."""
    if not isinstance(given.value, Truth):
        return False
    statements = [what_is_called(each.text, each.part) for each in (given, expected)]
    return all(statements) and statements[0] != statements[1]


def _state_more(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether a sentence also states the other answer, before its own: 3 beside `x is 3 and y is 4, so x + y = 7`."""
    return any(
        each.is_within and len(each.text) <= _SENTENCE and states(each.text.rpartition(each.part)[0], other.part)
        for each, other in ((given, expected), (expected, given))
    )


def _are_other_sentences(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether the sentences around two answers mark neither, or hold other numbers: `When x = 2, the maximum is 3`."""
    if not (given.is_within and expected.is_within) or _letters(given) == _letters(expected):
        return False
    beside = _numbers_beside(given), _numbers_beside(expected)
    return not (given.certain or expected.certain) or (all(beside) and beside[0] != beside[1])


def _numbers_beside(answer: ReadAnswer) -> list[str]:
    """The numbers of one sentence that stand outside its answer, sorted; empty for a longer text."""
    if len(answer.text) > _SENTENCE or _SENTENCE_ENDS.search(answer.text):
        return []
    before, found, behind = answer.text.partition(answer.part)
    return sorted(_NUMBER.findall(f"{before} {behind}")) if found else []


def _letters(answer: ReadAnswer) -> str:
    """The letters and digits of a text."""
    return _SIGNS.sub("", answer.text)


def _are_one_label(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether only the hyphen of a label tells two answers apart: `UTF-8`, `UTF8`."""
    return (
        ("-" in given.text) != ("-" in expected.text)
        and _letters(given).lower() == _letters(expected).lower()
        and all(_LABEL.fullmatch(each.text) for each in (given, expected))
    )


def _are_opposed(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether two texts name opposite changes or other directions; the values read from the texts do not hold these."""
    shorter, longer = sorted((given.text, expected.text), key=len)
    mine = {end.lastgroup or "" for end in _POLES.finditer(shorter[-BARE_LIMIT:])}
    theirs = {end.lastgroup or "" for end in _POLES.finditer(longer[-BARE_LIMIT:])} if mine else set()
    # 5 km north and 5 km east are not opposite, and yet not the same.
    there, elsewhere = ({end for end in ends if end[:-2] in _IN_SPACE} for ends in (mine, theirs))
    if there and elsewhere and there.isdisjoint(elsewhere):
        return True
    return any(end[:-1] + ("b" if end[-1] == "a" else "a") in theirs - mine for end in mine - theirs)


def _have_lost_a_backslash(given: ReadAnswer, expected: ReadAnswer) -> bool:
    return any(LOST_BACKSLASH.search(each.text) for each in (given, expected))


def _are_turned(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether two answers have the same two names in two orders around a sign that has an order: A × B and B × A."""
    return bool({pair[::-1] for pair in _ordered(given.part)} & _ordered(expected.part))


def _ordered(text: str) -> set[tuple[str, str]]:
    """The pairs of a text between which a sign has an order. A cross between plain letters may multiply numbers."""
    return {
        (pair["one"], pair["other"])
        for pair in _ORDERED.finditer(text)
        if pair["sign"] in ("∘", "\\circ")
        or pair["one"][0] == "\\"
        or any({pair["one"], pair["other"]} <= vectors for vectors in _VECTORS)
        or ((pair["one"] + pair["other"]).isupper() and len(pair[0]) == len(text.strip(" $.")))
    }


type _Doubt = Callable[[ReadAnswer, ReadAnswer], bool]

_OF_THE_SAME: dict[str, _Doubt] = {
    "statements": _are_other_statements,
    "sentences": _are_other_sentences,
    "subjects": speak_of_others,
    "odds": is_odds,
    "writing": are_told_apart,
    "directions": has_direction_alone,
    "opposites": _are_opposed,
    "a turn": _are_turned,
}
_OF_DIFFERENT: dict[str, _Doubt] = {
    "statements": _are_other_statements,
    "states more": _state_more,
    "a label": _are_one_label,
    "directions": has_direction_alone,
    "backslash": _have_lost_a_backslash,
    "a turn": _are_turned,
}
"""What may leave open two answers of the same value, and two of different values; by rule, in the order of asking."""
