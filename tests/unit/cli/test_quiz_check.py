"""`touchstone quiz check`: findings with line and column, what was not applied, and exit codes to rely on."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.commands import Command
from tests.support.quiz_files import CLEAN, FAULTY, curriculum, question, quiz
from tests.support.sarif_schema import sarif_runs
from tests.support.timing import takes_at_most
from touchstone import packaged
from touchstone.chinese.scripts import tables
from touchstone.chinese.syllables import table

NOT_APPLIED = (
    "Not applied: question_language (give --ui-language), curriculum_alignment (give --curriculum and --chapter), "
    "pedagogical_quality (a judge decides that)."
)


def test_a_quiz_without_a_fault_is_said_to_be_so_and_what_was_not_applied(touchstone: Command) -> None:
    result = touchstone("quiz", "check", str(CLEAN))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "1 file, 1 quiz, 4 questions: no finding.",
        f"Applied: structure, traditional_chinese, pinyin_diacritics. {NOT_APPLIED}",
    ]


def test_faults_are_listed_by_file_line_and_column(touchstone: Command) -> None:
    result = touchstone("quiz", "check", str(FAULTY), "--ui-language", "en")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == (
        f"{FAULTY}:6:36 traditional_chinese 「学习」 is Simplified; in Taiwan it is written 「學習」. → 學習"
    )
    told = [tuple(line.removeprefix(f"{FAULTY}:").split(" ")[:2]) for line in lines]
    assert told == [
        ("6:36", "traditional_chinese"),
        ("9:27", "pinyin_diacritics"),
        ("9:31", "pinyin_diacritics"),
        ("9:51", "traditional_chinese"),
        ("9:53", "traditional_chinese"),
        ("11:47", "pinyin_diacritics"),
        ("16:24", "question_language"),
        ("17:25", "pinyin_diacritics"),
        ("24:42", "structure"),
        ("24:50", "structure"),
        ("25:20", "traditional_chinese"),
        ("26:19", "structure"),
        ("33:18", "structure"),
    ]
    assert "13 findings; --fix corrects 6, --diff shows how." in result.stderr


def test_the_guide_shows_what_is_said(touchstone: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    root = FAULTY.parents[1]
    monkeypatch.chdir(root)
    guide = (root / "docs/how-to/quizzes.md").read_text(encoding="utf-8")
    shown = guide.partition("```text\n")[2].partition("```")[0].splitlines()
    result = touchstone("quiz", "check", "events/quiz_faults.json", "--ui-language", "en")
    said = {*result.stdout.splitlines(), *result.stderr.splitlines()}
    assert [line for line in shown if line != "…" and line not in said] == []
    assert len(shown) > 4


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (question(answers=[]), "The question has no correct answer."),
        (question(answers=["to sleep"]), "The answer “to sleep” is none of the choices."),
        (question(question_text="What is a pаssword?"), "“pаssword” mixes letters of different scripts"),
        (question(question_text="What is <i>this</i>?"), "The text holds markup: “<i>”."),
    ],
)
def test_what_makes_no_exercise_is_found(
    touchstone: Command, tmp_path: Path, one: dict[str, object], words: str
) -> None:
    (tmp_path / "quiz.json").write_text(quiz(one), encoding="utf-8")
    result = touchstone("quiz", "check", str(tmp_path))
    assert result.exit_code == 1
    assert words in result.stdout


def test_five_hundred_questions_are_checked(touchstone: Command, tmp_path: Path) -> None:
    many = (question(id=f"q{at}", explanation="The year 1563 nián.") for at in range(499))
    (tmp_path / "quiz.json").write_text(quiz(*many, question(id="last", explanation="学")), encoding="utf-8")
    result = touchstone("quiz", "check", str(tmp_path))
    assert (result.exit_code, len(result.stdout.splitlines())) == (1, 1)
    assert "1 quiz, 500 questions: 1 finding;" in result.stderr


def test_what_cannot_be_read_is_named_and_all_else_is_checked(touchstone: Command, tmp_path: Path) -> None:
    shutil.copy(FAULTY, tmp_path / "b.json")
    (tmp_path / "a.json").write_text(quiz(question(kind="essay"), indent=1), encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\x00")
    result = touchstone("quiz", "check", str(tmp_path))
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 12
    said = result.stderr.splitlines()
    assert said[0].startswith(f"{tmp_path}/a.json:5:12: questions.0.kind must be")
    assert said[1] == f"{tmp_path}/picture.json: This is not UTF-8 text; save it as UTF-8."
    assert said[-2:] == [
        "Could not be done: 2 faults, named above.",
        f"No quizzes, and left alone: {tmp_path}/package.json.",
    ]


@pytest.mark.parametrize("command", [("quiz", "check"), ("evaluate", "quiz")])
def test_gift_is_told_how_it_becomes_a_quiz(touchstone: Command, tmp_path: Path, command: tuple[str, str]) -> None:
    (tmp_path / "bank.gift").write_text("::Q1:: 2+2=4 {T}\n")
    result = touchstone(*command, str(tmp_path / "bank.gift"))
    assert result.exit_code == 2
    assert f"{tmp_path}/bank.gift: This is GIFT" in result.stderr
    assert "touchstone quiz import" in result.stderr


def test_an_empty_folder_is_no_success(touchstone: Command, tmp_path: Path) -> None:
    result = touchstone("quiz", "check", str(tmp_path))
    assert result.exit_code == 2
    assert "This folder holds no files called *.json or *.jsonl." in result.stderr


def test_a_chapter_says_what_may_be_tested(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "course.json").write_text(curriculum(), encoding="utf-8")
    (tmp_path / "quiz.json").write_text(quiz(question(target="你好")), encoding="utf-8")
    course = ("--curriculum", str(tmp_path / "course.json"))
    result = touchstone("quiz", "check", str(tmp_path / "quiz.json"), *course, "--chapter", "2")
    assert result.exit_code == 1
    assert "curriculum_alignment The question tests 「你好」, which the chapter does not teach." in result.stdout
    assert "curriculum_alignment (in part" in result.stderr
    assert touchstone("quiz", "check", str(tmp_path / "quiz.json"), *course, "--chapter", "1").exit_code == 1
    for alone in (course, ("--chapter", "1")):
        result = touchstone("quiz", "check", str(tmp_path / "quiz.json"), *alone)
        assert (result.exit_code, "go together" in result.stderr) == (2, True)
    result = touchstone("quiz", "check", str(tmp_path / "quiz.json"), *course, "--chapter", "9")
    assert result.exit_code == 2
    assert "has no chapter 9; it has 1, 2." in result.stderr


def test_fixing_corrects_and_tells_what_is_left(touchstone: Command, tmp_path: Path) -> None:
    shutil.copy(FAULTY, tmp_path / "quiz.json")
    shutil.copy(CLEAN, tmp_path / "clean.json")
    shown = touchstone("quiz", "check", str(tmp_path), "--diff")
    assert shown.exit_code == 1
    assert '-      "choices": ["以后", "以前"],\n+      "choices": ["以後", "以前"],\n' in shown.stdout
    assert (tmp_path / "quiz.json").read_bytes() == FAULTY.read_bytes()
    result = touchstone("quiz", "check", str(tmp_path), "--fix")
    assert result.exit_code == 1
    left = [line.split(" ")[1] for line in result.stdout.splitlines()]
    assert left == ["traditional_chinese"] * 2 + ["structure"] * 3
    assert result.stderr.splitlines()[:3] == [
        "2 files, 2 quizzes, 8 questions: 5 findings left.",
        "Corrected: 6 findings in 1 file.",
        "Left for a person: 2 findings, since the form may be meant.",
    ]
    written = (tmp_path / "quiz.json").read_bytes()
    again = touchstone("quiz", "check", str(tmp_path), "--fix")
    assert "Corrected: 0 findings in 0 files." in again.stderr
    assert (tmp_path / "quiz.json").read_bytes() == written
    assert (tmp_path / "clean.json").read_bytes() == CLEAN.read_bytes()


def test_a_file_that_may_not_be_written_is_named(touchstone: Command, tmp_path: Path) -> None:
    shutil.copy(FAULTY, tmp_path / "quiz.json")
    (tmp_path / "quiz.json").chmod(0o444)
    result = touchstone("quiz", "check", str(tmp_path), "--fix")
    assert result.exit_code == 2
    assert f"{tmp_path}/quiz.json: This file is read-only, so nothing was written." in result.stderr
    assert len(result.stdout.splitlines()) == 12


def test_programs_are_told_everything(touchstone: Command) -> None:
    result = touchstone("quiz", "check", str(FAULTY), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert found["findings"][0] == {
        "file": str(FAULTY),
        "line": 6,
        "column": 36,
        "question_id": "q1",
        "rule": "traditional_chinese",
        "finding": "simplified_character",
        "detail": "「学习」 is Simplified; in Taiwan it is written 「學習」.",
        "suggestion": "學習",
        "field": "questions[0].question_text",
        "fixable": True,
        "left": False,
    }
    assert (found["files"], found["quizzes"], found["questions"], found["corrected"]) == (1, 1, 4, None)
    assert found["checks_run"] == ["structure", "traditional_chinese", "pinyin_diacritics"]
    assert set(found["not_run"]) == {"question_language", "curriculum_alignment", "pedagogical_quality"}
    for other in ("--json", "--fix"):
        refused = touchstone("quiz", "check", str(FAULTY), other, "--diff")
        assert (refused.exit_code, refused.stdout) == (2, "")


def test_github_marks_the_line(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a,b.json").write_text(quiz(question(explanation="100% 学习"), indent=1), encoding="utf-8")
    result = touchstone("quiz", "check", str(tmp_path), "--format", "github")
    (line,) = result.stdout.splitlines()
    assert line.startswith(f"::error file={tmp_path}/a%2Cb.json,line=14,col=25,title=traditional_chinese::「学习」")


def test_code_hosts_get_each_finding_at_its_line(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a b.json").write_text(quiz(question(explanation="100% 学习"), indent=1), encoding="utf-8")
    (tmp_path / "broken.json").write_text("{")
    target = tmp_path / "found.sarif"
    assert touchstone("quiz", "check", str(tmp_path), "--sarif", str(target)).exit_code == 2
    (run,) = sarif_runs(target.read_bytes())
    (result,) = run["results"]
    assert (result["ruleId"], result["kind"], result["level"]) == ("traditional_chinese", "fail", "error")
    (place,) = result["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": 14, "startColumn": 25}
    assert place["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "a b.json").as_uri()
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert "「学习」" in result["message"]["text"]
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"], "what was not read was not checked"
    assert (
        "broken.json"
        in invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    )
    assert touchstone("quiz", "check", str(CLEAN), "--sarif", str(target)).exit_code == 0
    (run,) = sarif_runs(target.read_bytes())
    assert (run["results"], run["invocations"]) == ([], [{"executionSuccessful": True}])


def test_ci_tools_get_a_case_for_each_question(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text(f"{quiz()}\n{quiz(question(explanation='学'))}\nno\n", encoding="utf-8")
    (tmp_path / "broken.json").write_text("{")
    target = tmp_path / "found.xml"
    assert touchstone("quiz", "check", str(tmp_path), "--junit", str(target)).exit_code == 2
    root = ET.fromstring(target.read_bytes())  # noqa: S314 (our own)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "2")
    cases = [(case.get("classname"), case.get("name"), [part.tag for part in case]) for case in root.iter("testcase")]
    assert cases == [
        ("touchstone.file", "line 1", ["error"]),
        ("touchstone.quiz 1", "q1", []),
        ("touchstone.quiz 2", "q1", ["failure"]),
        ("touchstone.file", "line 3", ["error"]),
    ]
    assert touchstone("quiz", "check", str(CLEAN), "--junit", str(tmp_path)).exit_code == 2


def test_nothing_that_a_terminal_obeys_is_printed(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "quiz.json").write_text(quiz(question(explanation="\x1b[2J学\u202e")), encoding="utf-8")
    result = touchstone("quiz", "check", str(tmp_path))
    shown = touchstone("quiz", "check", str(tmp_path), "--diff")
    assert "\x1b" not in result.stdout + shown.stdout
    assert "\u202e" not in result.stdout + shown.stdout
    assert "U+001B" in result.stdout


@pytest.fixture
def without_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if OpenCC and pypinyin were not installed."""
    monkeypatch.setattr(packaged, "find_spec", lambda _: None)
    for read in (tables, table):
        read.cache_clear()
    yield
    for read in (tables, table):
        read.cache_clear()


