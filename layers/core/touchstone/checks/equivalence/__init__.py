"""Whether two answers have the same value: True, False, or None where that cannot be told."""

from touchstone.checks.equivalence.decision import Explanation, equivalent, explain

__all__ = ["Explanation", "equivalent", "explain"]
