"""Quizzes for learners of Traditional Chinese: made from a chapter, checked by rules and by a judge, made again.

```python
made = await make_quiz(QuizRequest(chapter=chapter, ui_language="en"), generator=judge, evaluator=another)
made.state  # "clean", or "violations" with what it still violates, or "unchecked" where the evaluator failed

apply_checks(quiz, ui_language="en").violations  # without any key
```

Names are imported on first use, so that a function imports its own part of the job alone.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.quizzes.attempts import MAX_RETRIES, best_of
    from touchstone.quizzes.checking import apply_checks, check_quiz
    from touchstone.quizzes.content import ContentFindings, allowed_targets, check_content
    from touchstone.quizzes.correction import corrected, is_correctable
    from touchstone.quizzes.curriculum import Chapter, Curriculum, GrammarPoint, Word
    from touchstone.quizzes.evaluation import Evaluated, evaluate_content
    from touchstone.quizzes.generation import Choice, Generated, generate_quiz, model_for_generation, open_generator
    from touchstone.quizzes.judging import Judged, begun, judged
    from touchstone.quizzes.learner import LearnerProfile, WeakPoint, weakest
    from touchstone.quizzes.loop import make_quiz, next_step
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
    from touchstone.quizzes.outcome import stopped_by, unanswered_of
    from touchstone.quizzes.retrieval import query_weakness, retrieve_content
    from touchstone.quizzes.structure import validate_structure
    from touchstone.quizzes.uploads import curriculum_of_csv, curriculum_of_json, learners_of_csv, learners_of_json

__getattr__ = Face(
    __name__,
    {
        "attempts": ("MAX_RETRIES", "best_of"),
        "checking": ("apply_checks", "check_quiz"),
        "content": ("ContentFindings", "allowed_targets", "check_content"),
        "correction": ("corrected", "is_correctable"),
        "curriculum": ("Chapter", "Curriculum", "GrammarPoint", "Word"),
        "evaluation": ("Evaluated", "evaluate_content"),
        "generation": ("Choice", "Generated", "generate_quiz", "model_for_generation", "open_generator"),
        "judging": ("Judged", "begun", "judged"),
        "learner": ("LearnerProfile", "WeakPoint", "weakest"),
        "loop": ("make_quiz", "next_step"),
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
        "outcome": ("stopped_by", "unanswered_of"),
        "retrieval": ("query_weakness", "retrieve_content"),
        "structure": ("validate_structure",),
        "uploads": ("curriculum_of_csv", "curriculum_of_json", "learners_of_csv", "learners_of_json"),
    },
)

__all__ = [
    "MAX_RETRIES",
    "Attempt",
    "Chapter",
    "Choice",
    "Content",
    "ContentFindings",
    "Curriculum",
    "Evaluated",
    "Generated",
    "GrammarPoint",
    "Judged",
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
    "allowed_targets",
    "apply_checks",
    "begun",
    "best_of",
    "check_content",
    "check_quiz",
    "corrected",
    "curriculum_of_csv",
    "curriculum_of_json",
    "evaluate_content",
    "generate_quiz",
    "is_correctable",
    "judged",
    "learners_of_csv",
    "learners_of_json",
    "make_quiz",
    "model_for_generation",
    "next_step",
    "open_generator",
    "query_weakness",
    "retrieve_content",
    "stopped_by",
    "unanswered_of",
    "validate_structure",
    "weakest",
]