@pytest.mark.usefixtures("without_tables")
def test_without_the_tables_of_script_and_pinyin_nobody_calls_a_quiz_good(touchstone: Command, tmp_path: Path) -> None:
    result = touchstone("quiz", "check", str(CLEAN), "--ui-language", "en")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "Applied: structure, question_language." in result.stderr
    assert (
        "traditional_chinese (pip install 'touchstone-verdicts[script]'), pinyin_diacritics (pip install"
        in result.stderr
    )
    (tmp_path / "course.json").write_text(curriculum(), encoding="utf-8")
    course = ("--curriculum", str(tmp_path / "course.json"), "--chapter", "1")
    result = touchstone("quiz", "check", str(FAULTY), *course)
    assert result.exit_code == 1
    assert {line.split(" ")[1] for line in result.stdout.splitlines()} == {"structure"}
    assert "curriculum_alignment (pip install 'touchstone-verdicts[script]')" in result.stderr


def test_a_text_full_of_faults_is_corrected_in_time(touchstone: Command, tmp_path: Path) -> None:
    text = "学 xue2 " * 2_400

    def corrected() -> Result:
        (tmp_path / "quiz.json").write_text(quiz(question(explanation=text), ensure_ascii=True), encoding="utf-8")
        return touchstone("quiz", "check", str(tmp_path), "--fix")

    result = takes_at_most(3.0, corrected)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Corrected: 4,800 findings in 1 file." in result.stderr
    assert json.loads((tmp_path / "quiz.json").read_text())["questions"][0]["explanation"] == "學 xué " * 2_400


