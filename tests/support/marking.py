"""A judge of quizzes for tests: it finds in the material what it is to say of it.

A part of a quiz that is to be found wanting says so: a question that is `(ambiguous)`, a distractor that is `(absurd)`,
an answer that is `(wrong)`, as every distractor should be. A concept is tested by the questions that name it. Of two
quizzes the one with fewer flaws is preferred, and of two that have as many neither.
"""

import re
from typing import Any

from tests.support.wire import Asked

AMBIGUOUS, ABSURD, WRONG = "(ambiguous)", "(absurd)", "(wrong)"
FLAWS = (AMBIGUOUS, ABSURD)
_PART = re.compile(
    r"^(Question|Answer|Distractor|Concept) (\d+):\n⟦data \w+⟧\n(.*?)\n⟦end \w+⟧$", re.DOTALL | re.MULTILINE
)
_FENCED = re.compile(r"⟦data \w+⟧\n(.*?)\n⟦end \w+⟧", re.DOTALL)
_STATEMENT = re.compile(r"^The statement:\n⟦data \w+⟧\n(.*?)\n⟦end \w+⟧$", re.DOTALL | re.MULTILINE)


def reply(asked: Asked) -> Any:
    """What the judge says to a question about a quiz; None for any other question."""
    match asked.title:
        case "ClarityReply":
            return {"questions": [_clarity(number, text) for number, text in _parts(asked, "Question")]}
        case "DistractorsReply":
            return {"distractors": [_distractor(number, text) for number, text in _parts(asked, "Distractor")]}
        case "AnswersReply":
            statement = _STATEMENT.search(asked.prompt)
            answers = [(1, statement[1])] if statement else _parts(asked, "Answer")
            return {"answers": [_answer(number, text) for number, text in answers]}
        case "DepthReply":
            questions = _parts(asked, "Question")
            return {"concepts": [_depth(number, text, questions) for number, text in _parts(asked, "Concept")]}
        case "PreferenceReply":
            return _preference(*_FENCED.findall(asked.prompt)[-2:])
        case _:
            return None


def _parts(asked: Asked, noun: str) -> list[tuple[int, str]]:
    """The numbered parts of a prompt that are called so."""
    return [(int(number), text) for found, number, text in _PART.findall(asked.prompt) if found == noun]


def _clarity(number: int, text: str) -> dict[str, Any]:
    clear = AMBIGUOUS not in text
    return {
        "number": number,
        "reason": "There is one way to read it." if clear else "It can be read in two ways.",
        "label": "CLEAR" if clear else "AMBIGUOUS",
        "confidence": 0.9,
        "suggestion": None if clear else "Say which of the two is meant.",
    }


def _distractor(number: int, text: str) -> dict[str, Any]:
    plausible = ABSURD not in text
    return {
        "number": number,
        "reason": "Who did not study would take it." if plausible else "Nobody would choose it.",
        "label": "PLAUSIBLE" if plausible else "ABSURD",
        "confidence": 0.9,
        "suggestion": None if plausible else f"A neighbour of number {number}",
    }


def _answer(number: int, text: str) -> dict[str, Any]:
    verdict = "WRONG" if WRONG in text else "RIGHT"
    return {"number": number, "evidence": None, "reason": "Everybody knows.", "verdict": verdict, "confidence": 0.9}


def _depth(number: int, concept: str, questions: list[tuple[int, str]]) -> dict[str, Any]:
    tested = [place for place, text in questions if concept.lower() in text.lower()]
    return {
        "number": number,
        "tested_by": tested,
        "reason": "It is asked for by name." if tested else "Nothing is about it.",
        "depth": 2 if tested else 0,
        "suggestion": None if tested else "Ask for its name.",
    }


def _preference(first: str, second: str) -> dict[str, Any]:
    flaws = [sum(text.count(flaw) for flaw in FLAWS) for text in (first, second)]
    verdict = "TIE" if flaws[0] == flaws[1] else "FIRST" if flaws[0] < flaws[1] else "SECOND"
    return {
        "reason": "It has fewer flaws." if verdict != "TIE" else "Neither has more flaws.",
        "evidence_first": first.splitlines()[0],
        "evidence_second": second.splitlines()[0],
        "verdict": verdict,
    }
