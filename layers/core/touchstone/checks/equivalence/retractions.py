"""Whether a text takes its answer back, or calls another right: `12. No wait, 13.`, `12. In fact, it is 13.`"""

from touchstone.packaged import own_patterns

_SEARCHED = 400
"""The most characters behind an answer that are read sentence by sentence."""
_NEXT = 2
"""So many sentences behind an answer are read for another value, or for a doubt: a correction follows at once."""
_PATTERN = own_patterns(__file__)
_GIVES_ANOTHER = ("taken back", "another right")
"""The patterns of what puts another answer in an answer's place, or beside it."""


def is_replaced(answer: str, behind: str) -> bool:
    """Whether the text from an answer's stop on takes the answer back, or calls another right: `12. No wait, 13.`

    Of an answer without a number, such as an option, only what says so is seen, and no other value behind it.
    """
    text = answer + behind
    numbers = _numbers(answer)
    if any(_PATTERN[key].search(text) for key in _GIVES_ANOTHER) or _is_called_wrong(answer, behind):
        return True
    if any(numbers.isdisjoint(_numbers(each["restated"] or "")) for each in _PATTERN["revised"].finditer(text)):
        return True
    if not numbers:
        return False
    again = _PATTERN["looked at again"].search(behind)
    if again is not None and (found := _numbers(behind[again.end() :])):
        return numbers.isdisjoint(found) and not _is_checked(behind, again.end())
    sentences = (each.strip(" *_,:)(") for each in _PATTERN["sentence"].findall(behind[:_SEARCHED]))
    return any(_says_otherwise(each, numbers) for each in list(filter(None, sentences))[:_NEXT])


def takes_back(behind: str) -> bool:
    """Whether the text behind a statement takes it back at its first stop: `7 × 8 = 54. Wait, that's not right.`"""
    stop = _PATTERN["stop"].search(behind)
    ways = (_PATTERN["taken back"], _PATTERN["revised"], _PATTERN["called wrong"])
    return stop is not None and any(way.match(behind, stop.start()) is not None for way in ways)


def calls_another_right(text: str) -> bool:
    """Whether a text calls another answer right as well: `12, but 13 is also correct`."""
    return _PATTERN["another right"].search(text) is not None


def _is_called_wrong(answer: str, behind: str) -> bool:
    """Whether the text behind an answer calls it wrong: `This is incorrect`.

    Behind an answer that itself denies something, `No` or 0, such words may explain it: `No. This is impossible.`
    """
    if _PATTERN["called wrong"].match(behind) is None:
        return False
    return _PATTERN["denying"].fullmatch(answer) is None or _PATTERN["explains a denial"].match(behind) is None


def _is_checked(behind: str, place: int) -> bool:
    """Whether the text behind an answer confirms it from `place` on, without naming it: `2x + y = 7, which holds`.

    What is said of other quantities is such a check too, unless it ends with the value of a variable: `so x = 13`.
    """
    if _PATTERN["confirmed"].search(behind, place) is not None:
        return True
    if _PATTERN["solved"].search(behind, place) is not None:
        return False
    return _PATTERN["other quantities"].search(behind, place) is not None


def _numbers(text: str) -> set[str]:
    """The numbers in a text, without the commas between their digits."""
    return {each.replace(",", "") for each in _PATTERN["number"].findall(text)}


def _says_otherwise(sentence: str, numbers: set[str]) -> bool:
    """Whether a sentence right behind an answer with these numbers is another value, or doubts the answer."""
    others = _PATTERN["of others"].search(sentence)
    if others is not None and (others["number"] is None or _numbers(others["number"]).isdisjoint(numbers)):
        return False
    if _PATTERN["doubted"].search(sentence) is not None:
        return True
    another = _PATTERN["another value"].fullmatch(sentence)
    return another is not None and numbers.isdisjoint(_numbers(another["value"] or another["other"]))
