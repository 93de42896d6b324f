"""What an operator does with all that a tenant has: an export, and a deletion that asks first and ends whole."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from tests.support.clocks import StandingClock
from tests.support.records import an_answer, finished
from tests.support.table import TABLE_NAME
from touchstone.answers.answer_key import AnswerKey
from touchstone.cli.app import app
from touchstone.cli.commands import tenants
from touchstone.cli.terminal import waiting
from touchstone.errors import NotFoundError
from touchstone.operations.tenants.deleting import STILL_UNDER_WAY
from touchstone.records import Answers, Artifacts, Tenants, Tokens
from touchstone.records.objects import TenantObjects

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

BUCKET = "artifacts"


def _tenant(*arguments: str, said: str = "", **env: str | None) -> Result:
    variables = {"TOUCHSTONE_TABLE": TABLE_NAME, "TOUCHSTONE_BUCKET": BUCKET, **env}
    return CliRunner(env=variables).invoke(app, ["tenant", *arguments], input=said)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StandingClock:
    """A clock that waiting moves on."""
    clock = StandingClock(datetime(2026, 11, 22, 12, 0, tzinfo=UTC))
    monkeypatch.setattr(tenants, "system_clock", clock)
    monkeypatch.setattr(waiting, "pause", lambda seconds: clock.forward(seconds=seconds))
    return clock


@pytest.fixture
def acme(table: "Table", clock: StandingClock) -> "Table":
    """The table with two tenants, each with a token, an answer and an object."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    bodies = Artifacts(lambda: s3, BUCKET)
    for tenant in ("acme", "rival"):
        Tenants(table).create(tenant=tenant, name="Acme [red]School")
        Tokens(table).issue(tenant=tenant, role="admin", name="first")
        finished(Answers(table, bodies), an_answer(tenant=tenant))
        bodies.put_text(tenant=tenant, key=f"{tenant}/notes/one", text="note", content_type="text/plain")
    return table


def _left(table: "Table", tenant: str) -> list[Any]:
    return [item for item in table.scan()["Items"] if f"T#{tenant}#" in f"{item['pk']!s}#"]


def test_an_export_says_what_it_wrote(acme: "Table", tmp_path: Path) -> None:
    result = _tenant("export", "acme", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    lines = {file["file"]: file["lines"] for file in found["files"]}
    assert (lines["answers.jsonl"], lines["tokens.jsonl"], lines["tasks.jsonl"], found["objects"]) == (1, 1, 0, 1)
    assert f"Exported acme to {tmp_path / 'out'}" in result.stderr
    again = _tenant("export", "acme", str(tmp_path / "out"))
    assert (again.exit_code, again.stdout) == (2, "")
    assert "holds an export of acme already" in again.stderr


def test_an_answer_s_key_is_handed_out_and_deleted_with_it(acme: "Table", tmp_path: Path) -> None:
    key = AnswerKey(expected=("canary-key",))
    Answers(acme, Artifacts(lambda: boto3.client("s3"), BUCKET)).create(an_answer(answer_key=key))
    assert _tenant("export", "acme", str(tmp_path / "out")).exit_code == 0
    (file,) = (tmp_path / "out").rglob("answers.jsonl")
    assert "canary-key" in file.read_text()
    assert _tenant("delete", "acme", said="acme\n").exit_code == 0
    assert "canary-key" not in json.dumps(acme.scan()["Items"], default=str)


def test_an_export_that_an_object_was_deleted_under_says_so_by_its_exit_code(
    acme: "Table", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TenantObjects, "fetch", lambda *_: False)  # as it answers for what is gone
    result = _tenant("export", "acme", str(tmp_path / "out"), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["gone"] == ["artifacts/acme/notes/one"]
    assert "Deleted before they could be read, and named in manifest.json: 1 objects." in result.stderr


def test_a_deletion_asks_waits_and_says_what_went_and_what_remains(acme: "Table", clock: StandingClock) -> None:
    began = clock.now
    result = _tenant("delete", "acme", said="acme\n")
    assert result.exit_code == 0
    assert "All that acme (Acme [red]School) has is deleted for good" in result.stderr
    assert "answers" in result.stdout
    assert "acme is deleted. What remains" in result.stderr
    assert clock.now - began == STILL_UNDER_WAY
    assert _left(acme, "acme") == []
    assert len(_left(acme, "rival")) > 2
    assert "There is no tenant acme; there are rival." in _tenant("delete", "acme", "--yes").stderr


@pytest.mark.parametrize(("said", "code"), [("rival\n", 2), ("", 130)])
def test_nothing_is_deleted_without_the_tenants_own_id(acme: "Table", said: str, code: int) -> None:
    before = _left(acme, "acme")
    assert _tenant("delete", "acme", said=said).exit_code == code
    assert _left(acme, "acme") == before
    assert len(Tokens(acme).list("acme")) == 1


def test_a_deletion_that_does_not_wait_is_finished_by_the_next(acme: "Table", clock: StandingClock) -> None:
    first = _tenant("delete", "acme", "--yes", "--no-wait", "--json")
    found = json.loads(first.stdout)
    assert (first.exit_code, found["again_at"]) == (0, "2026-11-22T12:16:00+00:00")
    assert (found["removed"]["answers"], found["removed"]["tokens"], found["removed"]["objects"]) == (1, 1, 1)
    assert "Run this again after 12:16:00 UTC" in first.stderr
    exported = _tenant("export", "acme", "/none/anywhere")
    assert exported.stderr == "Error: The tenant acme is being deleted.\n"
    clock.now += STILL_UNDER_WAY
    second = _tenant("delete", "acme", "--yes", "--no-wait", "--json")
    assert json.loads(second.stdout) == {"tenant": "acme", "removed": {}, "again_at": None}
    with pytest.raises(NotFoundError):
        Tenants(acme).get("acme", in_deletion=True)


@pytest.mark.parametrize("arguments", [("export", "acme", "out"), ("delete", "acme", "--yes")])
def test_what_is_missing_is_named(
    acme: "Table", monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Set TOUCHSTONE_BUCKET" in _tenant(*arguments, TOUCHSTONE_BUCKET=None).stderr
    gone = _tenant(*arguments, TOUCHSTONE_BUCKET="other")
    assert gone.exit_code == 4
    assert "(NoSuchBucket)" in gone.stderr
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "pip install 'touchstone-verdicts[aws]'" in _tenant(*arguments).stderr
