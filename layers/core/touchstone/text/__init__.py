"""Text of strangers: what every room does with it before it means anything, in time linear in its length."""

from touchstone.text.normalising import Form, normalised, shortened

__all__ = ["Form", "normalised", "shortened"]
