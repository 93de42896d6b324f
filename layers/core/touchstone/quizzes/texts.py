"""The texts of a question: by their places, in the form that is compared, and as a judge is shown them."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from touchstone.material import Question
from touchstone.text.language import Language

HAN = r"[〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"


class LocatedText(NamedTuple):
    """A text of a question, with the path to it inside the question."""

    field: str
    text: str


def places_of(question: Question) -> Iterator[LocatedText]:
    """Every text of a question that a learner may see, in its order.

    An answer that equals a choice to the letter is left out, since the choice is there. The passage of the source is
    left out too.
    """
    yield LocatedText("question_text", question.question_text)
    yield from choices_of(question)
    yield from answers_of(question)
    if question.explanation:
        yield LocatedText("explanation", question.explanation)
    if question.target:
        yield LocatedText("target", question.target)
    for at, reading in enumerate(question.readings):
        yield LocatedText(f"readings[{at}].hanzi", reading.hanzi)
        yield LocatedText(f"readings[{at}].pinyin", reading.pinyin)


def choices_of(question: Question) -> Iterator[LocatedText]:
    """The question's choices."""
    return (LocatedText(f"choices[{at}]", choice) for at, choice in enumerate(question.choices))


def answers_of(question: Question) -> Iterator[LocatedText]:
    """The answers of the question's key that do not equal a choice to the letter."""
    for at, answer in enumerate(question.answers):
        if answer not in question.choices:
            yield LocatedText(f"answers[{at}]", answer)


def language_for(ui_language: str | None) -> Language:
    """The language in which a judge is asked about a quiz for this learner, and gives its reasons.

    None gives English.
    """
    return "zh" if ui_language is not None and ui_language.lower().split("-")[0] == "zh" else "en"


def as_json(value: Any) -> str:
    """JSON for a prompt: every text in quotation marks, so that none of them can pass for another field."""
    return json.dumps(value, ensure_ascii=False)


def question_json(question: Question, *, with_id: bool = False) -> str:
    """A question for a prompt, with all that its learner may see.

    `with_id` adds its id, for findings that name it so.
    """
    return as_json(
        {
            **({"id": question.id} if with_id else {}),
            "kind": question.kind,
            "question_text": question.question_text,
            "choices": list(question.choices),
            "answers": list(question.answers),
            "explanation": question.explanation,
            "target": question.target,
            "readings": [reading.model_dump() for reading in question.readings],
        }
    )
