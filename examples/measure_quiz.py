"""A quiz measured against its source: scores of 0 to 100, and item by item what lost points.

uv run python examples/measure_quiz.py
"""

from touchstone import Question, Quiz, Source, evaluate_quiz

SOURCE = Source(
    markdown="""# Tides

The Moon pulls at the sea. On the side that faces it the water rises, and on the far side it rises too, since there the
Moon pulls the Earth away from under the water. So most coasts have two high tides a day, about 12 hours and 25 minutes
apart. At new moon and at full moon the Sun pulls along the same line, and the tides are highest: spring tides.
"""
)
QUIZ = Quiz(
    questions=(
        Question(
            id="cause",
            kind="single_choice",
            question_text="What makes the sea rise on the side of the Earth that faces the Moon?",
            choices=("The pull of the Moon on the water, which it draws towards itself", "Wind", "Rivers", "Heat"),
            answers=("The pull of the Moon on the water, which it draws towards itself",),
        ),
        Question(
            id="spring",
            kind="single_choice",
            question_text="When are tides highest?",
            choices=("At half moon", "At new moon and full moon", "In spring", "All of the above"),
            answers=("At new moon and full moon",),
        ),
        Question(
            id="two",
            kind="true_false",
            question_text="Most coasts have two high tides a day.",
            answers=("true",),
        ),
    )
)

report = evaluate_quiz(QUIZ, SOURCE)
for name, score in report.scores.items():
    print(f"{name:<26} {'nobody could judge it' if score is None else f'{score:5.1f}'}")
    for item in report.results[name].items:
        if item.value < 1:
            print(f"    {item.item}: {item.label}. {item.reason}")
for name, why in report.left_out.items():
    print(f"{name:<26} left out: {why}")
