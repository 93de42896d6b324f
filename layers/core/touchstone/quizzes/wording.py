"""The language in which a judge is asked, and the form in which questions are shown to the judge."""

import json
from typing import Any

from touchstone.material import Question
from touchstone.text.language import Language


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
