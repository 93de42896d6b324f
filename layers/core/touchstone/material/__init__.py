"""Teaching material as it is evaluated, and the sources that it was made from; every job that judges some shares it."""

from touchstone.material.flashcards import Deck, Flashcard
from touchstone.material.quiz import Question, QuestionKind, Quiz, Reading
from touchstone.material.source import Pillar, Source
from touchstone.material.summary import Summary

__all__ = ["Deck", "Flashcard", "Pillar", "Question", "QuestionKind", "Quiz", "Reading", "Source", "Summary"]
