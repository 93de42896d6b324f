"""A quiz of plain questions, and what a judge says of how clear they are."""

from typing import Any

from touchstone.material import Question, Quiz


def quiz(questions: int) -> Quiz:
    return Quiz(
        questions=tuple(
            Question(id=f"q{number}", kind="true_false", question_text=f"Is {number} even?", answers=("true",))
            for number in range(1, questions + 1)
        )
    )


def said(*labels: str) -> dict[str, Any]:
    return {
        "questions": [
            {
                "number": number,
                "reason": "It reads so.",
                "label": label,
                "confidence": 0.9,
                "suggestion": None if label == "CLEAR" else "Say which.",
            }
            for number, label in enumerate(labels, start=1)
        ]
    }
