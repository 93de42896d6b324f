"""Whether two answers have the same value: True, False, or None if this cannot be told."""

from touchstone.checks.equivalence.decision import Explanation, equivalent, explain

__all__ = ["Explanation", "equivalent", "explain"]
