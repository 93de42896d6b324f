"""Whether a text takes its answer back, or calls another right: `12. No wait, 13.`, `12. In fact, it is 13.`"""

from touchstone.packaged import own_patterns

_SEARCHED = 400
"""The most characters behind an answer that are read sentence by sentence."""
_NEXT = 2
"""So many sentences behind an answer are read for another value, or for a doubt: a correction follows at once."""
_PATTERN = own_patterns(__file__)
_REPLACES = ("taken back", "another right", "revised")
"""The patterns of what replaces an answer, or puts another beside it."""


def is_replaced(answer: str, behind: str) -> bool:
    """Whether the text from an answer's stop on takes the answer back, or calls another right: `12. No wait, 13.`

    Of an answer without a number, such as an option, only what says so is seen, and no other value behind it.
    """
    text = answer + behind
    if _PATTERN["called wrong"].match(behind) or any(_PATTERN[key].search(text) for key in _REPLACES):
        return True
    numbers = set(_PATTERN["number"].findall(answer))
    if not numbers:
        return False
    again = _PATTERN["looked at again"].search(behind)
    found = [] if again is None else _PATTERN["number"].findall(behind, again.end())
    if found:
        return numbers.isdisjoint(found)  # `Let me check: 3 · 4 = 12.` confirms the answer
    sentences = (each.strip(" *_,:)(") for each in _PATTERN["sentence"].findall(behind[:_SEARCHED]))
    return any(_says_otherwise(each, numbers) for each in list(filter(None, sentences))[:_NEXT])


def calls_another_right(text: str) -> bool:
    """Whether a text calls another answer right as well: `12, but 13 is also correct`."""
    return _PATTERN["another right"].search(text) is not None


def _says_otherwise(sentence: str, numbers: set[str]) -> bool:
    """Whether a sentence right behind an answer with these numbers is another value, or doubts the answer."""
    others = _PATTERN["of others"].search(sentence)
    if others is not None and others["number"] not in numbers:
        return False
    if _PATTERN["doubted"].search(sentence) is not None:
        return True
    another = _PATTERN["another value"].fullmatch(sentence)
    return another is not None and (another["value"] or another["other"]) not in numbers