@pytest.mark.parametrize("tag", ["english", "klingon", "", "en please"])
def test_a_language_that_is_no_tag_is_refused(touchstone: Command, tag: str) -> None:
    result = touchstone("quiz", "check", str(CLEAN), "--ui-language", tag)
    assert (result.exit_code, "BCP 47" in result.stderr) == (2, True)


def test_a_language_that_the_check_does_not_know_is_not_said_to_be_checked(touchstone: Command) -> None:
    result = touchstone("quiz", "check", str(CLEAN), "--ui-language", "xx")
    assert result.exit_code == 0
    assert "Applied: structure, traditional_chinese, pinyin_diacritics. Not" in result.stderr
    assert "question_language (the check does not know xx)" in result.stderr


def test_a_course_with_faults_of_its_own_is_named(touchstone: Command, tmp_path: Path) -> None:
    course = tmp_path / "course.csv"
    course.write_text("chapter,kind,item,pinyin\n1,word,你好,nǐ hǎo\n1,word,学习,xue2xi2\n", encoding="utf-8")
    (tmp_path / "quiz.json").write_text(quiz(question(target="你好")), encoding="utf-8")
    result = touchstone("quiz", "check", str(tmp_path / "quiz.json"), "--curriculum", str(course), "--chapter", "1")
    said = result.stderr.splitlines()
    assert said[0] == f"Warning: {course}:3: the course teaches 「学习」, which is Simplified → 學習"
    detail = "“xue2” has a tone number; pinyin has tone marks alone. → xué"
    assert said[1] == f"Warning: {course}:3: in the course: {detail}"
    assert "curriculum_alignment (in part: targets and what 「」 quotes; a judge decides the rest)." in result.stderr


