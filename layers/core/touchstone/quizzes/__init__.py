"""Quizzes for learners of Traditional Chinese: made from a chapter, checked by rules and by a judge, made again.

Names are imported on first use, so that a function imports its own part of the job alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.quizzes.curriculum import Chapter, Curriculum, GrammarPoint, Word
    from touchstone.quizzes.learner import LearnerProfile, WeakPoint, weakest
    from touchstone.quizzes.model import (
        Attempt,
        Content,
        MadeQuiz,
        QuizRequest,
        QuizState,
        Rule,
        Unanswered,
        Violation,
        Weakness,
    )

_MODULES = {
    "curriculum": ("Chapter", "Curriculum", "GrammarPoint", "Word"),
    "learner": ("LearnerProfile", "WeakPoint", "weakest"),
    "model": (
        "Attempt",
        "Content",
        "MadeQuiz",
        "QuizRequest",
        "QuizState",
        "Rule",
        "Unanswered",
        "Violation",
        "Weakness",
    ),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}

__all__ = [
    "Attempt",
    "Chapter",
    "Content",
    "Curriculum",
    "GrammarPoint",
    "LearnerProfile",
    "MadeQuiz",
    "QuizRequest",
    "QuizState",
    "Rule",
    "Unanswered",
    "Violation",
    "WeakPoint",
    "Weakness",
    "Word",
    "weakest",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
