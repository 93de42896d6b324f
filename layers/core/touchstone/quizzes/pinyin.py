"""Where pinyin stands in a question, and what is wrong with it.

In three places pinyin is compared with its characters: in brackets behind characters, in the readings that are shown
with a question, and in a key that is the pinyin of the word asked about. Elsewhere only its spelling is checked, and
only if a tone mark or a tone number says that it is pinyin: a wrong choice may well be a wrong reading, but not a
misspelled one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from touchstone.checks import Finding, find_pinyin_errors
from touchstone.chinese.letters import chunks
from touchstone.chinese.parsing import syllables
from touchstone.material import Question
from touchstone.material.choices import alike
from touchstone.quizzes.texts import HAN, LocatedText, choices_of, places_of
from touchstone.text import normalised

LONGEST_WORD = 200
"""The most characters of a run of letters that is looked at as a word of pinyin. Nobody writes longer words."""

_HAN = re.compile(HAN)
_ALL_HAN = re.compile(rf"{HAN}+")
_GLOSS = re.compile(
    rf"(?P<hanzi>{HAN}{{1,40}})[」』”\"'*]{{0,2}}[ \u3000]?"
    r"[(（\[【〔](?P<gloss>[^()（）\[\]【】〔〕\n]{1,200})[)）\]】〕]"
)
"""Characters with something in brackets right behind them."""
_PART = re.compile(r"[^,，;；、/／=]+")
_LATIN = r"A-Za-z\u00c0-\u024f\u0300-\u036f"
_WAY = re.compile(r"[^/／]+")
"""One of several readings: zhānlián / niánlián."""
_TOKEN = re.compile(rf"[{_LATIN}](?:[{_LATIN}'’]|[1-5](?![0-9])|:(?=[0-9]))*")
_NUMBERED = re.compile(r"[A-Za-zü:]{2,6}[1-5](?![0-9])")
_TONE_MARKS = re.compile("[\u0304\u0301\u030c\u0300\u0306]")
_OWN_MARKS = re.compile("[\u0304\u030c]")
"""Macron and caron: on a vowel, hardly any other language that learners read has them."""
_NEGATIVE = re.compile(r"\b(?:not|incorrect|incorrectly|wrong|wrongly|except|isn't)\b|[不錯誤]", re.IGNORECASE)
"""Words of a question that may ask for what is wrong. Its key is then not compared with the characters."""
_DOUBTFUL = frozenset({"missing_apostrophe", "missing_tone_mark", "unknown_syllable"})
"""Findings that a foreign word with an accent may cause (née, René), also in an English text."""
WITH_ACCENTS = frozenset(
    {"ca", "cs", "da", "de", "es", "fi", "fr", "ga", "hr", "hu", "is", "it", "nb", "nl", "no", "pl", "pt", "ro", "sk"}
    | {"sl", "sv", "vi"}
)
"""Languages that write the accents of the second and fourth tone. In them, these accents alone do not make a word
pinyin."""

_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”")

type Found = tuple[LocatedText, Finding]


def pinyin_faults(question: Question, *, ui_language: str | None = None) -> Iterator[Found]:
    """The faults of the pinyin in one question, each with the text that it is in. The finding's span is in that text.

    `ui_language` is the language of the question's explanations, as a BCP 47 tag.
    """
    accents = (ui_language or "").lower().split("-")[0] in WITH_ACCENTS
    for at, reading in enumerate(question.readings):
        place = LocatedText(f"readings[{at}].pinyin", reading.pinyin)
        for way in _WAY.finditer(reading.pinyin):
            for finding in find_pinyin_errors(way[0], reading.hanzi):
                yield place, _moved(finding, way.start())
    hanzi, choices = _asked_about(question), {place.field for place in choices_of(question)}
    right = {alike(answer) for answer in question.answers}
    for place in places_of(question):
        if place.field.startswith("readings["):
            continue
        is_key = place.field.startswith("answers[") or (place.field in choices and alike(place.text) in right)
        if is_key and hanzi is not None and _stands_for(place.text, hanzi):
            yield from ((place, finding) for finding in find_pinyin_errors(place.text, hanzi))
        else:
            yield from ((place, finding) for finding in _in_text(place.text, accents=accents))


def _asked_about(question: Question) -> str | None:
    """The characters whose pinyin a key may be: the target, else the only quoted characters.

    None if that is not clear.
    """
    if _NEGATIVE.search(_QUOTED.sub("", question.question_text)):
        return None
    if question.target is not None and _ALL_HAN.fullmatch(question.target):
        return question.target
    quoted = set(re.findall(rf"[「『“\"]({HAN}+)[」』”\"]", question.question_text))
    return quoted.pop() if len(quoted) == 1 else None


def _stands_for(text: str, hanzi: str) -> bool:
    """Whether a key is pinyin for these characters.

    It has as many syllables, and either has tones or has the characters' own syllables.
    """
    if _HAN.search(text) or (count := _syllables(text)) is None or count != len(_HAN.findall(hanzi)):
        return False
    return _has_tones(text) or _fits_without_tones(text, hanzi)


def _in_text(text: str, *, accents: bool) -> Iterator[Finding]:
    """The faults of glosses in brackets against their characters, and the spelling faults of everything else."""
    if text.isascii() and not _NUMBERED.search(text):
        return
    taken: list[tuple[int, int]] = []
    for gloss in _GLOSS.finditer(text):
        for part in _PART.finditer(gloss["gloss"]):
            start = gloss.start("gloss") + part.start()
            if (findings := _of_gloss(part[0], gloss["hanzi"], accents=accents)) is not None:
                taken.append((start, start + len(part[0])))
                yield from (_moved(finding, start) for finding in findings)
    for token in _TOKEN.finditer(text):
        start = token.start()
        if token[0].isascii() and token[0].isalpha():
            continue  # no mark and no number, like nearly every word of English: nothing shows that it is pinyin
        before = bisect_right(taken, start, key=itemgetter(0)) - 1
        if (before < 0 or start >= taken[before][1]) and len(token[0]) <= LONGEST_WORD:
            yield from (_moved(finding, start) for finding in _of_word(token[0], accents=accents))


def _of_gloss(gloss: str, hanzi: str, *, accents: bool) -> list[Finding] | None:
    """The faults of a gloss as the pinyin of the characters before it. None if it is no pinyin.

    It may be the pinyin of the last characters alone (我們學習 (xuéxí)).
    """
    if _HAN.search(gloss) or (count := _syllables(gloss)) is None:
        return None
    own = hanzi[-count:]
    if not _has_tones(gloss):
        return find_pinyin_errors(gloss, own) if len(own) == count and _fits_without_tones(gloss, own) else None
    findings = min((find_pinyin_errors(gloss, each) for each in dict.fromkeys((hanzi, own))), key=len)
    if not _is_sure(gloss) and (len(own) < count or (accents and len(findings) >= count)):
        return None
    return findings


def _of_word(word: str, *, accents: bool) -> Sequence[Finding]:
    """The spelling faults of a word that is pinyin by its marks. Nothing for any other word."""
    numbered = _NUMBERED.search(word) is not None
    if not (numbered or _has_marks(word)) or _syllables(word) is None:
        return ()
    if numbered and not _begins_with_tone(word):
        return ()
    if _is_sure(word):
        return find_pinyin_errors(word)
    return () if accents else [finding for finding in find_pinyin_errors(word) if finding.rule not in _DOUBTFUL]


def _begins_with_tone(word: str) -> bool:
    """Whether the first syllable has a tone: `xue2xi`, but not `name1`."""
    first = next(iter(chunks(word)), None)
    return first is not None and syllables(first.piece)[0].tone is not None


def _fits_without_tones(text: str, hanzi: str) -> bool:
    """Whether syllables without any tone are those of these characters, so that they are pinyin and no other word."""
    return all(finding.rule == "missing_tone_mark" for finding in find_pinyin_errors(text, hanzi))


def _syllables(text: str) -> int | None:
    """The number of pinyin syllables in a text, the suffix r not counted. None if the text is not all pinyin."""
    count = 0
    for chunk in chunks(text):
        for syllable in syllables(chunk.piece):
            if not syllable.base:
                return None
            count += syllable.base != "r"
    return count or None


def _has_tones(text: str) -> bool:
    return _has_marks(text) or _NUMBERED.search(text) is not None


def _has_marks(text: str) -> bool:
    return _TONE_MARKS.search(normalised(text, "NFD")) is not None


def _is_sure(text: str) -> bool:
    """Whether a text has marks that pinyin has and hardly any other language, or tones that are numbers."""
    return _OWN_MARKS.search(normalised(text, "NFD")) is not None or _NUMBERED.search(text) is not None


def _moved(finding: Finding, by: int) -> Finding:
    start, end = finding.span
    return Finding(rule=finding.rule, span=(start + by, end + by), detail=finding.detail, suggestion=finding.suggestion)
