"""Moodle's GIFT: questions as plain text, written and read.

The format is that of https://docs.moodle.org/en/GIFT_format: blank lines between questions, `::title::` before the
text, answers in braces, and a backslash before a character that would otherwise have a meaning.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from pydantic import ValidationError

from touchstone.errors import InputError
from touchstone.material.exchange.keyed import keyed, literal, right_choices, share_of
from touchstone.material.exchange.shown import FORMULA, shown
from touchstone.material.items import Question, Quiz
from touchstone.strict import fault_sentence, first_fault

MAX_LISTED_FAULTS = 10
ROUNDING = 0.01
"""How far the shares of right choices may differ, in percentage points: a third is 33.33333."""
WHOLE = 100 - ROUNDING
"""The least share of an answer that is right by itself, in percent."""
UNTITLED = "?"
BLANK = "_____"
"""Stands in a text where an answer is missing."""
HTML = "html"

_LINE_END = re.compile(r"\r\n?|\n")
"""Other characters at which Python ends a line stay: texts from slides and pages hold U+000B and U+2028."""
_SPECIAL = re.compile(r"[\\~=#{}:]")
_ESCAPED = re.compile(r"\\([\\~=#{}:n])")
"""What Moodle takes for an escape. Before other characters a backslash stays: `\\frac` is LaTeX."""
_END_OR_LATEX = re.compile(r"(?<!\\)\\n(?:eq|abla|ot|otin)\b")
"""LaTeX of which Moodle takes the beginning for the end of a line."""
_TITLE = re.compile(r"\s*+::((?:\\.|[^\\:]|:(?!:))*+)::", re.DOTALL)
_FORM = re.compile(r"\s*+\[(html|moodle|plain|markdown)\]", re.IGNORECASE)
_OUTSIDE_BRACES = re.compile(r"(?:\\.|[^\\{}])*+", re.DOTALL)
_ANSWER = re.compile(r"([=~])((?:\\.|[^\\=~])*+)", re.DOTALL)
_BEFORE_FEEDBACK = re.compile(r"(?:\\.|[^\\#])*+", re.DOTALL)
_BEFORE_GENERAL = re.compile(r"(?:\\.|[^\\#]|#(?!###))*+", re.DOTALL)
_WEIGHT = re.compile(r"\s*+%(-?[0-9]{1,3}(?:\.[0-9]{0,30})?)%")
_WILDCARD = re.compile(r"(?<!\\)\*")
_TAG = re.compile(r"\[(?:tag|id):")
"""Begins a tag or a number of a question, which Moodle reads in the comment before it."""
_NUMBER = re.compile(
    r"([-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?)\s*+(?::\s*+(?:0{1,30}(?:\.0{1,30})?|\.0{1,30}))?"
)
"""A number without a tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiftQuiz:
    """A quiz as it was read.

    `left_out` names each thing in the file that is not in it, since a quiz has no place for it.
    """

    quiz: Quiz
    left_out: tuple[str, ...]


class GiftEntriesError(InputError):
    """Entries of a GIFT file are not questions that a quiz can hold. With `leave_out` they are left out instead."""


class GiftFaultError(Exception):
    """A question that is not read; the message says why, as the end of a sentence."""


def write_gift(quiz: Quiz) -> str:
    """The quiz as GIFT. Raises `InputError` for a question without a key.

    GIFT has no place for passages, targets and readings, so they are left out.
    """
    return "\n\n".join(_written(question) for question in keyed(quiz)) + "\n"


def read_gift(text: str, *, leave_out: bool = False) -> GiftQuiz:
    """The quiz in a GIFT file.

    Raises `GiftEntriesError` for a question that no quiz can have: an essay, a matching question, a number with a
    tolerance, a question without a right answer. The error names its line. With `leave_out` such questions are left out
    and named in the result. Raises `InputError` if there is no question left, or if the quiz is not valid as a whole.
    """
    questions: list[Question] = []
    faults: list[str] = []
    left_out: list[str] = []
    taken: set[str] = set()
    number = 0
    for line, block in _blocks(text, left_out):
        try:
            fields, lost = _read(block)
            question = Question.model_validate({**fields, "id": fields["id"] or UNTITLED})
        except (GiftFaultError, ValidationError) as error:
            fault = fault_sentence(first_fault(error)) if isinstance(error, ValidationError) else error
            (left_out if leave_out else faults).append(f"line {line}: {fault}")
            continue
        if not fields["id"] or question.id in taken:
            number = max(number, len(taken)) + 1  # smaller numbers are taken, and are not tried again
            while str(number) in taken:
                number += 1
            question = question.model_copy(update={"id": str(number)})
        taken.add(question.id)
        questions.append(question)
        left_out += [f"line {line}: {what}" for what in lost]
    if faults:
        raise GiftEntriesError(_listed(faults))
    if not questions:
        none = "There are no questions"
        raise InputError(f"{none} of a quiz in it. Left out: {_listed(left_out)}" if left_out else f"{none} in it.")
    try:
        return GiftQuiz(quiz=Quiz.model_validate({"questions": questions}), left_out=tuple(left_out))
    except ValidationError as error:
        raise InputError(f"{fault_sentence(first_fault(error))}.") from None


