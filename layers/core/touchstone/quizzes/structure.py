"""VALIDATE_STRUCTURE: what is wrong with a quiz as an exercise, whatever its language and level. No model, no tables.

Findings, by their word:

- of the key: `no_answer`, `key_outside_choices`, `not_one_answer`, `all_right`, `not_a_truth_value`,
  `key_contradicted`;
- of the choices: `too_few_choices`, `duplicate_choices`, `blank_choice`, `unwanted_choices`;
- of any text: `markup`, `leftover`, `lost_backslash`, `mixed_scripts`, `unseen_characters`, `unreadable_characters`;
- of what was asked for: `question_count`, `unwanted_kind`, `no_target`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from touchstone.material import Question, Quiz
from touchstone.material.choices import comparing, to_the_letter, unmarked
from touchstone.material.items import truth_value
from touchstone.packaged import own_patterns
from touchstone.quizzes.model import QuizRequest, Violation
from touchstone.quizzes.texts import LocatedText, places_of
from touchstone.text.latex import LOST_BACKSLASH

LEAST_CHOICES = 2
SHOWN_CHARS = 60
"""How many characters of a text a finding repeats."""
_MARKUP = re.compile(
    r"</?[A-Za-z][^<>]*>|<!--|&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});"
    r"|\*\*[^*\n]{1,400}\*\*|\[[^\[\]\n]{1,200}\]\([^()\n]{1,400}\)"
)
"""Tags, comments and entities of HTML; strong text and links of Markdown. `a < b` and `R&D` are text."""
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]{2,}")
_LATIN = re.compile(r"[A-Za-z]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_GREEK_LOOKALIKE = re.compile(r"[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχ]")
MOST_IN_A_TEXT = 5
"""The most faults of one kind that are named in one text. More of them say nothing new."""
LEAST_GREEK_MIX = 3
"""The least letters of a word in which a Greek letter is an impostor: hν and kΩ are physics."""
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Characters that are letters by their category, and show nothing."""
_JOINERS = frozenset("\u200c\u200d")
"""Joiners. They are written in Persian and Hindi, and inside emoji; between Latin letters or Han characters they only
hide."""
_LAYOUT = frozenset("\t\n\r")
_LEFTOVER = re.compile(
    r"\[\s*insert (?:your [^\[\]\n]{1,200}|[^\[\]\n]{1,200} here\s*)\]|\blorem ipsum dolor\b|^\s*(?-i:TODO):"
    r"|\bas an AI (?:language )?(?:model|assistant),? I\b"
    r"|^\s*(?:sure[!,.] )?here(?:[’']s| is| are) your (?:quiz|questions?)\b"
    r"|\(correct answer(?:: ?[^()\n]{1,200})?\)",
    re.IGNORECASE,
)
"""What is left of a template, what a model says of itself or to who asked it, and marks of the key."""
_SAID = own_patterns(__file__)
"""What an explanation says of the key: see the notes of the file."""
_NAMED_CHARS = 200
"""How many characters behind such words may name a choice."""
_NAMED_LETTER = re.compile(r"[(（]?([A-H])(?=[)）]|\s*(?:[.,;:(（。，；：、]|(?:because|since)\b|$))")
_STOP = re.compile(r"[\n;:(（。，；：、]|[.,!?](?=\s|$)")
_SINGLE_LETTER = re.compile(r"(?<![A-Z])[A-H](?![A-Z])")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])(?!\d)")


def validate_structure(quiz: Quiz, request: QuizRequest | None = None) -> tuple[Violation, ...]:
    """All faults of structure, question by question. With a `request`, also all differences from what was asked for.

    The rules need no model: a quiz of 50 questions takes less than 10 ms.
    """
    return tuple(_violations(quiz, request))


def _violations(quiz: Quiz, request: QuizRequest | None) -> Iterator[Violation]:
    if request is not None and len(quiz.questions) != request.questions:
        yield _violation(
            None,
            "question_count",
            f"The quiz has {len(quiz.questions)} questions; {request.questions} were asked for.",
            suggestion=f"Write exactly {request.questions} questions.",
        )
    for question in quiz.questions:
        yield from _in_key(question)
        yield from _in_choices(question)
        for place in places_of(question):
            yield from _in_text(question.id, place)
        if request is not None:
            yield from _against(question, request)


def _in_key(question: Question) -> Iterator[Violation]:
    answers = [answer for answer in question.answers if answer.strip()]
    if not answers:
        yield _violation(
            question.id,
            "no_answer",
            "The question has no correct answer.",
            field="answers",
            suggestion=_KEYS[question.kind],
        )
    elif question.kind == "true_false":
        yield from _in_truth(question, answers)
    elif question.chosen:
        yield from _in_chosen(question, answers)


def _in_truth(question: Question, answers: list[str]) -> Iterator[Violation]:
    truths = {truth_value(answer) for answer in answers}
    if truths not in ({True}, {False}):
        yield _violation(
            question.id,
            "not_a_truth_value",
            f"The key of a true-or-false question is {_quoted(answers[0])}, neither true nor false."
            if len(answers) == 1
            else "The key of a true-or-false question does not say one of true and false.",
            field="answers",
            suggestion=_KEYS["true_false"],
        )


