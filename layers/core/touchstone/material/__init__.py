"""Teaching material as it is evaluated, and the sources that it was made from.

All jobs that judge material share it.
"""

from touchstone.material.items import Deck, Flashcard, Question, QuestionKind, Quiz, Reading, Summary
from touchstone.material.source import Pillar, Source

__all__ = ["Deck", "Flashcard", "Pillar", "Question", "QuestionKind", "Quiz", "Reading", "Source", "Summary"]
