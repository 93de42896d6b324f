"""Quizzes for learners of Traditional Chinese: one of your own checked and corrected, and one made from a chapter.

uv run python examples/learner_quiz.py
"""

from touchstone import Question, Quiz, QuizRequest, apply_checks, make_quiz
from touchstone.quizzes import Curriculum, corrected

COURSE = Curriculum.model_validate(
    {
        "id": "market",
        "title": "At the market",
        "chapters": [
            {
                "id": "1",
                "title": "買水果",
                "vocabulary": [
                    {"hanzi": "水果", "pinyin": "shuǐguǒ", "meanings": {"en": "fruit"}},
                    {"hanzi": "蘋果", "pinyin": "píngguǒ", "meanings": {"en": "apple"}},
                    {"hanzi": "便宜", "pinyin": "piányí", "meanings": {"en": "cheap"}},
                    {"hanzi": "多少錢", "pinyin": "duōshǎo qián", "meanings": {"en": "how much money"}},
                ],
                "grammar": [{"pattern": "太……了", "explanation": "Too much of something.", "examples": ["太貴了！"]}],
            }
        ],
    }
)

mine = Quiz(
    questions=(
        Question(
            id="q1",
            kind="single_choice",
            question_text="What does 「苹果」 (ping2guo3) mean?",
            choices=("apple", "fruit", "cheap"),
            answers=("apple",),
        ),
    )
)
found = apply_checks(mine, ui_language="en")  # no key is needed
for violation in found.violations:
    print(f"{violation.question_id} {violation.rule}: {violation.detail}")
print("corrected:", corrected(mine, found.violations).questions[0].question_text)

request = QuizRequest(curriculum=COURSE.id, chapter="1", ui_language="en", questions=3)
made = make_quiz(request, curriculum=COURSE)  # a model writes it, another judges it
print(f"made: {made.state}, {len(made.quiz.questions) if made.quiz else 0} questions")
for violation in made.violations:
    print(f"still {violation.rule}: {violation.detail}")
