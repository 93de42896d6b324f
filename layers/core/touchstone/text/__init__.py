"""Text of strangers: the first step of every room that reads such text, in time linear in its length."""

from touchstone.text.normalising import FULL_WIDTH, Form, normalised, shortened

__all__ = ["FULL_WIDTH", "Form", "normalised", "shortened"]
