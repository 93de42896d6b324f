"""Surfaces: how good a quiz, a summary or a deck of flashcards is, and which of two variants is better."""
