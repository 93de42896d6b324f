"""What has one right correction is corrected where it stands, and nothing else is touched."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.quiz_files import question, quiz
from touchstone.cli.files.quiz_files import read, read_all
from touchstone.cli.files.quiz_findings import CORRECTED, CheckedFile, QuizRequirements, checked
from touchstone.cli.local.quiz_checking import difference, fixed, write

RIGHT = (
    "學習 (xuéxí)",
    "In 1563 nián",
    "皇后住在這裡。",
    "Xī'ān",
    "a café in Zürich",
    "妳好，女兒 (nǚ'ér)！",
    "MP3 and KTV, room A4",
    "學習 (to study)",
    "\\ \n\t/ 😀 “quoted”",
    "lǜsè",
)
WRONG = ("学习", "以后", "xue2xi2", "xúexí", "hăo", "nv3", "Xīān", "nǐ hao3", "我学习漢语(Han4yu3)", "面條", "干杯")
TEXTS = st.lists(st.sampled_from(RIGHT + WRONG), min_size=1, max_size=4).map(" ".join)
RIGHT_TEXTS = st.lists(st.sampled_from(RIGHT), min_size=1, max_size=4).map(" ".join)
FORMS = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 0, 2, "\t"])})


def _questions(texts: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda text, choices, key, note: question(
            question_text=text, choices=choices, answers=[choices[key % len(choices)]], explanation=note
        ),
        texts,
        st.lists(texts, min_size=2, max_size=4),
        st.integers(0, 3),
        texts,
    )


def _checked(text: str, name: str = "quiz.json") -> CheckedFile:
    return checked(read(Path(name), text), QuizRequirements())


def _fixed(text: str, name: str = "quiz.json") -> str:
    return fixed(_checked(text, name), QuizRequirements()).after.file.text


def _reworded(values: list[Any], before: list[Any]) -> int:
    return sum(one != other for one, other in zip(values, before, strict=True))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(_questions(TEXTS), FORMS)
def test_correcting_leaves_nothing_to_correct_and_the_rest_as_it_was(one: dict[str, Any], form: dict[str, Any]) -> None:
    text = quiz(one, **form)
    fix = fixed(_checked(text), QuizRequirements())
    after = fix.after.file.text
    assert not any(placed.splices for placed in fix.after.all_findings)
    assert _fixed(after) == after
    (now,) = json.loads(after)["questions"]
    found = {placed.violation.field for placed in fix.before.all_findings if placed.violation.finding in CORRECTED}
    assert now["id"] == one["id"]
    assert len(now["choices"]) == len(one["choices"])
    for field in ("question_text", "explanation"):
        assert (now[field] == one[field]) or field in found
    for at, choice in enumerate(one["choices"]):
        assert (now["choices"][at] == choice) or f"choices[{at}]" in found
    assert (now["answers"][0] in now["choices"]) or (one["answers"][0] not in one["choices"])
    # The layout, the escapes and the order of fields are those of before; a text of ASCII alone does not tell which
    # escapes it would have.
    known = [form] if form.get("ensure_ascii") is False or "\\u" in text else [form, {**form, "ensure_ascii": False}]
    assert after in [quiz(now, **each) for each in known]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(_questions(RIGHT_TEXTS), FORMS)
def test_what_is_right_is_never_touched(one: dict[str, Any], form: dict[str, Any]) -> None:
    text = quiz(one, **form)
    found = _checked(text)
    assert [placed for placed in found.all_findings if placed.violation.rule != "structure"] == []
    assert _fixed(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("学习", "學習"),
        ("以后", "以後"),
        ("我學習 xue2xi2", "我學習 xuéxí"),
        ("xúexí", "xuéxí"),
        ("hăo", "hǎo"),
        ("nv3'ér", "nǚ'ér"),
        ("Xīān", "Xī'ān"),
        ("1563 nián", "1563 nián"),
        ("學習 (xuexi)", "學習 (xuexi)"),
        ("銀行 (yínxíng)", "銀行 (yínxíng)"),
        ("學習 (xuéxǐ)", "學習 (xuéxǐ)"),
        ("a <b>bold</b> word", "a <b>bold</b> word"),
    ],
)
def test_only_what_has_one_right_answer_is_corrected(before: str, after: str) -> None:
    fixed_quiz = json.loads(_fixed(quiz(question(explanation=before))))
    assert fixed_quiz["questions"][0]["explanation"] == after


def test_a_key_is_corrected_with_its_choice() -> None:
    text = quiz(question(choices=["学校", "公司", "学校"], answers=["学校"]))
    (now,) = json.loads(_fixed(text))["questions"]
    assert (now["choices"], now["answers"]) == (["學校", "公司", "學校"], ["學校"])


@pytest.mark.parametrize("choices", [["學習", "学习"], ["xué", "xue2"], ["hǎo", "hăo", "hào"], ["xúe", "xué"]])
def test_choices_that_differ_by_the_fault_alone_are_left(choices: list[str]) -> None:
    text = quiz(question(question_text="Which is right? 学校", choices=choices, answers=[choices[0]]))
    (now,) = json.loads(_fixed(text))["questions"]
    assert (now["question_text"], now["choices"]) == ("Which is right? 學校", choices)
    assert all(not placed.splices for placed in _checked(text).all_findings if "choices" in placed.field)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "true_false", "question_text": "Is “xúe” spelt right?", "choices": [], "answers": ["false"]},
        {"kind": "true_false", "question_text": "「学习」はこう書く。", "choices": [], "answers": ["false"]},
        {"question_text": "Which of these is Simplified?", "choices": ["学校", "公司"], "answers": ["学校"]},
        {"question_text": "Quel mot ?", "choices": ["学习", "老師", "圖書館"], "answers": ["学习"]},
        {"question_text": "Compare 以后 and 以後."},
        {"question_text": "Is it lv4 sè or lǜsè?"},
        {"question_text": "Is it xue2 or xúe?"},
        {"explanation": "In Taiwan one says 學習, not 学习."},
        {"explanation": "學習 is to study: 我在学校学习中文。"},
        {"explanation": "女兒 is nǔer."},
    ],
)
def test_what_may_be_meant_is_left_for_a_person(changes: dict[str, Any]) -> None:
    text = quiz(question(**changes))
    fix = fixed(_checked(text), QuizRequirements())
    assert (fix.after.file.text, fix.corrected) == (text, 0)
    found = [one for one in fix.after.all_findings if one.violation.rule != "structure"]
    assert found
    assert all(placed.left or placed.violation.suggestion is None for placed in found)


def test_lines_are_corrected_each_in_its_place() -> None:
    text = f"{quiz()}\r\nnonsense\r\n{quiz(question(explanation='学习'), ensure_ascii=True)}\r\n{quiz()}"
    after = _fixed(text, "quiz.jsonl")
    assert after == text.replace("\\u5b66\\u4e60", "\\u5b78\\u7fd2")
    assert after != text


def test_a_difference_shows_the_lines_that_change() -> None:
    fix = fixed(_checked(quiz(question(explanation="学习"), indent=1)), QuizRequirements())
    shown = difference(fix).splitlines()
    assert shown[:2] == ["--- quiz.json", "+++ quiz.json"]
    assert [line for line in shown[2:] if line[0] in "+-"] == [
        '-   "explanation": "学习"',
        '+   "explanation": "學習"',
    ]
    assert difference(fixed(_checked(quiz()), QuizRequirements())) == ""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "quiz.json"
    path.write_bytes(b"\xef\xbb\xbf" + quiz(question(explanation="学习"), indent=1).replace("\n", "\r\n").encode())
    return path


def _fix_of(path: Path) -> Any:
    (file,) = read_all([path]).files
    return fixed(checked(file, QuizRequirements()), QuizRequirements())


def test_a_file_is_written_with_everything_else_as_it_was(faulty: Path) -> None:
    faulty.chmod(0o640)
    before = faulty.read_bytes()
    assert write(_fix_of(faulty)) is None
    assert faulty.read_bytes() == before.replace("学习".encode(), "學習".encode())
    assert faulty.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in faulty.parent.iterdir()] == ["quiz.json"]
    assert not _fix_of(faulty).changed


def test_links_and_files_that_nobody_may_write_are_left(faulty: Path, tmp_path: Path) -> None:
    before = faulty.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(faulty)
    refused = write(_fix_of(link))
    assert refused is not None
    assert refused.sentence == f"This is a link, so nothing was written; correct {faulty} itself."
    faulty.chmod(0o444)
    refused = write(_fix_of(faulty))
    assert refused is not None
    assert refused.sentence == "This file is read-only, so nothing was written."
    assert faulty.read_bytes() == before


def test_a_file_that_changed_or_went_meanwhile_is_left(faulty: Path) -> None:
    fix = _fix_of(faulty)
    faulty.write_text("[]")
    refused = write(fix)
    assert refused is not None
    assert "changed while it was checked" in refused.sentence
    faulty.unlink()
    refused = write(fix)
    assert refused is not None
    assert "cannot be read any more" in refused.sentence
    assert not faulty.exists()
