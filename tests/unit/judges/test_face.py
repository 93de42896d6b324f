"""The public face is complete, and importing it costs nothing heavy."""

import json
import subprocess
import sys

import pytest

import touchstone.judges

HEAVY = [
    "google",
    "openai",
    "anthropic",
    "boto3",
    "botocore",
    "sympy",
    "math_verify",
    "aiohttp",
    "httpx",
    "jinja2",
    "sqlite3",
]


def test_importing_judges_imports_no_sdk() -> None:
    code = (
        "import json, sys, touchstone.judges; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert set(HEAVY) & set(loaded) == set()


def test_every_name_offered_is_there_and_none_is_a_module() -> None:
    code = "import touchstone.judges as face; print([n for n in face.__all__ if type(getattr(face, n)) is type(face)])"
    everything_first = "import touchstone.judges.opening, touchstone.judges.prompts, touchstone.judges.cache; " + code
    for order in (code, everything_first):
        assert subprocess.run([sys.executable, "-c", order], capture_output=True, check=True).stdout == b"[]\n"


def test_a_name_that_is_not_offered_is_missing() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        getattr(touchstone.judges, "Nonsense")  # noqa: B009 - the name is wrong on purpose


def test_a_type_of_a_budget_loads_neither_the_registry_nor_what_asks() -> None:
    code = "import sys, touchstone.budgets; print(*[name for name in sys.modules if '.judges.' in name])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert loaded == ["touchstone.judges.fence", "touchstone.judges.base"]
