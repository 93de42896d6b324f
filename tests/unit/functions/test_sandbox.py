"""The function that runs proofs, in a process of its own as it is deployed: what it carries, and what it lets go."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from functions.audits import sandbox
from touchstone.errors import SettingsError

BEGUN = """
import os, sys
from functions.audits import sandbox
room = sandbox._room()
print(type(room.sandbox).__name__, room.shared, room.folder)
print(sorted(set(sandbox.CREDENTIALS) & set(os.environ)))
print(sorted({"boto3", "botocore", "aws_lambda_powertools"} & set(sys.modules)))
"""


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    sandbox._room.cache_clear()


def test_it_has_no_credential_no_cloud_and_a_folder_that_it_empties(tmp_path: Path) -> None:
    credentials = dict.fromkeys(sandbox.CREDENTIALS, "secret")
    environment = os.environ | credentials | {sandbox.VARIABLE: "function", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", BEGUN], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == [f"Filtered {tmp_path} {tmp_path / 'target'}", "[]", "[]"]


def test_on_a_laptop_it_runs_proofs_in_bubblewrap_and_empties_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, "bubblewrap")
    room = sandbox._room()
    assert (type(room.sandbox).__name__, room.shared) == ("Bubblewrap", None)


@pytest.mark.parametrize("said", [None, "", "none", "trust"])
def test_it_runs_nothing_where_nobody_said_how(monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    monkeypatch.delenv(sandbox.VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(sandbox.VARIABLE, said)
    with pytest.raises(SettingsError, match="TOUCHSTONE_SANDBOX is not set"):
        sandbox.handler({"url": "https://x/y", "sha256": "0" * 64, "script": ""}, None)
