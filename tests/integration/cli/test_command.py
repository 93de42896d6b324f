"""What a user does with the command, through the real API: every route, its roles, its refusals."""

import json
from pathlib import Path

from tests.support.api_door import Door
from tests.support.commands import TenantCommand

PROOF = ("--problem", "Compute 3/4 + 1/6.", "--answer", "11/12", "--subject", "math")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def test_an_answer_is_verified_listed_and_shown(touchstone: TenantCommand) -> None:
    result = touchstone("verify", *PROOF, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["verification_status"], found["method"]) == (0, "verified", "proof")
    assert touchstone("verify", "--problem", "Compute 3/4 + 1/6.", "--answer", "1/2").exit_code == 1
    listed = json.loads(touchstone("answers", "list", "--status", "verified", "--json", role="reader").stdout)
    assert [item["id"] for item in listed["items"]] == [found["id"]]
    shown = touchstone("answers", "show", found["id"])
    assert shown.exit_code == 0
    assert "Verified ✓" in shown.stdout
    assert found["derivation"][0] in shown.stdout
    assert touchstone("answers", "show", found["id"], tenant="rival").exit_code == 2


def test_what_no_check_decides_is_unverified_with_its_reason(touchstone: TenantCommand) -> None:
    result = touchstone("verify", "--problem", "Name the capital of Australia.", "--answer", "Canberra")
    assert result.exit_code == 3
    assert "(misconfigured)" in result.stdout


def test_a_problem_that_nobody_can_solve_says_why(touchstone: TenantCommand, tmp_path: Path) -> None:
    result = touchstone("solve", "--problem", "Compute 3/4 + 1/6.")
    assert result.exit_code == 3
    assert "GEMINI_API_KEY" in result.stdout
    (tmp_path / "large.png").write_bytes(PNG + bytes(1_500_000))
    result = touchstone("solve", "--image", str(tmp_path / "large.png"))
    assert result.exit_code == 3
    assert "failed" in result.stdout


def test_an_evaluation_is_asked_for(touchstone: TenantCommand) -> None:
    found = json.loads(touchstone("verify", *PROOF, "--json").stdout)
    result = touchstone("answers", "evaluate", found["id"], "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["evaluation"]["state"] != "none"


def test_a_file_with_broken_lines_gives_all_other_results_and_is_sent_once(
    touchstone: TenantCommand, door: Door, tmp_path: Path
) -> None:
    good = json.dumps({"kind": "verify", "id": "mine", "problem": "Compute 3/4 + 1/6.", "answer": "11/12"})
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join([*[good] * 30, "{broken", '{"kind": "verify", "problem": "p"}']))
    for _ in range(2):
        result = touchstone("batch", "run", str(path), "--json")
        found = json.loads(result.stdout)
        assert result.exit_code == 1
        assert (found["lines"], found["verified"]) == (32, 30)
        assert [error["line"] for error in found["errors"]] == [31, 32]
    assert [asked.method for asked in door.server.asked if asked.path.startswith("/s3/")] == ["PUT", "GET", "GET"]
    listed = json.loads(touchstone("batch", "list", "--json").stdout)
    assert [(item["id"], item["state"]) for item in listed["items"]] == [(found["batch"], "finished")]
    output = tmp_path / "again.jsonl"
    assert touchstone("batch", "show", found["batch"], "-o", str(output)).exit_code == 0
    assert output.read_bytes() == (tmp_path / "answers.results.jsonl").read_bytes()


def test_reports_are_shown(touchstone: TenantCommand) -> None:
    touchstone("verify", *PROOF)
    assert "No judge has a key" in touchstone("budget").stderr
    assert touchstone("backlog").exit_code == 0
    day = json.loads(touchstone("stats", "volume", "--json").stdout)
    assert [each["statuses"] for each in day if each["statuses"]] == [{"verified": 1}]
    for name in ("rates", "volume", "trends", "suggestions", "approaches"):
        assert touchstone("stats", name).exit_code == 0


def test_tokens_are_created_listed_and_revoked_by_admins_alone(touchstone: TenantCommand) -> None:
    made = touchstone("tokens", "create", "--role", "reader", "--name", "ci", role="admin")
    assert made.stdout.startswith("ts_")
    assert touchstone("tokens", "list").exit_code == 2
    listed = json.loads(touchstone("tokens", "list", "--json", role="admin").stdout)
    token_id = next(item["id"] for item in listed["items"] if item["name"] == "ci")
    assert touchstone("tokens", "revoke", token_id, role="admin").exit_code == 0
    assert "ci" in touchstone("tokens", "list", role="admin").stdout


def test_subjects_are_pinned_and_unpinned(touchstone: TenantCommand) -> None:
    assert touchstone("routing", "pin", "math", "openai", role="admin").exit_code == 0
    assert "openai" in touchstone("routing", "list").stdout
    assert touchstone("routing", "unpin", "math", role="admin").exit_code == 0
    listed = touchstone("routing", "list")
    assert "No subject has data or a pin." in listed.stderr
    assert "All others are solved by nobody: no provider has a key." in listed.stderr


def test_what_the_api_refuses_is_one_sentence(touchstone: TenantCommand) -> None:
    for arguments in (("verify", "--problem", " ", "--answer", "a"), ("answers", "list", "--cursor", "x")):
        result = touchstone(*arguments)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    denied = touchstone("verify", *PROOF, role="reader")
    assert denied.exit_code == 2
    assert "role" in denied.stderr