def _in_chosen(question: Question, answers: list[str]) -> Iterator[Violation]:
    form = comparing(question.choices, question.question_text)
    choices = [form(choice) for choice in question.choices]
    right = {form(answer) for answer in answers}
    for at, answer in enumerate(question.answers):
        if answer.strip() and form(answer) not in choices:
            yield _violation(
                question.id,
                "key_outside_choices",
                f"The answer {_quoted(answer)} is none of the choices.",
                field=f"answers[{at}]",
                suggestion=_meant(question, answer),
            )
    if question.kind == "single_choice" and len(right) > 1:
        yield _violation(
            question.id, "not_one_answer", f"A single-choice question has {len(right)} answers.", field="answers"
        )
    if question.kind == "single_choice" and right.intersection(choices):
        called = _called(question, choices, form)
        if called is not None and choices[called] not in right:
            yield _violation(
                question.id,
                "key_contradicted",
                f"The explanation calls {_quoted(question.choices[called])} right, which is not the key.",
                field="explanation",
            )
    if question.kind == "multiple_choice" and len(set(choices)) >= LEAST_CHOICES and right.issuperset(choices):
        yield _violation(
            question.id, "all_right", "Every choice is right, so that there is nothing to choose.", field="answers"
        )


def _called(question: Question, forms: list[str], form: Callable[[str], str]) -> int | None:
    """The place of the one choice that the explanation of a question calls right, by its letter or in its words.

    None if it calls none or several so, or only where `reported` words stand, or by a letter that is part of a choice
    (Group B). `forms` are the choices as they are compared, by `form`.
    """
    asks_for_the_false = _SAID["asks for the false"].search(question.question_text) is not None
    letters = set[str]()
    places = set[int]()
    for sentence, following in pairwise([*_SENTENCE_END.split(question.explanation or ""), ""]):
        letters.update(_SAID["concludes"].findall(sentence))
        if _SAID["reported"].search(sentence):
            continue
        called = () if asks_for_the_false else _SAID["called"].finditer(sentence)
        named = {letter for found in called for letter in found.groups() if letter}
        worded = set[int]()
        for found in _SAID["calls"].finditer(sentence):
            behind = sentence[found.end() : found.end() + _NAMED_CHARS]
            if letter := _NAMED_LETTER.match(behind):
                named.add(letter[1])
            elif (words := form(_STOP.split(behind, maxsplit=1)[0])) and words in forms:
                worded.add(forms.index(words))
        of_others = _SAID["others"].match(following) and named.isdisjoint(_SINGLE_LETTER.findall(following))
        if of_others or not _SAID["taken back"].search(following):
            letters |= named
            places |= worded
    texts = unmarked([to_the_letter(choice).upper() for choice in question.choices])
    if any(letter in _SINGLE_LETTER.findall(text) for letter in letters for text in texts):
        return None
    places.update(ord(letter) - ord("A") for letter in letters)
    return places.pop() if len(places) == 1 and max(places) < len(forms) else None


def _in_choices(question: Question) -> Iterator[Violation]:
    if not question.chosen:
        if question.choices and not _is_true_and_false(question):
            yield _violation(
                question.id, "unwanted_choices", f"A {question.kind} question has choices.", field="choices"
            )
        return
    form = comparing(question.choices, question.question_text)
    forms = [form(choice) for choice in question.choices]
    if len({choice for choice in forms if choice}) < LEAST_CHOICES:
        yield _violation(question.id, "too_few_choices", "There are fewer than two different choices.", field="choices")
    for at, choice in enumerate(forms):
        field = f"choices[{at}]"
        if not choice:
            yield _violation(question.id, "blank_choice", "The choice is blank.", field=field)
        elif (first := forms.index(choice)) < at:
            detail = f"The choice says the same as choices[{first}]: {_quoted(question.choices[at])}."
            yield _violation(question.id, "duplicate_choices", detail, field=field)


def _in_text(question_id: str, place: LocatedText) -> Iterator[Violation]:
    text = place.text
    if "<" in text or "&" in text or "*" in text or "](" in text:
        for found in islice(_MARKUP.finditer(text), MOST_IN_A_TEXT):
            detail = f"The text holds markup: {_quoted(found[0])}."
            yield _in_place(question_id, place, found.span(), "markup", detail)
    for found in islice(_LEFTOVER.finditer(text), MOST_IN_A_TEXT):
        detail = f"The text holds what is left of a template or a model's own words: {_quoted(found[0])}."
        yield _in_place(question_id, place, found.span(), "leftover", detail)
    if not text.isascii():
        yield from islice(_mixed(question_id, place), MOST_IN_A_TEXT)
    if not text.isprintable() or not _FILLERS.isdisjoint(text) or "\ufffd" in text:
        yield from islice(_unseen(question_id, place), MOST_IN_A_TEXT)


