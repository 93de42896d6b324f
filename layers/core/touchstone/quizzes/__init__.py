"""Quizzes for learners of Traditional Chinese: made from a chapter, checked by rules and by a judge, made again.

Names are imported on first use, so that a function imports its own part of the job alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.quizzes.checking import apply_checks, check_quiz
    from touchstone.quizzes.correction import corrected, is_correctable
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
    from touchstone.quizzes.structure import validate_structure

_MODULES = {
    "checking": ("apply_checks", "check_quiz"),
    "correction": ("corrected", "is_correctable"),
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
    "structure": ("validate_structure",),
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
    "apply_checks",
    "check_quiz",
    "corrected",
    "is_correctable",
    "validate_structure",
    "weakest",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
