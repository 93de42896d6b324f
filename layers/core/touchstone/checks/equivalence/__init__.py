"""Whether two answers have the same value: True, False, or None if this cannot be told.

    extraction ──> reading ──> comparison ──> conventions ──> doubts, elsewhere, asked ──> decision

`extraction` finds where the answer stands in a text, unless the text says when it holds (`conditions`) or takes it
back (`retractions`), and `reading` reads it as a value. `comparison` compares two
values, with `amounts` for quantities, `orders` for sums and products, `periods` for angles. `conventions` explains some
differences: a constant of integration, a parameter's name. A comparison that is decided may still be left open: by the
words around the answers or their writing (`doubts`, with `subjects` and `writing`), by what a number means elsewhere
(`elsewhere`), or by what the question asks for (`asked`). Answers in parts (`parts`) and rows of a matching task
(`matching`) are compared piece by piece. `decision` puts all this together.
"""

from touchstone.checks.equivalence.decision import Explanation, equivalent, explain

__all__ = ["Explanation", "equivalent", "explain"]
