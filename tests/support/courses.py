"""Curricula and learners as tenants send them; the words are our own."""

from typing import Any

CHAPTER: dict[str, Any] = {
    "id": "1",
    "title": "認識新同學",
    "vocabulary": [
        {"hanzi": "學習", "pinyin": "xuéxí", "meanings": {"en": "to study"}},
        {"hanzi": "圖書館", "pinyin": "túshūguǎn", "meanings": {"en": "library"}},
    ],
    "grammar": [{"pattern": "因為…所以…", "explanation": "because …, therefore …", "examples": []}],
}
LATER: dict[str, Any] = {
    "id": "2",
    "title": "週末去哪裡",
    "vocabulary": [{"hanzi": "公園", "pinyin": "gōngyuán", "meanings": {"en": "park"}}],
    "grammar": [],
}
CURRICULUM: dict[str, Any] = {"title": "華語第一冊", "chapters": [CHAPTER, LATER]}
LEARNER: dict[str, Any] = {
    "ui_language": "en",
    "weak_points": [
        {"item": "圖書館", "error_rate": 0.6, "seen": 5},
        {"item": "公園", "error_rate": 0.9, "seen": 10},
    ],
}
