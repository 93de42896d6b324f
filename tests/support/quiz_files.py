"""Quizzes in files, right and wrong."""

import json
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).parents[2] / "events"
CLEAN, FAULTY = EVENTS / "quiz_chapter.json", EVENTS / "quiz_faults.json"


def question(**changes: Any) -> dict[str, Any]:
    """A question without a fault."""
    return {
        "id": "q1",
        "kind": "single_choice",
        "question_text": "What does 「學習」 mean?",
        "choices": ["to study", "to rest"],
        "answers": ["to study"],
        **changes,
    }


def quiz(*questions: dict[str, Any], **options: Any) -> str:
    """A quiz as a file holds it."""
    return json.dumps({"questions": questions or (question(),)}, **{"ensure_ascii": False, **options})


def curriculum(**chapter: Any) -> str:
    """A course of two chapters as a file holds it."""
    chapters = [
        {"id": "1", "title": "Hello", "vocabulary": [{"hanzi": "你好", "pinyin": "nǐ hǎo"}]},
        {"id": "2", "title": "School", "vocabulary": [{"hanzi": "學習"}, {"hanzi": "圖書館"}], **chapter},
    ]
    return json.dumps({"id": "ours", "title": "Chinese", "chapters": chapters}, ensure_ascii=False)
