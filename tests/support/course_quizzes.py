"""What several tests of the quizzes share: a course of our own, questions on it, and what judges reply."""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.material import Question, Quiz
from touchstone.quizzes.curriculum import Chapter, Curriculum
from touchstone.quizzes.learner import LearnerProfile

CHAPTERS: list[dict[str, Any]] = [
    {
        "id": "1",
        "title": "認識朋友",
        "vocabulary": [
            {"hanzi": "朋友", "pinyin": "péngyǒu", "meanings": {"en": "friend"}},
            {"hanzi": "名字", "pinyin": "míngzi", "meanings": {"en": "name"}},
        ],
        "grammar": [{"pattern": "……嗎", "explanation": "Turns a statement into a question."}],
    },
    {
        "id": "2",
        "title": "去圖書館",
        "vocabulary": [
            {"hanzi": "學習", "pinyin": "xuéxí", "meanings": {"en": "to study"}},
            {"hanzi": "圖書館", "pinyin": "túshūguǎn", "meanings": {"en": "library"}},
            {"hanzi": "銀行", "pinyin": "yínháng", "meanings": {"en": "bank"}},
        ],
        "grammar": [
            {"pattern": "因為……所以……", "explanation": "Cause and effect.", "examples": ["因為下雨，所以我在家。"]}
        ],
    },
    {
        "id": "3",
        "title": "吃飯",
        "vocabulary": [{"hanzi": "餐廳", "pinyin": "cāntīng", "meanings": {"en": "restaurant"}}],
    },
]
CURRICULUM = Curriculum.model_validate({"id": "our-course", "title": "Our course", "chapters": CHAPTERS})
CHAPTER: Chapter = CURRICULUM.chapter("2")
LEARNER = LearnerProfile.model_validate(
    {
        "id": "mei",
        "ui_language": "en",
        "weak_points": [
            {"item": "銀行", "error_rate": 0.6, "seen": 5},
            {"item": "朋友", "error_rate": 0.2, "seen": 5},
            {"item": "餐廳", "error_rate": 0.9, "seen": 2},
        ],
    }
)
QUESTION: Mapping[str, Any] = {
    "id": "q1",
    "kind": "single_choice",
    "question_text": "What does 「學習」 mean?",
    "choices": ["to study", "library", "bank"],
    "answers": ["to study"],
    "target": "學習",
}


def question(**changed: Any) -> Question:
    """A question without a fault, but for what is changed."""
    return Question.model_validate({**QUESTION, **changed})


def quiz(*changed: Mapping[str, Any]) -> Quiz:
    """A quiz of such questions, numbered from q1; without any arguments, of one."""
    return Quiz(
        questions=tuple(question(**{"id": f"q{at}", **one}) for at, one in enumerate(changed or ({},), start=1))
    )


def made(*changed: Mapping[str, Any]) -> dict[str, Any]:
    """A generator's reply with such questions; without any arguments, with two."""
    return {"questions": [_new(**one) for one in changed or ({}, {"question_text": "What is 「學習」 in English?"})]}


def _new(**changed: Any) -> dict[str, Any]:
    told = {"explanation": None, "readings": [], **QUESTION, **changed}
    return {name: told[name] for name in told if name != "id"}


def evaluated(*violations: Sequence[Mapping[str, Any]], questions: int = 2) -> dict[str, Any]:
    """An evaluator's reply: the violations of each question in order; those that are not given have none."""
    found = [*violations, *([()] * (questions - len(violations)))]
    return {
        "questions": [
            {"number": number, "violations": list(told), "verdict": "FLAWED" if told else "SOUND"}
            for number, told in enumerate(found, start=1)
        ]
    }


def flaw(rule: str = "pedagogical_quality", **changed: Any) -> dict[str, Any]:
    """One violation in an evaluator's reply."""
    told = {"rule": rule, "detail": "All distractors are obviously wrong.", "suggestion": "Offer 「練習」 as a choice."}
    return {**told, **changed}
