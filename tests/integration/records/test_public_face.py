"""What `touchstone.records` offers, and what asking for one name costs."""

import subprocess
import sys

import pytest

from touchstone import records


def test_every_name_offered_is_there() -> None:
    assert sorted(records.__all__) == sorted(records._HOMES)
    assert all(getattr(records, name) is not None for name in records.__all__)


def test_a_name_that_is_not_offered_is_missing() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        getattr(records, "Nonsense")  # noqa: B009 - the name is wrong on purpose


def test_the_authorizers_part_loads_no_models() -> None:
    program = "import sys; from touchstone.records import Tokens; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