def _mixed(question_id: str, place: LocatedText) -> Iterator[Violation]:
    for found in _WORD.finditer(place.text):
        word = found[0]
        impostor = _CYRILLIC.search(word) or (len(word) >= LEAST_GREEK_MIX and _GREEK_LOOKALIKE.search(word))
        if impostor and _LATIN.search(word):
            detail = f"The word {_quoted(word)} mixes letters of different scripts that look alike."
            yield _in_place(question_id, place, found.span(), "mixed_scripts", detail)


def _unseen(question_id: str, place: LocatedText) -> Iterator[Violation]:
    text = place.text
    for at, character in enumerate(text):
        category = unicodedata.category(character)
        if lost := LOST_BACKSLASH.match(text, at):
            detail = f"A command of LaTeX has lost its backslash: {_quoted(lost[0])}."
            yield _in_place(question_id, place, lost.span(), "lost_backslash", detail)
            continue
        if character in _LAYOUT or (character in _JOINERS and _joins(text, at)):
            continue
        if category in {"Cc", "Cf", "Zl", "Zp"} or character in _FILLERS:
            finding, what = "unseen_characters", "a character that nobody sees"
        elif category in {"Co", "Cs"} or character == "\ufffd":
            finding, what = "unreadable_characters", "a character that nobody can read"
        else:
            continue
        detail = f"The text holds {what}: U+{ord(character):04X}."
        yield _in_place(question_id, place, (at, at + 1), finding, detail)


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands between letters of a script that is written with it, or between emoji."""
    around = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    return all(one and not one.isascii() and not "\u2e80" <= one <= "\uffef" for one in around)


def _against(question: Question, request: QuizRequest) -> Iterator[Violation]:
    if request.kinds is not None and question.kind not in request.kinds:
        wanted = ", ".join(request.kinds)
        yield _violation(
            question.id,
            "unwanted_kind",
            f"The question is of the kind {question.kind}; asked for: {wanted}.",
            field="kind",
            suggestion=f"Ask it as one of: {wanted}.",
        )
    if question.target is None:
        yield _violation(
            question.id,
            "no_target",
            "The question does not say which word or pattern of the chapter it tests.",
            field="target",
        )


def _violation(
    question_id: str | None, finding: str, detail: str, *, field: str | None = None, suggestion: str | None = None
) -> Violation:
    """A violation. Without a `suggestion` of its own it has that of its finding."""
    return Violation(
        question_id=question_id,
        rule="structure",
        detail=detail,
        suggestion=suggestion or _SUGGESTIONS[finding],
        decided_by="check",
        field=field,
        finding=finding,
    )


def _in_place(question_id: str, place: LocatedText, span: tuple[int, int], finding: str, detail: str) -> Violation:
    return _violation(question_id, finding, detail, field=place.field).model_copy(update={"span": span})


def _meant(question: Question, answer: str) -> str | None:
    """The choice that an answer names by its letter, or without the letter before it. None if it names none."""
    unlettered = [to_the_letter(text) for text in unmarked(question.choices)]
    if to_the_letter(answer) in unlettered:
        return question.choices[unlettered.index(to_the_letter(answer))]
    letter = to_the_letter(answer).strip("()").upper()
    if len(letter) == 1 and "A" <= letter <= "Z" and (at := ord(letter) - ord("A")) < len(question.choices):
        return question.choices[at]
    return None


def _is_true_and_false(question: Question) -> bool:
    """Whether the choices of a true-or-false question only spell out true and false."""
    truths = sorted(str(truth_value(choice)) for choice in question.choices)
    return question.kind == "true_false" and truths == ["False", "True"]


def _quoted(text: str) -> str:
    """A text as a sentence quotes it: its beginning, on one line, without characters that are not seen."""
    seen = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return f"“{seen}”" if len(seen) <= SHOWN_CHARS else f"“{seen[:SHOWN_CHARS]}…”"


_KEYS = {
    "single_choice": "Name the one right choice as it is written.",
    "multiple_choice": "Name every right choice as it is written.",
    "true_false": "Say true or false.",
    "fill_in_the_blank": "Give every wording that fills the blank.",
}
"""What to write as the key of each kind of question."""

_SUGGESTIONS = {
    "key_outside_choices": "Repeat the right choice as it is written.",
    "not_one_answer": "Keep the one right answer, or make it a multiple-choice question.",
    "all_right": "Add choices that are wrong.",
    "key_contradicted": "Find out which is right, and name it by its words.",
    "unwanted_choices": "Leave the choices out, or make it a single-choice question.",
    "too_few_choices": "Offer three or four choices.",
    "blank_choice": "Fill it in.",
    "duplicate_choices": "Write another wrong answer.",
    "markup": "Write plain text.",
    "leftover": "Write the text itself.",
    "lost_backslash": "Write the command with its backslash, which is two of them in JSON.",
    "mixed_scripts": "Write it in one script.",
    "unseen_characters": "Leave it out.",
    "unreadable_characters": "Leave it out.",
    "no_target": "Name the word or pattern as the chapter writes it.",
}
"""What to do about a finding, whatever the question."""
