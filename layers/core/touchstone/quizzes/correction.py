"""A quiz with those faults corrected that have one right correction: the text that a check suggests for a place.

Some faults are left for a person: those that may be meant, and those that no correction heals. A question may be about
the very form that a check finds: is “xúe” spelt right, which of these is Simplified. Its faults are found like any
others, but only its author can say whether to correct them.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from pydantic import ValidationError

from touchstone.checks import find_pinyin_errors
from touchstone.chinese.scripts import tables
from touchstone.material import Question, Quiz
from touchstone.quizzes.model import Violation
from touchstone.quizzes.texts import HAN, LocatedText, answers_of, choices_of, places_of
from touchstone.text import normalised

_FIELD = re.compile(r"(?P<name>[a-z_]+)(?:\[(?P<at>\d+)\])?(?:\.(?P<part>[a-z]+))?")


_DOUBTFUL = frozenset({"extra_syllable"})
"""Findings that are rather a sign that characters are missing."""

_ABOUT_FORM = re.compile(
    r"\b(?:simplified|traditional|spelt|(?:mis-?)?spell\w*|typo|tone[ -](?:mark|number)s?|apostrophe|umlaut|script"
    r"|writes|written (?:form|correctly|right|wrong|incorrectly)|(?:correctly|rightly|wrongly|incorrectly) written"
    r"|way to write|simplificad[oa]s?|tradicional(?:es)?|simplifiée?s?|traditionnel(?:le)?s?"
    r"|vereinfacht\w*|traditionell\w*|kurzzeichen|langzeichen|giản thể|phồn thể)\b"
    r"|簡體|简体|簡体|繁體|繁体|正體|正体|新字体|旧字体|寫法|写法|書き方|拼寫|拼写|錯字|错字|調號|调号|간체|번체",
    re.IGNORECASE,
)
"""Words by which a question asks about script or spelling, in the commonest languages of learners."""
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|‘[^‘’]*’|«[^«»]*»|\"[^\"\n]*\"")
_LETTER = r"A-Za-z\u00c0-\u024f\u0300-\u036f"
_OF_A_WORD = re.compile(rf"[{_LETTER}0-9'’:-]")
_HAN = re.compile(HAN)
_HAN_RUN = re.compile(f"{HAN}+")
_NO_EVIDENCE = ("explanation", "target", "readings")
"""Fields that a learner sees after the question or beside it: a slip in one of them is no contrast."""
_SCRIPT = "traditional_chinese"
_PINYIN = "pinyin_diacritics"

type Span = tuple[int, int]
type Change = tuple[Span, str]
"""A span of a text that is to be corrected, and the text that is to stand there."""


def is_correctable(violation: Violation) -> bool:
    """Whether a violation has one right correction: a check's suggestion for a span.

    The question is not known here. `corrected` also leaves violations that may be meant in their question.
    """
    return (
        violation.decided_by == "check"
        and violation.rule != "structure"
        and violation.question_id is not None
        and violation.field is not None
        and violation.span is not None
        and violation.suggestion is not None
        and violation.finding not in _DOUBTFUL
    )


def corrected(quiz: Quiz, violations: Iterable[Violation]) -> Quiz:
    """The quiz with all correctable violations among these corrected. The others leave it as it is.

    Violations that may be meant, since the question is about the form itself (`indices_for_author`), leave it as it is
    too.

    The violations are those of this very quiz. An answer that equals a choice to the letter is corrected with it. A
    question that would grow too long (an apostrophe for every other syllable) stays as it is.
    """
    found: dict[str | None, list[Violation]] = defaultdict(list)
    for violation in filter(is_correctable, violations):
        found[violation.question_id].append(violation)
    left = {question.id: indices_for_author(question, found[question.id]) for question in quiz.questions}
    return rewritten(
        quiz, (one for key, told in found.items() for at, one in enumerate(told) if at not in left.get(key or "", ()))
    )


def rewritten(quiz: Quiz, violations: Iterable[Violation]) -> Quiz:
    """The quiz with each of these violations corrected. All of them are correctable."""
    found: dict[str, dict[str, list[Violation]]] = defaultdict(lambda: defaultdict(list))
    for violation in violations:
        found[violation.question_id or ""][violation.field or ""].append(violation)
    return Quiz(questions=tuple(_corrected(question, found[question.id]) for question in quiz.questions))


def _corrected(question: Question, by_field: dict[str, list[Violation]]) -> Question:
    values: dict[str, Any] = question.model_dump()
    for field, violations in by_field.items():
        name, at, part = _path(field)
        changes = _changes(violations)
        if at is None:
            values[name] = _rewritten(values[name], changes)
        else:
            values[name] = [
                _part_rewritten(value, part, changes) if place == int(at) else value
                for place, value in enumerate(values[name])
            ]
    renamed = dict(zip(question.choices, values["choices"], strict=True))
    values["answers"] = [renamed.get(old, new) for old, new in zip(question.answers, values["answers"], strict=True)]
    try:
        return Question.model_validate(values)
    except ValidationError:
        return question


def _path(field: str) -> tuple[str, str | None, str | None]:
    place = _FIELD.fullmatch(field)
    if place is None:
        raise ValueError(f"{field} is no path inside a question.")
    return place["name"], place["at"], place["part"]


def _part_rewritten(value: Any, part: str | None, changes: Sequence[Change]) -> Any:
    """A choice or an answer with its changes, or a reading with the changes of one part."""
    return _rewritten(value, changes) if part is None else {**value, part: _rewritten(value[part], changes)}


def _changes(violations: Iterable[Violation]) -> list[Change]:
    """The changes that mend these violations, in the order of their places."""
    return sorted({(one.span, one.suggestion) for one in violations if one.span and one.suggestion is not None})


def _rewritten(text: str, changes: Iterable[Change], within: Span | None = None) -> str:
    """The text, or the part of it `within` a span, with each change made. If two spans overlap, the first counts."""
    before, until = within or (0, len(text))
    rewritten = ""
    for (start, stop), suggestion in changes:
        if start >= until:
            break
        if start >= before:
            rewritten += text[before:start] + suggestion
            before = stop
    return rewritten + text[before:until]


def indices_for_author(
    question: Question, violations: Sequence[Violation], *, original: Question | None = None
) -> frozenset[int]:
    """The indices of those of a question's violations that are not to be corrected without its author.

    - all, if the question's text speaks of script or spelling; those in the explanation also if that one does;
    - those in what a statement (`true_false`) quotes;
    - those whose right form also stands in the question's text or choices, or that would make two wrong forms the same;
    - Simplified choices, if another choice is in Traditional characters;
    - pinyin whose whole word would still have a fault;
    - those in one run of characters with another one that is left: half of the run would be in the other script.

    `original` is the question before anything in it was corrected, None if it is `question`: a text that a correction
    has put in is no contrast.
    """
    if not violations:
        return frozenset()
    texts = {place.field: place.text for place in places_of(question)}
    by_field: dict[str | None, list[Violation]] = defaultdict(list)
    for one in violations:
        by_field[one.field].append(one)
    in_order = {field: _changes(told) for field, told in by_field.items()}
    written = [_Written.of(one, in_order.get(one.field, ()), texts) for one in violations]
    contrast = _Contrast(original or question, [one for one in written if one])
    fields = _fields_about_form(question)
    rules = (partial(_is_quoted, question), contrast.holds, _stays_wrong)
    left = {
        at
        for at, one in enumerate(written)
        if one and (fields is None or one.field in fields or any(rule(one) for rule in rules))
    }
    starts = {field: [run.start() for run in _HAN_RUN.finditer(text)] for field, text in texts.items()}
    runs = {
        at: (one.field, bisect_right(starts[one.field], one.own_span[0]))
        for at, one in enumerate(written)
        if one and one.rule == _SCRIPT
    }
    parted = {run for at, run in runs.items() if at in left}
    return frozenset(left | {at for at, run in runs.items() if run in parted})


class _Written:
    """A faulty word as it stands, and as it would be after the correction."""

    def __init__(self, violation: Violation, *, field: str, text: str, span: Span, right: str) -> None:
        self.rule, self.field, self.text, self.span = violation.rule, field, text, span
        self.own_span = violation.span or span
        self.wrong, self.right = text[slice(*span)], right

    @classmethod
    def of(cls, violation: Violation, changes: Sequence[Change], texts: dict[str, str]) -> "_Written | None":
        """The faulty word of a violation. None if nothing could be corrected.

        For pinyin, the word is the whole word. For a single character, it is the character with its neighbour (学校: 學
        alone also stands in 學習). All faults in the word count: `changes` are those of the text, in their order.
        """
        text, span, right = texts.get(violation.field or ""), violation.span, violation.suggestion
        if text is None or span is None or right is None or violation.field is None:
            return None
        if violation.rule == _PINYIN or span[1] - span[0] == 1:
            span = _word_around(text, span) if violation.rule == _PINYIN else _with_neighbour(text, span)
            right = _rewritten(text, changes[bisect_left(changes, ((span[0], 0), "")) :], span)
        return cls(violation, field=violation.field, text=text, span=span, right=right)


def _word_around(text: str, span: Span) -> Span:
    start, end = span
    while start and _OF_A_WORD.match(text, start - 1):
        start -= 1
    while end < len(text) and _OF_A_WORD.match(text, end):
        end += 1
    return start, end


def _with_neighbour(text: str, span: Span) -> Span:
    start, end = span
    if end < len(text) and _HAN.match(text, end):
        return start, end + 1
    return (start - 1, end) if start and _HAN.match(text, start - 1) else span


def _fields_about_form(question: Question) -> frozenset[str] | None:
    """The fields in which faulty forms may be meant. None means all fields."""
    if _ABOUT_FORM.search(question.question_text):
        return None
    return frozenset({"explanation"} if _ABOUT_FORM.search(question.explanation or "") else ())


def _is_quoted(question: Question, one: _Written) -> bool:
    if question.kind != "true_false" or one.field != "question_text":
        return False
    return any(found.start() < one.own_span[0] < found.end() for found in _QUOTED.finditer(one.text))


class _Contrast:
    """The parts of a question that stand side by side for a learner to compare."""

    def __init__(self, question: Question, faults: Sequence[_Written]) -> None:
        # If there are choices, the key is left out: it repeats a choice, or should.
        places = (LocatedText("question_text", question.question_text), *choices_of(question))
        if not question.choices:
            places = (*places, *answers_of(question))
        self.beside = tuple(place.text for place in places)
        self.explanation = question.explanation or ""
        traditional = tables().traditional
        self.is_traditional = any(not traditional.isdisjoint(choice) for choice in question.choices)
        self.known: dict[tuple[str, str, bool], bool] = {}
        self.wrong: dict[str, set[str]] = defaultdict(set)
        fields = {place.field for place in places}
        for one in faults:
            if one.field in fields:
                self.wrong[one.right].add(one.wrong)

    def holds(self, one: _Written) -> bool:
        """Whether the right form, another wrong form of it, or a choice in the other script stands beside a fault."""
        if one.rule == _SCRIPT and one.field.startswith(("choices", "answers")) and self.is_traditional:
            return True
        is_explained = one.field == "explanation"
        if one.field.startswith(_NO_EVIDENCE) and not is_explained:
            return False
        key = one.rule, one.right, is_explained
        if key not in self.known:
            texts = (self.explanation,) if is_explained else self.beside
            self.known[key] = any(_stands_in(one, text) for text in texts)
        return self.known[key] or (not is_explained and len(self.wrong[one.right]) > 1)


def _stands_in(one: _Written, text: str) -> bool:
    if one.rule != _PINYIN:
        return one.right in text
    right, plain = (normalised(each, "NFC").casefold() for each in (one.right, text))
    return right in plain and re.search(rf"(?<![{_LETTER}]){re.escape(right)}", plain) is not None


def _stays_wrong(one: _Written) -> bool:
    return one.rule == _PINYIN and _is_faulty(one.right)


@lru_cache(maxsize=1024)
def _is_faulty(word: str) -> bool:
    return bool(find_pinyin_errors(word))
