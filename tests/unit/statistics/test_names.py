"""What the package offers, and what it does not load."""

import subprocess
import sys

import pytest

from touchstone import statistics

LIGHT = """
import sys
import touchstone.statistics
for name in touchstone.statistics.__all__:
    getattr(touchstone.statistics, name)
assert touchstone.statistics.cohen_kappa([("A", "A"), ("B", "A")]).value == 0.0
assert touchstone.statistics.holm({"metric": 0.5})["metric"].adjusted == 0.5
print(sorted({"numpy", "scipy"} & set(sys.modules)))
"""


def test_all_names_are_there_and_none_of_them_loads_numpy_or_scipy() -> None:
    ended = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'average'"):
        _ = statistics.average  # type: ignore[attr-defined]
