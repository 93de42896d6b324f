"""`touchstone audit prove`: one proof, its outcome as JSON, and an exit code to rely on."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.audit_commands import BOX, bundles_are_built_once, kept_bundles, wheels
from tests.support.commands import Command

__all__ = ["bundles_are_built_once", "kept_bundles", "wheels"]


@pytest.fixture
def prove(touchstone: Command, wheels: Path, tmp_path: Path) -> Any:
    def run(script: str, *options: str, target: str = "tinylib==1.0") -> Result:
        (tmp_path / "proof.py").write_text(script, encoding="utf-8")
        named = ("--target", target, "--wheels", str(wheels))
        return touchstone("audit", "prove", str(tmp_path / "proof.py"), *named, *options)

    return run


@pytest.mark.parametrize(
    ("script", "outcome", "code"),
    [
        (BOX.format("lid"), "holds", 0),
        (BOX.format("hinge"), "refuted", 1),
        ("1 / 0\n", "error", 3),
        ("print('no library')\n", "vacuous", 3),
    ],
)
def test_the_outcome_is_json_and_an_exit_code(prove: Any, script: str, outcome: str, code: int) -> None:
    result = prove(script)
    assert result.exit_code == code
    found = json.loads(result.stdout)
    assert (found["outcome"], found["trusted"]) == (outcome, False)
    assert found["reason"]
    assert (found["target"]["requirement"], found["target"]["version"]) == ("tinylib==1.0", "1.0")
    assert "Target: tinylib 1.0, bundle " in result.stderr


def test_a_version_that_is_not_pinned_is_told_as_it_was_resolved(prove: Any) -> None:
    found = json.loads(prove(BOX.format("hinge"), target="tinylib>1").stdout)
    assert (found["outcome"], found["target"]["version"]) == ("holds", "2.0")


def test_what_a_proof_may_take_can_be_said(prove: Any) -> None:
    result = prove("import tinylib\nwhile True: pass\n", "--cpu-seconds", "0.3")
    assert (result.exit_code, json.loads(result.stdout)["outcome"]) == (3, "timeout")
    assert "0.3 s of processor time" in json.loads(result.stdout)["reason"]


def test_a_script_comes_from_standard_input_too(touchstone: Command, wheels: Path) -> None:
    named = ("--target", "tinylib==1.0", "--wheels", str(wheels))
    result = touchstone("audit", "prove", "-", *named, stdin="import tinylib\ntinylib.Box(1)\nprint('said')\n")
    assert (result.exit_code, json.loads(result.stdout)["stdout"]) == (0, "said\n")


def test_proofs_that_are_trusted_say_so(prove: Any) -> None:
    result = prove(BOX.format("lid"), "--trust")
    assert json.loads(result.stdout)["trusted"] is True
    assert "Note: proofs run without a sandbox, as you asked." in result.stderr


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("tinylib==9.9", "tinylib==9.9 cannot be resolved to wheels"),
        ("brokenlib==1.0", "brokenlib==1.0 cannot be imported in the sandbox. The target itself cannot be imported"),
        ("emptylib==1.0", "holds nothing that Python could import"),
        ("tinylib @ https://example.org/x.whl", "a URL is not installed"),
        ("no such thing", "it is no pip requirement such as google-adk==1.20.0"),
    ],
)
def test_a_target_that_is_no_good_is_refused(prove: Any, target: str, words: str) -> None:
    result = prove("import tinylib\n", target=target)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_what_cannot_be_run_is_refused(prove: Any, touchstone: Command, tmp_path: Path) -> None:
    assert "is not UTF-8 text; save it as UTF-8." in prove("a\0b").stderr
    assert prove("#" * 100_001).exit_code == 2
    assert prove("#" * 500_000).exit_code == 2
    missing = touchstone("audit", "prove", str(tmp_path / "no.py"), "--target", "tinylib")
    assert (missing.exit_code, "cannot be read" in missing.stderr) == (2, True)
    nowhere = prove("1", "--wheels", str(tmp_path / "no"))
    assert (nowhere.exit_code, "is no folder of wheels" in nowhere.stderr) == (2, True)
    assert "'a b': " in prove("1", "--also", "a b").stderr