def _listed(told: Sequence[str]) -> str:
    more = f"; and {len(told) - MAX_LISTED_FAULTS} more" if len(told) > MAX_LISTED_FAULTS else ""
    return f"{'; '.join(told[:MAX_LISTED_FAULTS])}{more}."


def _written(question: Question) -> str:
    right = right_choices(question)
    match question.kind:
        case "true_false":
            lines = [question.answers[0].upper()]
        case "fill_in_the_blank":
            if any("->" in answer for answer in question.answers):
                raise InputError(
                    f"Question {question.id} has an answer with ->, which GIFT takes for a match.", where=question.id
                )
            lines = [f"=%100%{_part(literal(answer))}" for answer in question.answers]
        case "single_choice":
            if any(one.lstrip().startswith("%") for one in question.choices):
                raise InputError(
                    f"Question {question.id} has a choice that begins with %, which GIFT takes for a share.",
                    where=question.id,
                )
            if len(right) == len(question.choices):
                raise InputError(
                    f"Question {question.id} has no wrong choice, and GIFT takes it for one that is typed.",
                    where=question.id,
                )
            lines = [f"{'=' if one in right else '~'}{_part(one)}" for one in question.choices]
        case "multiple_choice":
            share = share_of(question)
            lines = [f"~%{share if choice in right else -100}%{_part(choice)}" for choice in question.choices]
    if question.explanation:
        lines.append(f"####{_part(question.explanation)}")
    body = "\n".join(f"  {line}" for line in lines)
    return f"::{_escaped(question.id)}::[plain]{_escaped(question.question_text)}{{\n{body}\n}}"


def _part(text: str) -> str:
    """An answer or a feedback: one that begins with a bracket says its form, or its own beginning would (`[html]`)."""
    return f"{'[plain]' if text.lstrip().startswith('[') else ''}{_escaped(text)}"


def _escaped(text: str) -> str:
    escaped = _SPECIAL.sub(lambda found: f"\\{found[0]}", text.replace("\r\n", "\n").replace("\r", "\n"))
    return escaped.replace("\n", "\\n")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text).strip()


def _blocks(text: str, left_out: list[str]) -> Iterator[tuple[int, str]]:
    """Each question with the number of its first line, without comments, and without what is added to `left_out`."""
    begun, lines = 1, list[str]()
    for number, line in enumerate((*_LINE_END.split(text.removeprefix("\ufeff")), ""), start=1):
        stripped = line.strip()
        if stripped.startswith(("//", "$CATEGORY:")):
            if stripped.startswith("$"):
                left_out.append(f"line {number}: the category of the questions")
            elif _TAG.search(stripped):
                left_out.append(f"line {number}: the tags of a question")
            continue
        if stripped:
            begun = begun if lines else number
            lines.append(line)
        elif lines:
            yield begun, "\n".join(lines)
            lines = []


def _read(block: str) -> tuple[dict[str, Any], list[str]]:
    """The fields of a question, with "" as its id if it has no title; and what of it has no place in a quiz."""
    if block.lstrip().startswith("```") or block.rstrip().endswith("\n```"):
        raise GiftFaultError("a line of ``` is Markdown around the questions; take such lines out")
    at, title = 0, ""
    if found := _TITLE.match(block):
        at, title = found.end(), _unescaped(found[1])
    form = _FORM.match(block, at)
    at = form.end() if form else at
    asked = _OUTSIDE_BRACES.match(block, at)
    inside = _OUTSIDE_BRACES.match(block, asked.end() + 1) if asked and block.startswith("{", asked.end()) else None
    if asked is None or inside is None or inside.end() >= len(block):
        raise GiftFaultError("there are no answers in braces")
    rest = block[inside.end() + 1 :]
    if block[inside.end()] != "}" or _OUTSIDE_BRACES.fullmatch(rest) is None:
        raise GiftFaultError(
            "there are answers in braces twice; a blank line ends a question, and \\{ and \\} are braces of a text"
        )
    if latex := _END_OR_LATEX.search(block):
        raise GiftFaultError(f"it has {latex[0]}, whose \\n ends a line in GIFT; write \\{latex[0]}")
    unsaid: set[str] = set()

    def said(text: str, form: re.Match[str] | None) -> str:
        """How a text of a form, as `[html]` before it says, is read; a plain one where nothing is said."""
        if form is None or form[1].lower() != HTML:
            return _unescaped(text)
        found = shown(_unescaped(text))
        unsaid.update(found.unsaid)
        return found.text

    def part(text: str) -> str:
        own = _FORM.match(text)
        return said(text[own.end() :], own) if own else said(text, form)

    text = said(f"{asked[0]}{BLANK}{rest}" if rest.strip() else asked[0], form)
    answers, feedback = _split_feedback(inside[0])
    fields, lost = _answered(answers.strip(), part)
    explanation = {"explanation": part(feedback)} if feedback.strip() else {}
    if FORMULA in unsaid:
        raise GiftFaultError("it has a formula in MathML, which is not read; write it as TeX or as text")
    lost += ["a picture or sound"] * bool(unsaid)
    return {"id": title[:128], "question_text": text, **fields, **explanation}, lost


