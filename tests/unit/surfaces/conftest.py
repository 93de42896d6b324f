"""For the tests of surfaces."""

import pytest

from touchstone.judges import load_registry


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key of any provider, whatever is set around the tests."""
    for provider in load_registry().providers.values():
        for variable in provider.key_variables:
            monkeypatch.delenv(variable, raising=False)
