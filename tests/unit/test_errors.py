"""The library's errors as values: whatever they hold survives a copy and the way to another process."""

import copy
import inspect
import pickle
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from touchstone import errors
from touchstone.errors import TouchstoneError

ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, TouchstoneError)]
VALUES = {"until": datetime(2026, 11, 30, 8, tzinfo=UTC), "window": "day", "where": "line 2", "limit": 20}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301 - our own
@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_the_same_in_another_process(
    kind: type[TouchstoneError], again: Callable[[TouchstoneError], TouchstoneError]
) -> None:
    named = inspect.signature(kind.__init__).parameters
    error = kind("It says why.", **{name: value for name, value in VALUES.items() if name in named})
    error.add_note("seen in chapter 3")
    found = again(error)
    assert (type(found), str(found), vars(found)) == (kind, "It says why.", vars(error))
