"""Quizzes and their source as requests hold them, for the judge of `tests.support.marking`."""

from typing import Any

from tests.support.marking import ABSURD, AMBIGUOUS, WRONG

SOURCE: dict[str, Any] = {
    "id": "capitals",
    "pillars": [
        {"concept": "Canberra", "chunks": ["Canberra is the capital of Australia."]},
        {"concept": "Ottawa", "chunks": ["Ottawa is the capital of Canada."]},
    ],
}
METRICS = ("quiz_answer_correctness", "quiz_distractor_quality", "quiz_coverage", "quiz_clarity", "quiz_item_flaws")


def question(number: int, *, ambiguous: bool = False, absurd: bool = False, asks: str = "Canberra") -> dict[str, Any]:
    """A question with one key and two distractors."""
    stem = f"What is {asks} the capital of, in list {number}?"
    return {
        "id": f"q{number}",
        "kind": "single_choice",
        "question_text": f"{stem} {AMBIGUOUS}" if ambiguous else stem,
        "choices": ["Australia", f"Austria {WRONG}", f"A teapot {WRONG} {ABSURD}" if absurd else f"Albania {WRONG}"],
        "answers": ["Australia"],
    }


def quiz(questions: int = 4, *, ambiguous: int = 0, absurd: int = 0) -> dict[str, Any]:
    """A quiz of so many questions, of which the first ones are flawed so."""
    return {
        "questions": [
            question(number, ambiguous=number <= ambiguous, absurd=number <= absurd)
            for number in range(1, questions + 1)
        ]
    }


def measurement(**changes: Any) -> dict[str, Any]:
    """A request to measure a quiz of four questions, one of them ambiguous."""
    return {"surface": "quiz", "material": quiz(ambiguous=1), "source": SOURCE} | changes


def experiment(items: int = 6, *, ambiguous: int = 2, **changes: Any) -> dict[str, Any]:
    """An experiment over so many sources with a quiz each, of which those of variant B have ambiguous questions."""
    sources = [{**SOURCE, "id": f"s{number}"} for number in range(1, items + 1)]

    def variant(name: str, flawed: int) -> dict[str, Any]:
        return {
            "name": name,
            "items": [
                {"id": f"i{number}", "source": f"s{number}", "material": _numbered(quiz(4, ambiguous=flawed), number)}
                for number in range(1, items + 1)
            ],
        }

    variants = [variant("merged_chunks", 0), variant("docling_chunks", ambiguous)]
    return {"name": "chunking", "surface": "quiz", "sources": sources, "variants": variants} | changes


def _numbered(material: dict[str, Any], item: int) -> dict[str, Any]:
    """The same quiz about something else, so that no judge has been asked about it before."""
    for one in material["questions"]:
        one["question_text"] = one["question_text"].replace("in list", f"in book {item}, list")
    return material
