"""Deciding without a model: checks that are exact, free, and say what they rest on.

The names below are loaded on first use, so that importing this package imports neither sympy nor the
tables of script and pinyin.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.checks.arithmetic import first_arithmetic_error
    from touchstone.checks.contentless import is_contentless
    from touchstone.checks.equivalence import Explanation, equivalent, explain
    from touchstone.checks.findings import Finding, Proof
    from touchstone.checks.mismatch import find_language_mismatch, knows_language
    from touchstone.checks.pinyin import find_pinyin_errors
    from touchstone.checks.proofs import prove_answer
    from touchstone.checks.script import find_simplified
    from touchstone.checks.tolerance import Tolerance

__getattr__ = Face(
    __name__,
    {
        "arithmetic": ("first_arithmetic_error",),
        "contentless": ("is_contentless",),
        "equivalence": ("Explanation", "equivalent", "explain"),
        "findings": (
            "Finding",
            "Proof",
        ),
        "mismatch": (
            "find_language_mismatch",
            "knows_language",
        ),
        "pinyin": ("find_pinyin_errors",),
        "proofs": ("prove_answer",),
        "script": ("find_simplified",),
        "tolerance": ("Tolerance",),
    },
)

__all__ = [
    "Explanation",
    "Finding",
    "Proof",
    "Tolerance",
    "equivalent",
    "explain",
    "find_language_mismatch",
    "find_pinyin_errors",
    "find_simplified",
    "first_arithmetic_error",
    "is_contentless",
    "knows_language",
    "prove_answer",
]
