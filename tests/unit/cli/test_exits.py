"""Exit codes: what a script may rely on."""

import pytest

from tests.support.judges import MOMENT
from touchstone.cli.terminal.exits import Exit, NoJudgeError, ServiceError, code_of
from touchstone.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    MisconfiguredError,
    NotFoundError,
    QuotaExceededError,
    SettingsError,
    StoreError,
    TooLargeError,
    TouchstoneError,
    UnauthenticatedError,
)

CODES: list[tuple[TouchstoneError, Exit]] = [
    *((kind("x"), Exit.INPUT) for kind in (InputError, TooLargeError, SettingsError, NotFoundError, ConflictError)),
    *((kind("x"), Exit.INPUT) for kind in (UnauthenticatedError, ForbiddenError)),
    *((kind("x"), Exit.SERVICE) for kind in (ServiceError, StoreError, MisconfiguredError)),
    (NoJudgeError("x"), Exit.UNDECIDED),
    (QuotaExceededError("x", window="day", until=MOMENT), Exit.SERVICE),
]


@pytest.mark.parametrize(("error", "code"), CODES, ids=lambda value: type(value).__name__)
def test_every_error_has_the_code_that_says_who_can_mend_it(error: TouchstoneError, code: Exit) -> None:
    assert code_of(error) is code


def test_the_documented_codes_stay() -> None:
    assert {code.name: code.value for code in Exit} == {
        "DONE": 0, "VERDICT": 1, "INPUT": 2, "UNDECIDED": 3, "SERVICE": 4, "UNEXPECTED": 70,
    }  # fmt: skip
