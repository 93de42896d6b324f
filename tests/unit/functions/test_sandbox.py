"""The function that runs proofs, in a process of its own as it is deployed: what it carries, and what it lets go."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from functions import sandbox
from functions.composition import contexts
from touchstone.errors import SettingsError

BEGUN = """
import os, sys
from functions import sandbox
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


def test_what_it_has_on_the_disk_of_a_laptop_goes_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, "bubblewrap")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = [sandbox._room().folder.parent, contexts._unpacked().folder]
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    (kept[1] / "bundle").mkdir()
    sandbox._room.cache_clear()
    contexts._unpacked.cache_clear()
    assert list(tmp_path.iterdir()) == []


def test_it_leaves_nothing_there_when_its_process_ends(tmp_path: Path) -> None:
    environment = os.environ | {sandbox.VARIABLE: "bubblewrap", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", BEGUN], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith(f"Bubblewrap None {tmp_path}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("said", [None, "", "none", "trust"])
def test_it_runs_nothing_where_nobody_said_how(monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    monkeypatch.delenv(sandbox.VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(sandbox.VARIABLE, said)
    with pytest.raises(SettingsError, match="TOUCHSTONE_SANDBOX is not set"):
        sandbox.handler({"url": "https://x/y", "sha256": "0" * 64, "script": ""}, None)
