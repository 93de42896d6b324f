"""What a program can decide of a quiz's content: script, pinyin, language of the questions, and what was taught.

Of `curriculum_alignment` these checks decide two things: whether a question's target is a word or pattern that it may
test, and whether a short word that a question quotes as vocabulary (「…」) was taught by then. Other words of stems and
choices are left to the judge, since an ordinary sentence needs words that no chapter lists.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from touchstone.checks import Finding, find_language_mismatch, find_simplified, knows_language
from touchstone.material import Question, Quiz
from touchstone.quizzes.curriculum import folded
from touchstone.quizzes.model import RULES, Content, Rule, Violation, Weakness
from touchstone.quizzes.outcome import in_order
from touchstone.quizzes.pinyin import pinyin_faults
from touchstone.quizzes.texts import HAN, LocatedText, places_of

MAX_FAULTS_PER_QUESTION = 200
"""The most faults that are named in one question, of script, of pinyin, or of words not taught. More are found once
these are mended."""
MOST_NAMED = 8
"""How many words of a chapter a violation lists as possible targets."""
LONGEST_WORD = 4
"""The most characters of a quoted word. A longer quotation is a sentence or a phrase."""
COMMON_CHARACTERS = frozenset("我你您他她它們這那哪是的了過著不沒有在和也都很嗎呢吧一二三四五六七八九十個請什麼")
"""Pronouns, numbers and particles of any first lesson. A known word with some of them is no new word."""

_QUOTED = re.compile(rf"「({HAN}{{1,{LONGEST_WORD}}})」")
_ANY_QUOTATION = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|\"[^\"\n]*\"|《[^《》]*》")
_KANA = re.compile(r"[\u3040-\u30ff]")
_OTHER_HAN = re.compile(r"(?:ja|zh-(?:hans|cn|sg|my))(?:-|$)", re.IGNORECASE)
"""Learners' languages that write characters in other forms: 学 is right in Japanese."""
_SAID_TO_LEARNER = frozenset({"question_text", "explanation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFindings:
    """What the checks found, and the rules that they applied."""

    violations: tuple[Violation, ...]
    checks_run: tuple[Rule, ...]


def check_content(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
) -> ContentFindings:
    """Apply each check whose facts are known.

    If `ui_language` is None, or a language that the check does not know, the questions' language is not checked.
    `taught` are the words and patterns that a question may test; None means that this is not checked. `known` is all
    that the learner has met; None means that quoted words are not checked. Raises `SettingsError` if the tables of
    OpenCC and pypinyin are not installed.
    """
    by_rule: dict[Rule, Iterator[Violation]] = {
        "traditional_chinese": find_traditional(quiz, ui_language=ui_language),
        "pinyin_diacritics": find_pinyin(quiz, ui_language=ui_language),
    }
    if ui_language is not None and knows_language(ui_language):
        by_rule["question_language"] = find_question_language(quiz, ui_language)
    if taught is not None:
        by_rule["curriculum_alignment"] = find_off_curriculum(quiz, taught, known)
    found = [violation for violations in by_rule.values() for violation in violations]
    return ContentFindings(
        violations=in_order(quiz, found), checks_run=tuple(rule for rule in RULES if rule in by_rule)
    )


def allowed_targets(content: Content, weakness: Weakness) -> tuple[str, ...]:
    """The items that questions on a chapter may test: those that it teaches, and the learner's weak points."""
    return tuple(dict.fromkeys((*content.chapter.items, *(point.item for point in weakness.weak_points))))


def find_traditional(quiz: Quiz, *, ui_language: str | None = None) -> Iterator[Violation]:
    """Simplified characters and words (学习 for 學習) in what a question shows.

    A learner's own language may write other forms (Japanese, Chinese in Simplified script), and instructions are in
    that language. In such instructions only the quotations are checked.
    """
    other = ui_language is not None and _OTHER_HAN.match(ui_language) is not None
    for question in quiz.questions:
        found = ((place, finding) for place in places_of(question) for finding in _simplified(place, other=other))
        for place, finding in islice(found, MAX_FAULTS_PER_QUESTION):
            yield _violation(question, "traditional_chinese", finding, field=place.field, text=place.text)


def find_pinyin(quiz: Quiz, *, ui_language: str | None = None) -> Iterator[Violation]:
    """Pinyin with tone numbers, without marks, misspelled, or with readings that its characters do not have."""
    for question in quiz.questions:
        for place, finding in islice(pinyin_faults(question, ui_language=ui_language), MAX_FAULTS_PER_QUESTION):
            yield _violation(question, "pinyin_diacritics", finding, field=place.field, text=place.text)


def find_question_language(quiz: Quiz, ui_language: str) -> Iterator[Violation]:
    """Questions that are not in the language that the learner reads. What they quote does not count."""
    for question in quiz.questions:
        for finding in find_language_mismatch(question.question_text, ui_language):
            found = _violation(question, "question_language", finding, field="question_text", text="")
            advice = f"Write the instruction in {ui_language} and put the Chinese that it is about in 「」."
            yield found.model_copy(update={"span": None, "suggestion": advice})


def find_off_curriculum(quiz: Quiz, taught: Iterable[str], known: Iterable[str] | None = None) -> Iterator[Violation]:
    """Targets that are missing or not `taught`, and quoted words that are not `known`.

    A quoted word is known if it is a known word, a part of one, or made of several. If `known` is None, quoted words
    are not checked.
    """
    items = tuple(taught)
    targets = {folded(item) for item in items}
    words = None if known is None else _Words.of((*known, *items))
    advice = f"Test what it teaches: {'、'.join(items[:MOST_NAMED])}{'…' if len(items) > MOST_NAMED else ''}"
    for question in quiz.questions:
        if question.target is None:
            detail = "The question does not say which word or pattern of the chapter it tests."
            mended = "Name the word or pattern as the chapter writes it."
            yield _off_curriculum(question, "target", "no_target", detail, mended)
        elif folded(_traditional(question.target)) not in targets:
            detail = f"The question tests 「{question.target}」, which the chapter does not teach."
            yield _off_curriculum(question, "target", "target_not_taught", detail, advice)
        if words is not None:
            yield from islice(_unknown_quoted(question, words), MAX_FAULTS_PER_QUESTION)


def _simplified(place: LocatedText, *, other: bool) -> Iterable[Finding]:
    """The Simplified forms in a text. `other` means that the learner's own language writes such forms."""
    if other and place.field not in _SAID_TO_LEARNER and _KANA.search(place.text):
        return ()
    findings = find_simplified(place.text)
    if not (other and place.field in _SAID_TO_LEARNER):
        return findings
    quoted = [found.span() for found in _ANY_QUOTATION.finditer(place.text)]
    return [one for one in findings if any(start <= one.span[0] < end for start, end in quoted)]


@dataclass(frozen=True, slots=True)
class _Words:
    """Known words. `parts` joins all of them, so that one search finds a part of any."""

    words: frozenset[str]
    parts: str

    @classmethod
    def of(cls, words: Iterable[str]) -> "_Words":
        known = frozenset(folded(word) for word in words)
        return cls(known, "\n".join(known))

    def hold(self, word: str) -> bool:
        """Whether a word is a part of a known word, or a sequence of known words and of `COMMON_CHARACTERS`."""
        if word in COMMON_CHARACTERS or word in self.parts:
            return True
        return any(
            (word[:cut] in self.words or word[:cut] in COMMON_CHARACTERS) and self.hold(word[cut:])
            for cut in range(1, len(word))
        )


def _unknown_quoted(question: Question, words: _Words) -> Iterator[Violation]:
    for place in places_of(question):
        if place.field == "target":
            continue
        for found in _QUOTED.finditer(place.text):
            if not words.hold(_traditional(found[1])):
                detail = f"「{found[1]}」 is quoted as vocabulary and was not taught by this chapter."
                mended = "Use a word that the learner has met."
                yield _off_curriculum(question, place.field, "word_not_taught", detail, mended)


def _off_curriculum(question: Question, field: str, finding: str, detail: str, suggestion: str) -> Violation:
    return Violation(
        question_id=question.id,
        rule="curriculum_alignment",
        detail=detail,
        suggestion=suggestion,
        decided_by="check",
        field=field,
        finding=finding,
    )


def _traditional(text: str) -> str:
    """A word as Taiwan writes it. So a Simplified form is not reported as a word not taught, too."""
    for finding in find_simplified(text):
        start, end = finding.span
        text = f"{text[:start]}{finding.suggestion or text[start:end]}{text[end:]}"
    return text


def _violation(question: Question, rule: Rule, finding: Finding, *, field: str, text: str) -> Violation:
    detail = finding.detail
    if finding.rule in _DETAILS:
        detail = _DETAILS[finding.rule].format(written=text[slice(*finding.span)], form=finding.suggestion)
    return Violation(
        question_id=question.id,
        rule=rule,
        detail=detail,
        suggestion=finding.suggestion,
        decided_by="check",
        field=field,
        span=finding.span,
        finding=finding.rule,
    )


_DETAILS = {
    "simplified_character": "「{written}」 is Simplified; in Taiwan it is written 「{form}」.",
    "simplified_word": "「{written}」 is written 「{form}」 in Taiwan.",
}
"""Details in English, as all details of this job are: the check's own details are in the language of the text."""
