"""A quiz about three concepts, and what a judge says of how deeply it deals with them."""

from typing import Any

from touchstone.material import Pillar, Question, Quiz, Source

PILLARS = Source(
    pillars=(
        Pillar(concept="Osmosis", chunks=("Water moves through a membrane.",), weight=2.0),
        Pillar(concept="Diffusion"),
        Pillar(concept="Active transport"),
    )
)


def quiz(questions: int = 2, stem: str = "What moves in case {}?") -> Quiz:
    return Quiz(
        questions=tuple(
            Question(
                id=f"q{number}",
                kind="single_choice",
                question_text=stem.format(number),
                choices=("Water", "Salt"),
                answers=("Water",),
            )
            for number in range(1, questions + 1)
        )
    )


def depth(number: int, depth: int, tested_by: list[int] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "tested_by": tested_by if tested_by is not None else [1] * (depth > 0),
        "reason": "It asks so.",
        "depth": depth,
        "suggestion": "Ask why it moves." if depth < 2 else None,
    } | changes


def said(*depths: int) -> dict[str, Any]:
    return {"concepts": [depth(number, one) for number, one in enumerate(depths, start=1)]}
