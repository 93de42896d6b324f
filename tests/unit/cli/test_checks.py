"""The checks at the command line: no model, no key, no deployment."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Command


@pytest.mark.parametrize(
    ("given", "expected", "code", "words"),
    [
        ("The answer is 1/2.", "0.5", 0, "The same value."),
        ("10 cm", "10 m", 1, "Different values."),
        ("9**9**9**9", "1", 3, "That cannot be told."),
    ],
)
def test_values_are_compared(touchstone: Command, given: str, expected: str, code: int, words: str) -> None:
    result = touchstone("check", "equivalent", given, expected)
    assert (result.exit_code, result.stdout.strip()) == (code, words)
    document = json.loads(touchstone("check", "equivalent", given, expected, "--json").stdout)
    assert document == {"equivalent": {0: True, 1: False, 3: None}[code]}


def test_the_reading_of_each_side_is_told_and_what_decided(touchstone: Command) -> None:
    result = touchstone("check", "equivalent", "10 kcal/mol", "10 kJ/mol", "--explain")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "Different values.",
        "Given:    a quantity: 10 × [4184 amount^-1·length^2·mass·time^-2]",
        "Expected: a quantity: 10 × [1000 amount^-1·length^2·mass·time^-2]",
        "Because:  Both in base units.",
    ]
    found = json.loads(touchstone("check", "equivalent", "5 blorp/zork", "5", "--explain", "--json").stdout)
    assert found["equivalent"] is None
    assert found["given"].startswith("not read as a value")


@pytest.mark.parametrize(("tolerance", "code"), [("relative=0.01", 0), ("absolute=0.001", 1), ("nearly", 2)])
def test_a_tolerance_is_given_and_never_assumed(touchstone: Command, tolerance: str, code: int) -> None:
    assert touchstone("check", "equivalent", "9.79 m/s^2", "9.81 m/s^2").exit_code == 1
    assert touchstone("check", "equivalent", "9.79 m/s^2", "9.81 m/s^2", "--tolerance", tolerance).exit_code == code


def test_the_question_says_which_form_was_asked_for(touchstone: Command) -> None:
    asked = ("--question", "Simplify 6/8.", "--explain")
    assert touchstone("check", "equivalent", "6/8", "3/4").exit_code == 0
    result = touchstone("check", "equivalent", "6/8", "3/4", *asked)
    assert (result.exit_code, "may ask for another order or another form" in result.stdout) == (3, True)
    sorted_ = touchstone("check", "equivalent", "3, 1, 2", "1, 2, 3", "--question", "Sort 3, 1, 2.", "--explain")
    assert (sorted_.exit_code, "may ask for another order or another form" in sorted_.stdout) == (3, True)


def test_a_negative_answer_is_an_answer_after_two_dashes(touchstone: Command) -> None:
    assert touchstone("check", "equivalent", "--", "-1/2", "-0.5").exit_code == 0


@pytest.mark.parametrize(
    ("answer", "code", "words"), [("11/12", 0, "Proved."), ("1/2", 1, "Refuted."), ("A poem.", 3, "Neither")]
)
def test_an_answer_is_proved_with_its_derivation(touchstone: Command, answer: str, code: int, words: str) -> None:
    problem = "Compute 3/4 + 1/6." if code != 3 else "Write a poem."
    result = touchstone("check", "prove", problem, answer)
    assert result.exit_code == code
    assert result.stdout.startswith(words)
    assert ("11/12" in result.stdout) == (code != 3)
    found = json.loads(touchstone("check", "prove", problem, answer, "--json").stdout)
    assert found["outcome"] == {0: "proved", 1: "refuted", 3: "unknown"}[code]


def test_a_false_calculation_is_found_with_its_line(touchstone: Command, tmp_path: Path) -> None:
    solution = "First, 3 * 8 = 24.\nThen 50 - 24 = 27.\n"
    (tmp_path / "solution.txt").write_text(solution)
    result = touchstone("check", "arithmetic", str(tmp_path / "solution.txt"))
    assert result.exit_code == 1
    assert result.stdout.startswith("Line 2: ")
    assert "26" in result.stdout
    found = json.loads(touchstone("check", "arithmetic", "-", "--json", stdin=solution).stdout)
    assert found["line"] == 2


def test_a_solution_without_one_is_good(touchstone: Command) -> None:
    result = touchstone("check", "arithmetic", "-", "--problem", "In Z_5", stdin="3 + 4 = 2")
    assert result.exit_code == 0, result.stdout
    result = touchstone("check", "arithmetic", "-", stdin="3 * 8 = 24")
    assert (result.exit_code, result.stdout) == (0, "No false calculation was found.\n")
    assert json.loads(touchstone("check", "arithmetic", "-", "--json", stdin="3 * 8 = 24").stdout) is None


def test_a_file_that_is_not_there_is_one_sentence(touchstone: Command, tmp_path: Path) -> None:
    result = touchstone("check", "arithmetic", str(tmp_path / "none.txt"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {tmp_path / 'none.txt'} cannot be read: No such file or directory.\n"


def test_simplified_words_are_listed_by_line_and_column(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "quiz.txt").write_text("皇后住在這裡。\n我們以后學習。\n", encoding="utf-8")
    result = touchstone("check", "script", str(tmp_path / "quiz.txt"))
    assert (result.exit_code, result.stdout) == (1, "2:3 simplified_word: 「以后」在臺灣寫作「以後」。 → 以後\n")
    (found,) = json.loads(touchstone("check", "script", "-", "--json", stdin="我們以后學習。").stdout)
    assert (found["span"], found["suggestion"], found["line"], found["column"]) == ([2, 4], "以後", 1, 3)


def test_traditional_text_is_good(touchstone: Command) -> None:
    result = touchstone("check", "script", "-", stdin="皇后住在這裡。")
    assert (result.exit_code, result.stdout) == (0, "Nothing is Simplified.\n")
    assert json.loads(touchstone("check", "script", "-", "--json", stdin="皇后").stdout) == []


def test_pinyin_is_held_against_its_characters(touchstone: Command) -> None:
    result = touchstone("check", "pinyin", "-", stdin="yínxín")
    assert (result.exit_code, result.stdout) == (0, "The pinyin is right.\n")
    result = touchstone("check", "pinyin", "-", "--hanzi", "銀行", stdin="yínxín")
    assert result.exit_code == 1
    assert result.stdout.startswith("1:4 wrong_reading: ")
    assert touchstone("check", "pinyin", "-", stdin="xue2").stdout.endswith(" → xué\n")


def test_a_negative_number_is_a_value_and_no_option(touchstone: Command) -> None:
    assert touchstone("check", "equivalent", "-5", "-5.0", "--explain").exit_code == 0
    assert touchstone("check", "equivalent", "-5", "5").exit_code == 1
    assert touchstone("check", "equivalent", "-5", "-5", "--explian").exit_code == 2
    assert touchstone("check", "prove", "Compute 2 - 7.", "-5").exit_code == 0
