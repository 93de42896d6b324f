"""Finds the first false arithmetic statement of a written solution."""

from touchstone.checks.arithmetic.solutions import first_arithmetic_error

__all__ = ["first_arithmetic_error"]
