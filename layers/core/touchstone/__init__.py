"""Touchstone: verdicts on what language models produce, decided by checks first and judges second.

```python
import touchstone

touchstone.verify("Compute 3/4 + 1/6.", "11/12").verification_status  # "verified", without a key
touchstone.equivalent("so the area is 1 m", "100 cm")  # True
```

A function that asks judges takes them from the environment, and returns when all is done; its async twin has an `a`
before its name (`await touchstone.averify(…)`). They work where an event loop runs, as in a notebook. Checks ask nobody
and need no twin. Each job has its own package (`touchstone.answers` …) with its parts.

Nothing is imported before it is used, so that a function that needs one part does not pay for the others.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face
from touchstone.version import __version__

if TYPE_CHECKING:
    from touchstone.answers.answer_key import AnswerTolerance
    from touchstone.answers.model import AnswerRecord
    from touchstone.checks import (
        Explanation,
        Finding,
        Proof,
        Tolerance,
        equivalent,
        explain,
        find_language_mismatch,
        find_pinyin_errors,
        find_simplified,
        first_arithmetic_error,
        prove_answer,
    )
    from touchstone.errors import ConflictError, InputError, JudgeError, LimitError, SettingsError, TouchstoneError
    from touchstone.flat.answers import adeep_evaluate, asolve, averify, deep_evaluate, solve, verify
    from touchstone.flat.oracle import ajudge_submission, judge_submission
    from touchstone.flat.quizzes import amake_quiz, make_quiz
    from touchstone.flat.surfaces import (
        aevaluate_flashcards,
        aevaluate_quiz,
        aevaluate_summary,
        evaluate_flashcards,
        evaluate_quiz,
        evaluate_summary,
    )
    from touchstone.judges import Judges
    from touchstone.material import Deck, Flashcard, Question, Quiz, Source, Summary
    from touchstone.oracle import Brief, Judgement
    from touchstone.quizzes import MadeQuiz, QuizRequest, apply_checks
    from touchstone.surfaces import Report

__getattr__ = Face(
    __name__,
    {
        "answers.answer_key": ("AnswerTolerance",),
        "answers.model": ("AnswerRecord",),
        "checks": (
            "Explanation",
            "Finding",
            "Proof",
            "Tolerance",
            "equivalent",
            "explain",
            "find_language_mismatch",
            "find_pinyin_errors",
            "find_simplified",
            "first_arithmetic_error",
            "prove_answer",
        ),
        "errors": (
            "ConflictError",
            "InputError",
            "JudgeError",
            "LimitError",
            "SettingsError",
            "TouchstoneError",
        ),
        "flat.answers": (
            "adeep_evaluate",
            "asolve",
            "averify",
            "deep_evaluate",
            "solve",
            "verify",
        ),
        "flat.oracle": (
            "ajudge_submission",
            "judge_submission",
        ),
        "flat.quizzes": (
            "amake_quiz",
            "make_quiz",
        ),
        "flat.surfaces": (
            "aevaluate_flashcards",
            "aevaluate_quiz",
            "aevaluate_summary",
            "evaluate_flashcards",
            "evaluate_quiz",
            "evaluate_summary",
        ),
        "judges": ("Judges",),
        "material": (
            "Deck",
            "Flashcard",
            "Question",
            "Quiz",
            "Source",
            "Summary",
        ),
        "oracle": (
            "Brief",
            "Judgement",
        ),
        "quizzes": (
            "MadeQuiz",
            "QuizRequest",
            "apply_checks",
        ),
        "surfaces": ("Report",),
    },
)

__all__ = [
    "AnswerRecord",
    "AnswerTolerance",
    "Brief",
    "ConflictError",
    "Deck",
    "Explanation",
    "Finding",
    "Flashcard",
    "InputError",
    "JudgeError",
    "Judgement",
    "Judges",
    "LimitError",
    "MadeQuiz",
    "Proof",
    "Question",
    "Quiz",
    "QuizRequest",
    "Report",
    "SettingsError",
    "Source",
    "Summary",
    "Tolerance",
    "TouchstoneError",
    "__version__",
    "adeep_evaluate",
    "aevaluate_flashcards",
    "aevaluate_quiz",
    "aevaluate_summary",
    "ajudge_submission",
    "amake_quiz",
    "apply_checks",
    "asolve",
    "averify",
    "deep_evaluate",
    "equivalent",
    "evaluate_flashcards",
    "evaluate_quiz",
    "evaluate_summary",
    "explain",
    "find_language_mismatch",
    "find_pinyin_errors",
    "find_simplified",
    "first_arithmetic_error",
    "judge_submission",
    "make_quiz",
    "prove_answer",
    "solve",
    "verify",
]
