"""Measure quizzes, summaries and flashcards."""

from touchstone import surfaces
from touchstone.flat.running import blocking

aevaluate_quiz = surfaces.evaluate_quiz
aevaluate_summary = surfaces.evaluate_summary
aevaluate_flashcards = surfaces.evaluate_flashcards

evaluate_quiz = blocking(aevaluate_quiz)
evaluate_summary = blocking(aevaluate_summary)
evaluate_flashcards = blocking(aevaluate_flashcards)
