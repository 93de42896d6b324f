"""Simplified characters and words in text that is to be Traditional Chinese as Taiwan writes it."""

from touchstone.checks.script.detection import find_simplified

__all__ = ["find_simplified"]
