"""`touchstone audit recheck`: what a new version changed, without a key, and builds that fail on it."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.audit_commands import audited, bundles_are_built_once, kept_bundles, wheels
from tests.support.commands import Command
from tests.support.sarif_schema import sarif_runs
from touchstone.audits.report import read_report
from touchstone.cli.commands import audits

__all__ = ["audited", "bundles_are_built_once", "kept_bundles", "wheels"]


@pytest.fixture
def recheck(touchstone: Command, wheels: Path, audited: Path) -> Any:
    def run(*options: str, target: str = "tinylib==2.0", report: Path = audited) -> Result:
        return touchstone("audit", "recheck", str(report), "--target", target, "--wheels", str(wheels), *options)

    return run


def test_what_drifted_is_listed_and_fails_the_build(recheck: Any, audited: Path) -> None:
    result = recheck(report=audited / "quality_report.json")
    assert result.exit_code == 1
    assert "0 Incorrect, 1 Ambiguous, 0 Unproven, 1 Valid" in result.stdout
    assert "Valid → Ambiguous" in result.stdout
    assert "refuted → holds" in result.stdout
    assert "lids" not in result.stdout
    assert "To be solved again: keywords" in result.stderr
    assert "Proofs: 4 of 4" in result.stderr


def test_against_the_same_version_nothing_drifts(recheck: Any) -> None:
    result = recheck("--fail-on", "drift", target="tinylib==1.0")
    assert (result.exit_code, "No case drifted." in result.stderr) == (0, True)


def test_against_another_library_nothing_is_run(recheck: Any) -> None:
    result = recheck(target="tinydep==0.5")
    assert result.exit_code == 2
    assert "The proofs are about tinylib; tinydep is another library." in result.stderr


@pytest.mark.parametrize(
    ("fail_on", "code"), [("incorrect", 0), ("unproven, Ambiguous", 1), ("drift", 1), ("none", 0), ("unproven", 0)]
)
def test_a_build_fails_on_what_is_named(recheck: Any, fail_on: str, code: int, tmp_path: Path) -> None:
    junit, sarif = tmp_path / "found.xml", tmp_path / "found.sarif"
    assert recheck("--fail-on", fail_on, "--junit", str(junit), "--sarif", str(sarif)).exit_code == code
    root = ET.fromstring(junit.read_bytes())  # noqa: S314 (our own)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", str(code), "0")
    (run,) = sarif_runs(sarif.read_bytes())
    (drift,) = run["results"]
    assert (drift["ruleId"], drift["level"]) == ("drift", "error" if code else "warning")
    assert drift["locations"][0]["logicalLocations"] == [{"name": "keywords"}]
    first, second = root.iter("testcase")
    assert (first.get("classname"), first.get("name")) == ("touchstone.audit.multiple_choice", "keywords")
    assert "Valid → Ambiguous: B refuted → holds (The script ran to its end)." in (first[0].text or "")
    assert "Valid, as it was." in (second[0].text or "")
    for case in (first, second):
        assert [line[:2] for line in (case[0].text or "").splitlines()[1:]] == ["A ", "B "]


def test_the_report_of_the_new_target_is_written(recheck: Any, tmp_path: Path) -> None:
    out = tmp_path / "new" / "audit"
    result = recheck("--out", str(out), "--jobs", "2")
    assert f"The report is in {out / 'quality_audit.md'}" in result.stderr
    now = read_report((out / "quality_report.json").read_bytes(), name="r")
    assert (now.target.version, now.totals["Ambiguous"], now.cases[1].critique) == ("2.0", 1, "Fine.")
    assert "### Ambiguous: keywords" in (out / "quality_audit.md").read_text(encoding="utf-8")
    assert recheck(report=out, target="tinylib==2.0").exit_code == 0


def test_programs_are_told_everything(recheck: Any) -> None:
    found = json.loads(recheck("--json").stdout)
    assert (found["before"]["version"], found["now"]["version"]) == ("1.0", "2.0")
    assert found["solve_again"] == ["keywords"]
    assert found["new"] == {"incorrect": [], "ambiguous": ["keywords"], "unproven": [], "valid": []}
    assert found["drifts"][0]["options"][0]["outcome_now"] == "holds"
    assert found["totals"]["Valid"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fail-on", "wrong"), "'wrong' is none of incorrect, ambiguous, unproven, drift; or say none."),
        (("--fail-on", ""), "Name some of incorrect, ambiguous, unproven, drift; or say none."),
        (("--junit", "/no/such/folder/x.xml"), "No file can be written at"),
        (("--out", "/dev/null/x"), "/dev/null/x cannot be made: Not a directory."),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_runs(
    recheck: Any, options: tuple[str, ...], words: str
) -> None:
    result = recheck(*options)
    assert (result.exit_code, words in result.stderr, "Target" in result.stderr) == (2, True, False)


def test_what_is_no_report_is_refused(recheck: Any, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("{}")
    result = recheck(report=tmp_path / "r.json")
    assert (result.exit_code, "is no quality_report.json that can be relied on" in result.stderr) == (2, True)
    result = recheck(report=tmp_path)
    assert (result.exit_code, "quality_report.json cannot be read" in result.stderr) == (2, True)


def test_a_report_that_another_program_saved_with_a_mark_is_read(recheck: Any, audited: Path, tmp_path: Path) -> None:
    text = (audited / "quality_report.json").read_text(encoding="utf-8")
    for encoding in ("utf-16", "utf-8-sig"):
        (tmp_path / "r.json").write_text(text, encoding=encoding)
        result = recheck(target="tinydep==0.5", report=tmp_path / "r.json")
        assert "The proofs are about tinylib; tinydep is another library." in result.stderr


def test_a_report_that_is_too_large_is_refused(recheck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "MAX_REPORT_BYTES", 100)
    result = recheck()
    assert (result.exit_code, "holds more than 100 bytes" in result.stderr) == (2, True)
