"""What all forms of exchange need of a quiz: a key that can be marked. For cards, a quiz is made of them."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from touchstone.errors import InputError
from touchstone.material.items import MAX_QUESTIONS, Deck, Question, Quiz, truth_value
from touchstone.text.latex import LOST_BACKSLASH

MOST_SHARES = 10
"""Among how many right choices Moodle parts a mark: it knows no share of 1/11 (`question_bank::fraction_options`)."""
MORE_SHARES = frozenset({20})
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can give a file."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML text may hold."""


def keyed(quiz: Quiz) -> Iterator[Question]:
    """The questions, each with a key of answers that a tool can mark: of a true-or-false question, `true` or `false`.

    Blank answers are left out. Raises `InputError` if a key does not mark its question, or marks only a part of it, or
    has lost the backslash of LaTeX: a tool would grade right answers as wrong.
    """
    for question in quiz.questions:
        answers = tuple(answer for answer in question.answers if answer.strip())
        outside = [answer for answer in answers if question.chosen and answer not in question.choices]
        truths = {truth_value(answer) for answer in answers}
        texts = (question.question_text, *question.choices, *answers)
        if (lost := next(filter(None, map(LOST_BACKSLASH.search, texts)), None)) is not None:
            raise InputError(
                f"Question {question.id} has LaTeX that lost its backslash (“{lost[0][1:]}”): in JSON it is two.",
                where=question.id,
            )
        if not answers:
            raise _unmarked(question, "it names no answer")
        if outside:
            raise _unmarked(question, f"“{outside[0]}” is none of its choices")
        if question.kind == "true_false":
            if len(truths) > 1 or None in truths:
                raise _unmarked(question, "it must be true or false")
            answers = ("true" if True in truths else "false",)
        yield question.model_copy(update={"answers": answers})


def _unmarked(question: Question, why: str) -> InputError:
    return InputError(f"Question {question.id} has no key that can be marked: {why}.", where=question.id)


def right_choices(question: Question) -> tuple[str, ...]:
    """The choices that are in the question's key, in their order."""
    return tuple(choice for choice in question.choices if choice in question.answers)


def share_of(question: Question) -> str:
    """The share of each right choice, in percent, where all together are a whole.

    Raises `InputError` for a share that Moodle does not know: it would import nothing of the file.
    """
    number = len(right_choices(question))
    if number > MOST_SHARES and number not in MORE_SHARES:
        raise InputError(
            f"Question {question.id} has {number} right choices, and Moodle parts a mark among {MOST_SHARES} at most: "
            "make two questions of it.",
            where=question.id,
        )
    return f"{100 / number:.5f}".rstrip("0").rstrip(".")


def literal(answer: str) -> str:
    """An answer that is typed, with each `*` escaped: Moodle would take it for any text."""
    return answer.replace("*", r"\*")


def for_xml(text: str) -> str:
    """The text without the control characters that XML cannot hold; U+FFFD stands in their place."""
    return _NOT_XML.sub("\ufffd", text)


def as_document(root: ET.Element) -> bytes:
    """A document of XML in UTF-8, indented."""
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of these files, all of the same date, so that the same content gives the same zip, byte for byte."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files:
            package.writestr(zipfile.ZipInfo(name, FIRST_DAY), data)
    return held.getvalue()


def quiz_of_cards(deck: Deck) -> Quiz:
    """A question for each card, answered by typing. Raises `InputError` if a quiz cannot have so many questions.

    `touchstone.material.exchange.anki.cards_of_quiz` makes the same cards of the quiz again, without their passages.
    """
    if len(deck.cards) > MAX_QUESTIONS:
        raise InputError(
            f"There are {len(deck.cards):,} cards, and a quiz has {MAX_QUESTIONS:,} questions at most: take the cards "
            "in parts, or write them for Anki."
        )
    return Quiz(
        questions=tuple(
            Question(id=card.id, kind="fill_in_the_blank", question_text=card.front, answers=(card.back,))
            for card in deck.cards
        )
    )
