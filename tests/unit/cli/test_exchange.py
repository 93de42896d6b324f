"""`touchstone quiz export` and `import`, `cards export` and `import`: files for other tools, whole or not at all."""

import csv
import json
import zipfile
from pathlib import Path

import pytest

from tests.support.commands import Command

EVENTS = Path(__file__).parents[3] / "events"


@pytest.mark.parametrize(
    ("form", "begins"), [("gift", b"::q1::"), ("moodle", b"<?xml"), ("qti", b"PK"), ("qti3", b"PK"), ("anki", b"PK")]
)
def test_a_quiz_is_written_for_a_tool(touchstone: Command, tmp_path: Path, form: str, begins: bytes) -> None:
    out = tmp_path / "quiz.out"
    result = touchstone("quiz", "export", str(EVENTS / "quiz.json"), "--to", form, "--out", str(out))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{out} has 5 questions.\n")
    assert out.read_bytes().startswith(begins)


def test_a_quiz_that_went_to_gift_comes_back(touchstone: Command, tmp_path: Path) -> None:
    gift, back = tmp_path / "quiz.gift", tmp_path / "quiz.json"
    touchstone("quiz", "export", str(EVENTS / "quiz.json"), "--to", "gift", "--out", str(gift))
    assert touchstone("quiz", "import", str(gift), "--out", str(back)).exit_code == 0
    before, after = (json.loads(file.read_text("utf-8"))["questions"] for file in (EVENTS / "quiz.json", back))
    assert [(one["question_text"], one["answers"]) for one in after] == [
        (one["question_text"], one["answers"]) for one in before
    ]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("quiz.gift", "quiz import {} --out {}"),
        ("quiz.json", "quiz export {} --to gift --out {}"),
        ("flashcards.csv", "cards export {} --out {}"),
        ("quiz.json", "evaluate quiz {} --junit {}"),
        ("quiz.json", "quiz check {} --sarif {}"),
        ("answers.jsonl", "results export {} --to otlp --out {}"),
    ],
)
def test_the_file_that_is_read_is_not_overwritten(touchstone: Command, tmp_path: Path, name: str, command: str) -> None:
    file, link = tmp_path / name, tmp_path / "link"
    file.write_bytes((EVENTS / name).read_bytes())
    link.symlink_to(file)
    result = touchstone(*command.format(file, link).split())
    assert result.exit_code == 2
    assert f"{link} is the file to read, and would be overwritten; name another." in result.stderr
    assert file.read_bytes() == (EVENTS / name).read_bytes()


def test_what_has_no_place_in_a_quiz_is_named(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "some.gift").write_text("Right? {T#Yes!}\n")
    result = touchstone("quiz", "import", str(tmp_path / "some.gift"), "--out", str(tmp_path / "quiz.json"))
    assert (result.exit_code, result.stderr.splitlines()) == (
        0,
        [
            f"Left out: {tmp_path / 'some.gift'}: line 1: the feedback on an answer.",
            f"{tmp_path / 'quiz.json'} has 1 question.",
        ],
    )


def test_nothing_is_written_of_a_file_with_a_fault(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "some.gift").write_text("Right? {T}\n\nAn essay. {}\n")
    result = touchstone("quiz", "import", str(tmp_path / "some.gift"), "--out", str(tmp_path / "quiz.json"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "some.gift: line 3: an essay has no key" in result.stderr
    assert "--leave-out" in result.stderr
    assert not (tmp_path / "quiz.json").exists()


def test_leaving_entries_out_is_advised_only_where_it_helps(touchstone: Command, tmp_path: Path) -> None:
    (tmp_path / "some.gift").write_text("// line 1: only a comment\n")
    result = touchstone("quiz", "import", str(tmp_path / "some.gift"), "--out", str(tmp_path / "quiz.json"))
    assert result.exit_code == 2
    assert "There are no questions in it." in result.stderr
    assert "--leave-out" not in result.stderr


@pytest.mark.parametrize("noun", ["quiz", "cards"])
def test_a_bank_of_many_kinds_is_imported_without_those_that_a_quiz_has_not(
    touchstone: Command, tmp_path: Path, noun: str
) -> None:
    bank, out = tmp_path / "bank.gift", tmp_path / "out.json"
    bank.write_text(
        "Right? {T}\n\nAn essay. {}\n\nPair? {=a -> 1 =b -> 2}\n\nHow many? {#3:2}\n\nCapital? {=Rome ~Bari}\n"
    )
    result = touchstone(noun, "import", str(bank), "--leave-out", "--out", str(out))
    assert result.exit_code == 0
    assert [line.split(": ")[2] for line in result.stderr.splitlines()[:-1]] == ["line 3", "line 5", "line 7"]
    assert result.stderr.endswith(f"{out} has 2 {'questions' if noun == 'quiz' else 'cards'}.\n")
    bank.write_text("An essay. {}\n")
    result = touchstone(noun, "import", str(bank), "--leave-out", "--out", str(tmp_path / "none.json"))
    assert (result.exit_code, (tmp_path / "none.json").exists()) == (2, False)
    assert "There are no questions of a quiz in it." in result.stderr


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("moodle", "This is another form: only Moodle's GIFT is read here"),
        ("qti", "is a package"),
        ("anki", "is a package"),
    ],
)
def test_another_tools_file_is_told_for_what_it_is(touchstone: Command, tmp_path: Path, form: str, says: str) -> None:
    file, out = tmp_path / "quiz.out", tmp_path / "quiz.json"
    touchstone("quiz", "export", str(EVENTS / "quiz.json"), "--to", form, "--out", str(file))
    result = touchstone("quiz", "import", str(file), "--out", str(out))
    assert (result.exit_code, result.stderr.count(str(file)), out.exists()) == (2, 1, False)
    assert says in result.stderr


