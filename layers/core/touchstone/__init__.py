"""Touchstone: verdicts on what language models produce, decided by checks first and judges second.

```python
import touchstone

touchstone.verify("Compute 3/4 + 1/6.", "11/12").verification_status  # "verified", without a key
touchstone.equivalent("so the area is 1 m", "100 cm")  # True
```

A function that asks judges takes them from the environment. It returns when all of its work is done. Its async twin has
the same name with an `a` in front (`await touchstone.averify(…)`). Both also work where an event loop runs already, as
in a notebook. Checks ask no judge and need no async twin. Each job has its own package (`touchstone.answers` …) with
its parts.

A name is imported on first use, so that a function that needs one part does not load the others.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports
from touchstone.version import __version__ as __version__

if TYPE_CHECKING:
    from touchstone.answers.answer_key import AnswerTolerance as AnswerTolerance
    from touchstone.answers.model import AnswerRecord as AnswerRecord
    from touchstone.checks import Explanation as Explanation
    from touchstone.checks import Finding as Finding
    from touchstone.checks import Proof as Proof
    from touchstone.checks import Tolerance as Tolerance
    from touchstone.checks import equivalent as equivalent
    from touchstone.checks import explain as explain
    from touchstone.checks import find_language_mismatch as find_language_mismatch
    from touchstone.checks import find_pinyin_errors as find_pinyin_errors
    from touchstone.checks import find_simplified as find_simplified
    from touchstone.checks import first_arithmetic_error as first_arithmetic_error
    from touchstone.checks import prove_answer as prove_answer
    from touchstone.errors import ConflictError as ConflictError
    from touchstone.errors import InputError as InputError
    from touchstone.errors import JudgeError as JudgeError
    from touchstone.errors import LimitError as LimitError
    from touchstone.errors import SettingsError as SettingsError
    from touchstone.errors import TouchstoneError as TouchstoneError
    from touchstone.flat.answers import adeep_evaluate as adeep_evaluate
    from touchstone.flat.answers import asolve as asolve
    from touchstone.flat.answers import averify as averify
    from touchstone.flat.answers import deep_evaluate as deep_evaluate
    from touchstone.flat.answers import solve as solve
    from touchstone.flat.answers import verify as verify
    from touchstone.flat.oracle import ajudge_submission as ajudge_submission
    from touchstone.flat.oracle import judge_submission as judge_submission
    from touchstone.flat.quizzes import amake_quiz as amake_quiz
    from touchstone.flat.quizzes import make_quiz as make_quiz
    from touchstone.flat.surfaces import aevaluate_flashcards as aevaluate_flashcards
    from touchstone.flat.surfaces import aevaluate_quiz as aevaluate_quiz
    from touchstone.flat.surfaces import aevaluate_summary as aevaluate_summary
    from touchstone.flat.surfaces import evaluate_flashcards as evaluate_flashcards
    from touchstone.flat.surfaces import evaluate_quiz as evaluate_quiz
    from touchstone.flat.surfaces import evaluate_summary as evaluate_summary
    from touchstone.judges import Judges as Judges
    from touchstone.material import Deck as Deck
    from touchstone.material import Flashcard as Flashcard
    from touchstone.material import Question as Question
    from touchstone.material import Quiz as Quiz
    from touchstone.material import Source as Source
    from touchstone.material import Summary as Summary
    from touchstone.oracle import Brief as Brief
    from touchstone.oracle import Judgement as Judgement
    from touchstone.quizzes import MadeQuiz as MadeQuiz
    from touchstone.quizzes import QuizRequest as QuizRequest
    from touchstone.quizzes import apply_checks as apply_checks
    from touchstone.surfaces import Report as Report

lazy_exports(__name__, eager=("__version__",))
