"""Whether the script sees that a test of unittest failed, which unittest may keep to itself."""

import ast
from functools import cached_property

from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, last_name
from touchstone.audits.sandbox.script.endings import ScriptEndings
from touchstone.audits.sandbox.script.unrun import PartsThatRan

_RESULTS = frozenset({"wasSuccessful", "failures", "errors"})
"""Attributes by which a result of unittest tells whether tests failed."""
_PASSED_OVER = frozenset({"expectedFailure", "skipTest", "SkipTest"})
"""Names of unittest by which a test that failed, or did not run, is none that failed."""


class UnittestResults:
    """The classes of unittest in a script, and what the script asks of their results."""

    def __init__(self, source: ProofScript, endings: ScriptEndings, parts: PartsThatRan) -> None:
        self._source = source
        self._endings = endings
        self._parts = parts

    def keeps_failures(self, node: ast.ClassDef, record: Record) -> bool:
        """Whether a class is of unittest and has a test that the script does not call, and no result of tests is asked.

        A script that left with the status 0 by `unittest.main` has asked it.
        """
        if not self._is_unittests(node):
            return False
        tests = [each for each in node.body if isinstance(each, Function) and each.name.startswith(("test", "runTest"))]
        if any(last_name(each) in _PASSED_OVER for each in ast.walk(node)):
            return True
        left = None if record.left_at is None else self._source.node_at(record.left_at)
        if isinstance(left, ast.Call) and last_name(left.func) == "main":
            return ast.unparse(left.func).partition(".")[0] not in self._of_unittest
        return not self._is_result_asked and any(not self._parts.uses(each) for each in tests)

    def _is_unittests(self, node: ast.ClassDef) -> bool:
        """Whether a base of a class is the `TestCase` of unittest, or one of its kinds."""
        return any(
            ast.unparse(base).partition(".")[0] in self._of_unittest
            and (isinstance(base, ast.Name) or "TestCase" in base.attr)
            for base in node.bases
            if isinstance(base, ast.Name | ast.Attribute)
        )

    @cached_property
    def _of_unittest(self) -> frozenset[str]:
        """The names by which the script knows unittest and its parts."""
        return frozenset(
            alias.asname or alias.name.partition(".")[0]
            for each in self._source.nodes
            if isinstance(each, ast.Import)
            or (isinstance(each, ast.ImportFrom) and str(each.module).partition(".")[0] == "unittest")
            for alias in each.names
            if isinstance(each, ast.ImportFrom) or alias.name.partition(".")[0] == "unittest"
        )

    @cached_property
    def _is_result_asked(self) -> bool:
        """Whether the script fails or not by a result of unittest: by whether it failed, or by failures and errors."""
        asked = self._endings.fails_by(_RESULTS)
        return "wasSuccessful" in asked or {"failures", "errors"} <= asked