def test_where_nothing_could_be_read_nothing_is_to_be_installed(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text(" \n")
    result = touchstone("quiz", "check", str(tmp_path / "empty.json"))
    assert result.exit_code == 2
    assert "This file is empty." in result.stderr
    assert "structure (nothing could be read)" in result.stderr
    marked = touchstone("quiz", "check", str(tmp_path / "empty.json"), "--format", "github")
    assert marked.stdout == f"::error file={tmp_path}/empty.json,line=1,col=1::This file is empty.\n"


def test_one_question_that_cannot_be_read_leaves_the_others_to_be_checked(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "quiz.json"
    first, twice = question(kind="essay", id="a"), question(id="b")
    path.write_text(quiz(first, twice, question(id="b", explanation="学"), indent=1), encoding="utf-8")
    result = touchstone("quiz", "check", str(path), "--fix")
    assert result.exit_code == 2
    assert f"{path}:5:12: questions.0.kind must be" in result.stderr
    (line,) = result.stdout.splitlines()
    assert line == f"{path}:28:10 structure Another question before has the id 'b' too. → Give it an id of its own."
    assert json.loads(path.read_text(encoding="utf-8"))["questions"][2] == question(id="b", explanation="學")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\t\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_a_difference_is_a_patch(
    touchstone: Command, tmp_path: Path, ends: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (quiz(question(explanation="学"), indent=1) + last).replace("\n", ends)
    Path("a.json").write_bytes(text.encode())
    shown = touchstone("quiz", "check", "a.json", "--diff").stdout_bytes
    subprocess.run(["git", "apply", "-p0", "-"], input=shown, check=True)  # noqa: S607
    assert Path("a.json").read_bytes().decode() == text.replace("学", "學")
