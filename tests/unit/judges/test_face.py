"""The public face is complete, and importing it costs nothing heavy."""

import json
import subprocess
import sys

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


def test_the_face_names_what_it_offers_and_nothing_else() -> None:
    public = {
        name
        for name, value in vars(touchstone.judges).items()
        if not name.startswith("_") and type(value) is not type(sys)
    }
    assert public == set(touchstone.judges.__all__)
