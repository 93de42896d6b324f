"""Checks that need no model: exact and free. Names are loaded on first use: an import loads no sympy and no table."""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.checks.arithmetic import first_arithmetic_error as first_arithmetic_error
    from touchstone.checks.contentless import is_contentless as is_contentless
    from touchstone.checks.equivalence import Explanation as Explanation
    from touchstone.checks.equivalence import equivalent as equivalent
    from touchstone.checks.equivalence import explain as explain
    from touchstone.checks.findings import Finding as Finding
    from touchstone.checks.findings import Proof as Proof
    from touchstone.checks.mismatch import find_language_mismatch as find_language_mismatch
    from touchstone.checks.mismatch import knows_language as knows_language
    from touchstone.checks.pinyin import find_pinyin_errors as find_pinyin_errors
    from touchstone.checks.proofs import prove_answer as prove_answer
    from touchstone.checks.script import find_simplified as find_simplified
    from touchstone.checks.tolerance import Tolerance as Tolerance

lazy_exports(__name__)
