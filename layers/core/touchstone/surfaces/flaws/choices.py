"""Flaws of choices: too few, blank, the same, overlapping, referring to each other, longer or more absolute.

Choices that are ranges of numbers overlap if one value fits two of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf

from touchstone.material import Question
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, alike, width

LEAST_CHOICES = 3
"""The fewest choices: one key and two distractors. More distractors seldom work (Rodriguez 2005, "Three options are
optimal")."""
LONGER = 1.5
"""A key at least this many times as long as the longest distractor stands out at a glance."""
LONGER_BY = 12
"""The key must also be longer by this width, at least two words: one of several short choices is always the longest."""

_ALL = re.compile(
    r"(?:all|any|each|every one) (?:of )?(?:the )?(?:above|these|those|them|previous|preceding|following"
    r"|(?:other |given |above )?(?:options?|choices?|answers?|statements?))\b.*"
    r"|all(?: are| is)? (?:true|correct|right)|all of [^.]{1,12} (?:to|through|and) [^.]{1,12}\b.*"
    r"|both (?:of )?(?:the )?(?:above|these|them)\b.*"
    r"|(?:以上|上述|前面|这些|這些)(?:各项|各項|选项|選項|三项|三項|说法|說法|答案)?(?:全部|全|都|皆|均)(?![不非无無错錯]).{0,6}"
    r"|(?:全部|全都|都|皆)(?:是|对|對|正确|正確)|(?:以上|上述)(?:所有|全部)(?:选项|選項|答案)?.{0,4}"
    r"|alle(?: der)? (?:(?:oben|vorher|zuvor) (?:genannten|stehenden|aufgeführten)|obigen|genannten|diese[rn]?)"
    r"(?: (?:antworten|aussagen|optionen|möglichkeiten))?"
    r"|alle (?:antworten|aussagen|optionen) sind (?:richtig|korrekt|wahr)"
    r"|toute?s (?:ces|les) (?:réponses|propositions|options|affirmations)"
    r"(?: (?:ci-dessus|précédentes|sont (?:correctes|vraies|justes|exactes)))?|tout ce qui précède"
    r"|tod[oa]s l[oa]s (?:anteriores|mencionad[oa]s)|todas (?:las|estas) (?:respuestas|opciones|afirmaciones)"
    r"(?: (?:anteriores|son (?:correctas|verdaderas|ciertas)))?|todo lo anterior",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"none(?: of)? (?:the )?(?:above|these|those|them|previous|following"
    r"|(?:other |given )?(?:options?|choices?|answers?))\b.*"
    r"|none(?: are| is)? (?:true|correct|right)"
    r"|neither of (?:these|them|the above)\b.*|no (?:correct|right) answer(?: is given)?"
    r"|(?:以上|上述|前面|这些|這些)(?:各项|各項|选项|選項|说法|說法|答案)?(?:全部|全|都|皆|均)?(?:不|非|无|無|错|錯).{0,6}"
    r"|(?:都|皆)(?:不|非|错|錯).{0,4}"
    r"|keine[rs]?(?: der)? (?:(?:oben|vorher|zuvor) (?:genannten|stehenden|aufgeführten)|obigen|genannten|diese[rn]?)"
    r"(?: (?:antworten|aussagen|optionen|möglichkeiten))?(?: (?:ist|sind) (?:richtig|korrekt|wahr))?|keine[rs]? davon"
    r"|aucune? (?:de ces|des) (?:réponses|propositions|options|affirmations)(?: (?:ci-dessus|précédentes))?"
    r"(?: n'est (?:correcte|vraie|juste|exacte))?|rien de (?:tout cela|ce qui précède)"
    r"|ningun[oa] de (?:las|los|estas|estos) (?:anteriores|respuestas|opciones|afirmaciones)(?: anteriores)?"
    r"|ninguna (?:respuesta|opción) es correcta|nada de lo anterior",
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
    """Whether a choice speaks of the other choices and not of the matter."""
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
            combined = True  # In such a question all choices are combinations: one finding is enough.


def _combines(text: str, place: int) -> bool:
    """Whether the letters and numbers in a choice stand for other choices or statements, not for things."""
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
    """The first word that allows of no exception; None if there is none, or if the text is too short to claim anything.

    A word with a capital inside the text does not count: it belongs to a title or a name.
    """
    found = _ABSOLUTE.search(text[:1].lower() + text[1:]) if width(text) >= _LEAST_CLAIM else None
    return found[0] if found else None


def _absolute(question: Question, key: Key) -> Iterator[Flaw]:
    """Absolute words in distractors. If the question or the key has such a word too, they tell nothing."""
    if not key.right or absolute_word(question.question_text):
        return
    if any(absolute_word(key.choices[place]) for place in key.right):
        return
    for text in (key.choices[place] for place in key.distractors):
        word = absolute_word(text)
        if word and not refers(text):
            yield Flaw(label="ABSOLUTE_WORDS", values={"word": word, "text": text})
            return


_NUMBER = r"[-+]?\d[\d,]*+(?:\.\d++)?+"
_UNIT = r"\s*+(?P<unit>%|[^\W\d_][^\d]{0,24})?"
_UNIT_BETWEEN = r"\s*+(?:(?:%|[^\W\d_]{1,12})\s*+)?"
_BETWEEN = re.compile(
    rf"(?:between |from |about |在)?(?P<low>{_NUMBER}){_UNIT_BETWEEN}(?:-|~|～|to|and|至|到)"
    rf"\s*(?P<high>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_BELOW = re.compile(
    rf"(?:(?:less|fewer|lower|smaller|younger|under|below) (?:than )?|under |below |up to |at most |no more than "
    rf"|[<≤]\s*|不到|少于|少於|低于|低於|小于|小於|不超过|不超過|至多|最多)(?P<high>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(?:(?:more|greater|higher|larger|older|over|above) (?:than )?|over |above |at least |no (?:less|fewer) than "
    rf"|[>≥]\s*|多于|多於|高于|高於|大于|大於|超过|超過|不少于|不少於|至少|最少)(?P<low>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"up to|at most|no more|at least|no (?:less|fewer)|[≤≥]|不超|至[多少]|最[多少]|不少", re.IGNORECASE
)
_BY_SUFFIX = re.compile(
    rf"(?P<number>{_NUMBER}){_UNIT_BETWEEN}(?P<side>以下|以内|以內|以上|or (?:less|fewer|below|more|above|over)|\+)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|old|long|far|often|large|big|tall|high|deep|fast|heavy)\b|\bwhat (?:percentage|proportion"
    r"|share|fraction|number|age)\b|\bpopulation\b|多少|几|幾|百分之|占比|佔比|比例|多[大长長远遠高重久]",
    re.IGNORECASE,
)
"""Matches a question that asks for one amount. If a range is itself the answer (the years of a war), ranges may
overlap."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a choice covers, and their unit. Each end belongs to the range if it is closed."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool
    unit: str

    def shares(self, other: "Range") -> bool:
        """Whether a value lies in both ranges."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low != high:
            return low < high
        return all((one.low < low or one.low_closed) and (high < one.high or one.high_closed) for one in (self, other))


def range_of(choice: str) -> Range | None:
    """The range that a whole choice writes; None for anything else, also for a single number."""
    text = choice.strip(" .。")
    if found := _BETWEEN.fullmatch(text):
        low, high = _value(found["low"]), _value(found["high"].lstrip("-"))
        return Range(low, high, low_closed=True, high_closed=True, unit=_unit(found["unit"])) if low < high else None
    closed = bool(_CLOSED.search(text))
    if found := _BELOW.fullmatch(text):
        return Range(-inf, _value(found["high"]), low_closed=False, high_closed=closed, unit=_unit(found["unit"]))
    if found := _ABOVE.fullmatch(text):
        return Range(_value(found["low"]), inf, low_closed=closed, high_closed=False, unit=_unit(found["unit"]))
    if found := _BY_SUFFIX.fullmatch(text):
        below = bool(re.search("下|内|內|less|fewer|below", found["side"], re.IGNORECASE))
        value = _value(found["number"])
        low, high = (-inf, value) if below else (value, inf)
        return Range(low, high, low_closed=not below, high_closed=below, unit="")
    return None


def common(question: str, ranges: Sequence[Range | None]) -> Iterator[tuple[int, int]]:
    """The places of each two ranges with a value in common, in a question that asks for one amount.

    Their units must agree, or at least one of them has no unit.
    """
    if not _AMOUNT.search(question):
        return
    for (first, one), (second, other) in combinations(enumerate(ranges), 2):
        if one is None or other is None or (one.unit and other.unit and one.unit != other.unit):
            continue
        if one.shares(other):
            yield first, second


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _unit(text: str | None) -> str:
    return (text or "").strip().casefold()
