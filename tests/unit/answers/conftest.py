"""What the tests of answers share."""

import pytest

from touchstone import checks


@pytest.fixture(scope="session", autouse=True)
def _loaded_checks() -> None:
    """Loads sympy once, so that no test's time limit depends on how busy the machine is."""
    checks.prove_answer("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 3")
    checks.equivalent("x^2 - 1", "(x - 1)(x + 1)")
