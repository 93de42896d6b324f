"""`touchstone check image`: what is printed in a picture, without a key."""

import json
from pathlib import Path

from tests.support.commands import Command
from tests.support.pictures import printed

QUESTION = "一本书有96页，每天看8页，几天可以看完？"


def test_a_printed_problem_is_read_without_a_key(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(printed(QUESTION))
    result = touchstone("check", "image", str(tmp_path / "a.png"), "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, found["text"], found["unsure"]) == (0, "", QUESTION, None)


def test_a_formula_is_said_to_be_for_a_judge(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(printed("求√16的值。"))
    result = touchstone("check", "image", str(tmp_path / "a.png"))
    assert (result.exit_code, "16" in result.stdout) == (3, True)
    assert result.stderr == "The picture is left to a judge: it has a formula.\n"


def test_what_is_no_picture_is_told(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and more")
    result = touchstone("check", "image", str(tmp_path / "a.pdf"))
    assert (result.exit_code, "is a PDF" in result.stderr) == (2, True)
