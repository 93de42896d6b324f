"""Flaws of choices: too few, blank, the same, overlapping, referring to each other, longer or more absolute."""

import re
from collections.abc import Iterator, Sequence

from touchstone.material import Question
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.flaws.ranges import common, range_of
from touchstone.surfaces.options import Key, alike, width

LEAST_CHOICES = 3
"""One key and two distractors: more seldom work (Rodriguez 2005, "Three options are optimal")."""
LONGER = 1.5
"""A key at least so many times as long as the longest distractor stands out at a glance."""
LONGER_BY = 12
"""… and longer by at least two words: of short choices one is always the longest."""

_ALL = re.compile(
    r"(?:all|any|each|every one) (?:of )?(?:the )?(?:above|these|those|them|previous|preceding|following"
    r"|(?:other |given |above )?(?:options?|choices?|answers?|statements?))\b.*"
    r"|all(?: are| is)? (?:true|correct|right)|all of [^.]{1,12} (?:to|through|and) [^.]{1,12}\b.*"
    r"|both (?:of )?(?:the )?(?:above|these|them)\b.*"
    r"|(?:以上|上述|前面|这些|這些)(?:各项|各項|选项|選項|三项|三項|说法|說法|答案)?(?:全部|全|都|皆|均)(?![不非无無错錯]).{0,6}"
    r"|(?:全部|全都|都|皆)(?:是|对|對|正确|正確)|(?:以上|上述)(?:所有|全部)(?:选项|選項|答案)?.{0,4}",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"none(?: of)? (?:the )?(?:above|these|those|them|previous|following"
    r"|(?:other |given )?(?:options?|choices?|answers?))\b.*"
    r"|neither of (?:these|them|the above)\b.*|no (?:correct|right) answer(?: is given)?"
    r"|(?:以上|上述|前面|这些|這些)(?:各项|各項|选项|選項|说法|說法|答案)?(?:全部|全|都|皆|均)?(?:不|非|无|無|错|錯).{0,6}"
    r"|(?:都|皆)(?:不|非|错|錯).{0,4}",
    re.IGNORECASE,
)
_ONE = r"(?:\(?[A-H]\)?|\(?[IVX]{1,4}\)?|[①-⑩])"
_COMBINED = re.compile(
    rf"(?:[Bb]oth )?{_ONE}(?:(?:\s*+(?:,|、|&|\+|and|or|和|与|與|及|或)\s*+|\s++)(?:and )?{_ONE})+(?: only)?"
    r"(?:\s*+(?:都|皆|均)?(?:对|對|正确|正確|是))?|[①-⑩]{2,10}"
)
_JOINED = re.compile(r"[①-⑩]|\b[IVX]{2,4}\b|\bonly\b|\bboth\b|都|皆|均", re.IGNORECASE)
_LETTER = re.compile(r"\b[A-H]\b")
_LEAST_CLAIM = 16
"""Width of the shortest text that claims something: eight Chinese characters, three or four words."""
_ABSOLUTE = re.compile(
    r"^all\b(?! [A-Z])|(?<!not )(?<!n't )\b(?:always|never|every(?:one|body|thing|where)?|nobody|nothing|no one"
    r"|entirely|completely|absolutely|totally|impossible|invariably|without exception)\b"
    r"|总是|總是|永远|永遠|从不|從不|从来不|從來不|绝不|絕不|毫无|毫無|根本不|任何|不可能"
    r"|(?<![不非])(?:绝对|絕對|所有|一切|全都|完全|必然|必定)"
)


def choice_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The flaws of the choices of one question that is answered by choosing."""
    yield from _number(key)
    yield from _same(key)
    yield from _referring(key.choices)
    overlapping = next(common(question.question_text, [range_of(choice) for choice in key.choices]), None)
    if overlapping is not None:
        first, second = (key.choices[place] for place in overlapping)
        yield Flaw(label="OVERLAPPING_OPTIONS", values={"first": first, "second": second})
    if question.kind == "single_choice":
        yield from _longest(key)
        yield from _absolute(question, key)


def _number(key: Key) -> Iterator[Flaw]:
    seen = [choice for choice in key.choices if choice]
    if len(seen) < LEAST_CHOICES:
        yield Flaw(label="TOO_FEW_OPTIONS", values={"number": len(seen), "least": LEAST_CHOICES})
    for place, choice in enumerate(key.choices, start=1):
        if not choice:
            yield Flaw(label="BLANK_OPTION", values={"number": place})


def _same(key: Key) -> Iterator[Flaw]:
    first: dict[str, int] = {}
    for place, choice in enumerate(key.choices, start=1):
        form = alike(choice)
        if form and form in first:
            yield Flaw(label="DUPLICATE_OPTIONS", values={"first": first[form], "second": place, "text": choice})
        first.setdefault(form, place)


def refers(choice: str) -> bool:
    """Whether a choice speaks of the others and not of the matter."""
    return bool(_ALL.fullmatch(choice.strip(" .。")) or _NONE.fullmatch(choice.strip(" .。")))


def _referring(choices: Sequence[str]) -> Iterator[Flaw]:
    combined = False
    for place, choice in enumerate(choices):
        text = choice.strip(" .。")
        if _NONE.fullmatch(text):
            yield Flaw(label="NONE_OF_THE_ABOVE", values={"text": choice})
        elif _ALL.fullmatch(text):
            yield Flaw(label="ALL_OF_THE_ABOVE", values={"text": choice})
        elif not combined and _COMBINED.fullmatch(text) and _combines(text, place):
            yield Flaw(label="COMBINED_OPTIONS", values={"text": choice})
            combined = True  # Of such a question all choices are combinations; one finding says it.


def _combines(text: str, place: int) -> bool:
    """Whether letters and numbers are those of other choices or statements, and not things that are called so."""
    letters = _LETTER.findall(text)
    return bool(_JOINED.search(text)) or (bool(letters) and all(ord(one) - ord("A") < place for one in letters))


def _longest(key: Key) -> Iterator[Flaw]:
    if len(key.right) != 1 or not key.distractors:
        return
    right = key.choices[key.right[0]]
    longest = max(width(key.choices[place]) for place in key.distractors)
    if width(right) >= LONGER * longest and width(right) >= longest + LONGER_BY and not refers(right):
        yield Flaw(label="LONGEST_KEY", values={"key": right})


def absolute_word(text: str) -> str | None:
    """The first word that allows of no exception, None where there is none: of what is too short to claim anything.

    One with a capital inside a text belongs to a title or a name.
    """
    found = _ABSOLUTE.search(text[:1].lower() + text[1:]) if width(text) >= _LEAST_CLAIM else None
    return found[0] if found else None


def _absolute(question: Question, key: Key) -> Iterator[Flaw]:
    """Absolute words in distractors alone; where the question or the key has some as well they tell nothing."""
    if not key.right or absolute_word(question.question_text):
        return
    if any(absolute_word(key.choices[place]) for place in key.right):
        return
    for text in (key.choices[place] for place in key.distractors):
        word = absolute_word(text)
        if word and not refers(text):
            yield Flaw(label="ABSOLUTE_WORDS", values={"word": word, "text": text})
            return