def _split_feedback(inside: str) -> tuple[str, str]:
    """The answers, and the feedback on the whole question."""
    found = _BEFORE_GENERAL.match(inside)
    end = len(inside) if found is None else found.end()
    return inside[:end], inside[end + 4 :]


def _answered(answers: str, read: Any) -> tuple[dict[str, Any], list[str]]:
    """Kind, choices and key of a question, and what is left out of them."""
    if not answers:
        raise GiftFaultError("an essay has no key, so it is no question of a quiz")
    bare = _plain(answers)
    if bare.upper() in ("T", "F", "TRUE", "FALSE"):
        lost = ["the feedback on an answer"] if bare != answers else []
        return {"kind": "true_false", "answers": ("true" if bare.upper().startswith("T") else "false",)}, lost
    numeric = answers.startswith("#")
    if numeric:
        answers = answers[1:].lstrip()
        answers = answers if answers.startswith(("=", "~")) else f"={answers}"
    if _has_sign_within_text(answers):
        raise GiftFaultError("it has = both behind a space and within a text; = within a text is written \\=")
    found = [(sign, _WEIGHT.match(told), told) for sign, told in _ANSWER.findall(answers)]
    if not found or answers[0] not in "=~":
        raise GiftFaultError("its answers begin with neither = nor ~")
    texts = [read(_plain(told[weight.end() if weight else 0 :])) for _, weight, told in found]
    weights = [float(weight[1]) if weight else (100.0 if sign == "=" else 0.0) for sign, weight, _ in found]
    lost = ["the feedback on an answer"] if any(_plain(told) != told.strip() for _, _, told in found) else []
    several = all(sign == "~" for sign, _, _ in found) and max(weights) > 0
    right, lessened = _marked(weights, several=several)
    lost += lessened
    if numeric or all(sign == "=" for sign, _, _ in found):
        return {"kind": "fill_in_the_blank", "answers": _some(_typed(texts, right, numeric=numeric))}, lost
    if len(set(texts)) != len(texts) or not all(texts):
        raise GiftFaultError("two of its choices show the same, or one shows nothing")
    kind = "multiple_choice" if several else "single_choice"
    return {"kind": kind, "choices": tuple(texts), "answers": _some(tuple(texts[place] for place in right))}, lost


def _has_sign_within_text(answers: str) -> bool:
    """Whether an = that begins an answer may be meant as a part of a text: others have a space before them."""
    signs = [found for found in _ANSWER.finditer(answers) if found[1] == "=" and (found.start() or "~" in answers)]
    return len({found.start() == 0 or answers[found.start() - 1].isspace() for found in signs}) > 1


def _marked(weights: Sequence[float], *, several: bool) -> tuple[list[int], list[str]]:
    """The places of the right answers, and what no key says of their marks.

    Where `several` are to be chosen, shares that only together are a whole are all right.
    """
    least = 0.0 if several and max(weights) < WHOLE else WHOLE
    right = [place for place, weight in enumerate(weights) if weight > 0 and weight >= least]
    shares = [weights[place] for place in right]
    lost = ["an answer that is right in part"] * any(0 < weight < least for weight in weights)
    lost += ["the shares of its right answers, which differ"] * (
        max(shares, default=0) - min(shares, default=0) > ROUNDING
    )
    share = WHOLE if several else inf
    lost += ["what a wrong answer takes away"] * any(-share < weight < 0 for weight in weights)
    return right, lost


def _typed(texts: Sequence[str], right: Sequence[int], *, numeric: bool) -> tuple[str, ...]:
    """The key of a question that is answered by typing. Of the answers that fit, Moodle takes the first."""
    if numeric:
        numbers = [_NUMBER.fullmatch(texts[place]) for place in right]
        if not all(numbers):
            raise GiftFaultError("a number with a tolerance, or none at all, is no question of a quiz")
        return tuple(one[1] for one in numbers if one)
    if any("->" in text for text in texts):
        raise GiftFaultError("a matching question is no question of a quiz")
    if any(map(_WILDCARD.search, texts[: max(right, default=-1) + 1])):
        raise GiftFaultError("an answer with * stands for any text there, which no key of a quiz does")
    return tuple(texts[place].replace("\\*", "*") for place in right)


def _some(right: tuple[str, ...]) -> tuple[str, ...]:
    if not right:
        raise GiftFaultError("it has no right answer")
    if not all(right):
        raise GiftFaultError("a right answer shows nothing")
    return right


def _plain(answer: str) -> str:
    """An answer without its feedback."""
    found = _BEFORE_FEEDBACK.match(answer)
    return (found[0] if found else answer).strip()