def test_cards_become_a_deck_that_is_called_as_its_file_or_as_one_says(touchstone: Command, tmp_path: Path) -> None:
    for name, options in (("moon", ()), ("Tides", ("--name", "Tides"))):
        out = tmp_path / "moon.apkg"
        result = touchstone("cards", "export", str(EVENTS / "flashcards.csv"), "--out", str(out), *options)
        assert (result.exit_code, result.stderr) == (0, f"{out} has 5 cards.\n")
        with zipfile.ZipFile(out) as package:
            assert f'"name": "{name}"'.encode() in package.read("collection.anki2")
    odd = tmp_path / "\udcb5.apkg"  # as an archive of another language's names leaves it
    assert touchstone("cards", "export", str(EVENTS / "flashcards.csv"), "--out", str(odd)).exit_code == 0
    assert odd.exists()


@pytest.mark.parametrize(("command", "file"), [("cards", "flashcards.csv"), ("quiz", "quiz.json")])
def test_a_name_that_a_form_has_no_place_for_is_refused(
    touchstone: Command, tmp_path: Path, command: str, file: str
) -> None:
    out = tmp_path / "moon.gift"
    result = touchstone(command, "export", str(EVENTS / file), "--to", "gift", "--name", "Tides", "--out", str(out))
    assert (result.exit_code, out.exists()) == (2, False)
    assert result.stderr == "Error: --name: Only a deck of Anki has a name; leave it out.\n"


@pytest.mark.parametrize(
    ("form", "begins"), [("gift", b"::c1::"), ("moodle", b"<?xml"), ("qti", b"PK"), ("qti3", b"PK"), ("anki", b"PK")]
)
def test_cards_are_written_for_a_tool(touchstone: Command, tmp_path: Path, form: str, begins: bytes) -> None:
    out = tmp_path / "moon.out"
    result = touchstone("cards", "export", str(EVENTS / "flashcards.csv"), "--to", form, "--out", str(out))
    assert (result.exit_code, result.stderr) == (0, f"{out} has 5 cards.\n")
    assert out.read_bytes().startswith(begins)


def test_cards_that_went_to_gift_come_back(touchstone: Command, tmp_path: Path) -> None:
    cards, gift, back = (tmp_path / name for name in ("cards.csv", "cards.gift", "cards.json"))
    sides = [("What is 3 * 4?", "12"), ("Which sign is {x = 1}?", "a set: ~ # \\"), ("月亮", "moon\nluna")]
    with cards.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("front", "back"), *sides])
    touchstone("cards", "export", str(cards), "--to", "gift", "--out", str(gift))
    result = touchstone("cards", "import", str(gift), "--out", str(back))
    assert (result.exit_code, result.stderr) == (0, f"{back} has 3 cards.\n")
    found = json.loads(back.read_text("utf-8"))["cards"]
    assert [(one["front"], one["back"]) for one in found] == sides


def test_more_cards_than_a_quiz_holds_are_refused_with_what_to_do(touchstone: Command, tmp_path: Path) -> None:
    given, out = tmp_path / "cards.csv", tmp_path / "out"
    given.write_text("front,back\n" + "".join(f"q{number},a\n" for number in range(501)))
    result = touchstone("cards", "export", str(given), "--to", "moodle", "--out", str(out))
    assert (result.exit_code, out.exists()) == (2, False)
    assert "501 cards, and a quiz has 500 questions at most" in result.stderr
