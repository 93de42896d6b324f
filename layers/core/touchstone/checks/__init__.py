"""Deciding without a model: checks that are exact, free, and say what they rest on.

The names below are loaded on first use, so that importing this package imports neither sympy nor the
tables of script and pinyin.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.checks.arithmetic import first_arithmetic_error
    from touchstone.checks.contentless import is_contentless
    from touchstone.checks.equivalence import equivalent
    from touchstone.checks.findings import Finding, Proof
    from touchstone.checks.mismatch import find_language_mismatch
    from touchstone.checks.pinyin import find_pinyin_errors
    from touchstone.checks.proofs import prove_answer
    from touchstone.checks.script import find_simplified

_HOMES = {
    "Finding": "touchstone.checks.findings",
    "Proof": "touchstone.checks.findings",
    "equivalent": "touchstone.checks.equivalence",
    "find_language_mismatch": "touchstone.checks.mismatch",
    "find_pinyin_errors": "touchstone.checks.pinyin",
    "find_simplified": "touchstone.checks.script",
    "first_arithmetic_error": "touchstone.checks.arithmetic",
    "is_contentless": "touchstone.checks.contentless",
    "prove_answer": "touchstone.checks.proofs",
}

__all__ = [
    "Finding",
    "Proof",
    "equivalent",
    "find_language_mismatch",
    "find_pinyin_errors",
    "find_simplified",
    "first_arithmetic_error",
    "is_contentless",
    "prove_answer",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
