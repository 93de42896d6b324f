"""Quizzes for learners of Traditional Chinese: made from a chapter, checked by rules and by a judge, made again.

```python
made = await make_quiz(QuizRequest(chapter=chapter, ui_language="en"), generator=judge, evaluator=another)
made.state  # "clean", or "violations" with what it still violates, or "unchecked" where the evaluator failed

apply_checks(quiz, ui_language="en").violations  # without any key
```

Names are imported on first use, so that a function imports its own part of the job alone.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.quizzes.content import ContentFindings as ContentFindings
    from touchstone.quizzes.content import allowed_targets as allowed_targets
    from touchstone.quizzes.content import check_content as check_content
    from touchstone.quizzes.correction import corrected as corrected
    from touchstone.quizzes.correction import is_correctable as is_correctable
    from touchstone.quizzes.curriculum import Chapter as Chapter
    from touchstone.quizzes.curriculum import Curriculum as Curriculum
    from touchstone.quizzes.curriculum import GrammarPoint as GrammarPoint
    from touchstone.quizzes.curriculum import Word as Word
    from touchstone.quizzes.evaluation import EvaluatedQuiz as EvaluatedQuiz
    from touchstone.quizzes.evaluation import evaluate_content as evaluate_content
    from touchstone.quizzes.generation import GeneratedQuiz as GeneratedQuiz
    from touchstone.quizzes.generation import GeneratorChoice as GeneratorChoice
    from touchstone.quizzes.generation import generate_quiz as generate_quiz
    from touchstone.quizzes.generation import model_for_generation as model_for_generation
    from touchstone.quizzes.generation import open_generator as open_generator
    from touchstone.quizzes.judging import JudgedAttempt as JudgedAttempt
    from touchstone.quizzes.judging import apply_checks as apply_checks
    from touchstone.quizzes.judging import check_quiz as check_quiz
    from touchstone.quizzes.judging import evaluate_attempt as evaluate_attempt
    from touchstone.quizzes.judging import validate_attempt as validate_attempt
    from touchstone.quizzes.learner import LearnerProfile as LearnerProfile
    from touchstone.quizzes.learner import WeakPoint as WeakPoint
    from touchstone.quizzes.learner import weakest as weakest
    from touchstone.quizzes.loop import make_quiz as make_quiz
    from touchstone.quizzes.model import Content as Content
    from touchstone.quizzes.model import MadeQuiz as MadeQuiz
    from touchstone.quizzes.model import QuizAttempt as QuizAttempt
    from touchstone.quizzes.model import QuizRequest as QuizRequest
    from touchstone.quizzes.model import QuizState as QuizState
    from touchstone.quizzes.model import Rule as Rule
    from touchstone.quizzes.model import Unanswered as Unanswered
    from touchstone.quizzes.model import Violation as Violation
    from touchstone.quizzes.model import Weakness as Weakness
    from touchstone.quizzes.outcome import MAX_RETRIES as MAX_RETRIES
    from touchstone.quizzes.outcome import best_of as best_of
    from touchstone.quizzes.outcome import next_step as next_step
    from touchstone.quizzes.outcome import stopped_by as stopped_by
    from touchstone.quizzes.outcome import unanswered_of as unanswered_of
    from touchstone.quizzes.retrieval import query_weakness as query_weakness
    from touchstone.quizzes.retrieval import retrieve_content as retrieve_content
    from touchstone.quizzes.structure import validate_structure as validate_structure
    from touchstone.quizzes.uploads import curriculum_of_csv as curriculum_of_csv
    from touchstone.quizzes.uploads import curriculum_of_json as curriculum_of_json
    from touchstone.quizzes.uploads import learners_of_csv as learners_of_csv
    from touchstone.quizzes.uploads import learners_of_json as learners_of_json

lazy_exports(__name__)
