"""Definitions of cases: every way in which benchmarks write them, and every fault told with its place."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.audit_cases import CASE, case
from tests.support.timing import takes_at_most
from touchstone.audits.case import AuditCase
from touchstone.audits.loading import Loaded, load_cases, load_text
from touchstone.audits.loading.definitions import FORM
from touchstone.audits.loading.files import MAX_BYTES, MAX_FAULTS
from touchstone.errors import SettingsError

WIDTH = {"A": "width", "B": "breadth"}


def read(text: str, name: str = "bench.yaml") -> tuple[AuditCase, ...]:
    """The cases of a text without a fault."""
    loaded = load_text(text, name=name)
    assert [str(fault) for fault in loaded.faults] == []
    return tuple(one.case for one in loaded.cases)


def faults(text: str, name: str = "bench.yaml") -> list[str]:
    loaded = load_text(text, name=name)
    assert loaded.cases == ()
    return [str(fault) for fault in loaded.faults]


def written(**fields: Any) -> str:
    """A definition as JSON, which is YAML too."""
    return json.dumps({"question": "Which?", "options": WIDTH, "ground_truth": "B"} | fields)


def shown(one: AuditCase) -> tuple[dict[str, str], str]:
    return {option.label: option.text for option in one.options}, one.ground_truth


@pytest.mark.parametrize("name", ["bench.yaml", "bench.yml", "bench.json"])
def test_a_case_as_it_is_kept_is_read_as_it_is(name: str) -> None:
    assert read(json.dumps(CASE), name) == (case(),)


@pytest.mark.parametrize(
    "options",
    [
        ["width", "breadth"],
        ["A) width", "B) breadth"],
        ["(a) width", "(b) breadth"],
        WIDTH,
        {"A.": "width", "(B)": "breadth"},
        {"A": {"text": "width"}, "B": {"text": "breadth", "is_correct": False}},
        [{"A": "width"}, {"B": "breadth"}],
        [{"label": "A", "text": "width"}, {"id": "B", "value": "breadth"}],
        [{"text": "width"}, {"content": "breadth"}],
        {"label": ["A", "B"], "text": ["width", "breadth"]},
    ],
)
@pytest.mark.parametrize("name", ["bench.yaml", "bench.json"])
def test_options_are_read_in_every_form(options: Any, name: str) -> None:
    (one,) = read(written(options=options), name)
    assert shown(one) == (WIDTH, "B")


@pytest.mark.parametrize(
    "key",
    [
        {"ground_truth": "B"},
        {"correct_answer": "b"},
        {"answer": "(B)"},
        {"correct_option": ["B"]},
        {"answer": "breadth"},
        {"answer": " Breadth "},
        {"answer_index": 1},
        {"answer": "B", "correct_answer": "breadth", "answer_index": 1},
        {"options": [{"text": "width"}, {"text": "breadth", "is_correct": True}]},
    ],
)
def test_the_key_is_found_in_every_spelling(key: dict[str, Any]) -> None:
    fields = {"question": "Which?", "options": WIDTH} | key
    (one,) = read(json.dumps(fields))
    assert shown(one) == (WIDTH, "B")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ({}, "The key is missing: name it as ground_truth, or correct_answer"),
        ({"answer": None}, "The key is missing"),
        ({"answer": "C"}, "answer: The key 'C' is none of the options A, B, nor the text of one."),
        ({"answer": 1}, "answer: The key '1' is none of the options"),
        ({"answer": ["A", "B"]}, "answer: There are 2 keys; a case has one."),
        ({"answer": "A", "correct_answer": "B"}, "There is more than one key (B, A); a case has one."),
        ({"answer_index": 2}, "answer_index: It must be the number of an option, counted from 0 to 1."),
        ({"answer": {"label": "A"}}, "answer: It must be a text."),
        ({"answer": "A", "options": {"A": "B", "B": "A"}}, "is the label of one option and the text of another."),
        ({"answer": "same", "options": {"A": "same", "B": "same"}}, "is the text of several options."),
        ({"options": [{"text": "a", "correct": True}, {"text": "b", "correct": True}]}, "more than one key (A, B)"),
    ],
)
def test_a_key_that_names_no_one_option_is_refused(key: dict[str, Any], words: str) -> None:
    (told,) = faults(json.dumps({"question": "Which?", "options": WIDTH} | key))
    assert words in told


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"options": None}, "bench.yaml:1:1: The options are missing: name them as options, choices, alternatives."),
        ({"options": []}, "options: A case has 2 to 26 options; this has 0."),
        ({"options": ["one"]}, "A case has 2 to 26 options; this has 1."),
        ({"options": [f"o{n}" for n in range(200)]}, "options: A case has 2 to 26 options; this has 200."),
        ({"options": {f"o{n}": "x" for n in range(200)}}, "this has 200."),
        ({"options": "A, B"}, "options: They must be a list, or a mapping of labels to texts."),
        ({"options": ["a", None]}, "options[1]: It says nothing; put quotes around it."),
        ({"options": ["a", ["b"]]}, "options[1]: It must be a text."),
        ({"options": ["a", {"note": "b", "more": "c"}]}, "options[1]: This option has no text."),
        ({"options": {"A": "a", "B": {"note": "b"}}}, "options.B: This option has no text."),
        ({"options": {"A": "a", "a": "b"}, "ground_truth": "b"}, "Every option needs an id of its own; a is there"),
        ({"options": {"A": "a", "B C": "b"}, "ground_truth": "A"}, "options.B C: The label 'B C' must be 1 to 32"),
        ({"options": {"label": ["A"], "text": ["a", "b"]}}, "options: There are 1 labels to 2 texts."),
        ({"question": None}, "The question is missing: name it as question, question_text, stem, prompt."),
        ({"question": "\u200b"}, "question: It says nothing that a reader would see."),
        ({"question": ["Which?"]}, "question: It must be a text."),
        ({"question": "x" * 20_001}, "question: It may have at most 20,000 characters, and has 20,001."),
        ({"id": "x" * 129}, "id: It may have at most 128 characters"),
        ({"kind": "über"}, "kind: 'über' must be a word such as multiple_choice"),
    ],
)
def test_what_makes_no_case_is_told_with_its_field(fields: dict[str, Any], words: str) -> None:
    (told,) = faults(written(**fields))
    assert words in told


@pytest.mark.parametrize(
    "text",
    [
        f"[{written(id='x')}, {written(id='y')}]",
        f"cases: [{written(id='x')}, {written(id='y')}]",
        f"benchmarks:\n- {written(id='x')}\n- {written(id='y')}\n",
        f"cases: {{x: {written()}, y: {written()}}}",
        f"{written(id='x')}\n---\n{written(id='y')}\n---\n",
    ],
)
def test_a_file_holds_one_case_or_many(text: str) -> None:
    assert [one.id for one in read(text)] == ["x", "y"]


def test_lines_of_json_are_cases() -> None:
    assert [one.id for one in read(f"{written(id='x')}\n\n{written(id='y')}", "bench.jsonl")] == ["x", "y"]
    (told,) = faults('{"a":\n', "bench.jsonl")
    assert told.startswith("bench.jsonl:1:6: This is not JSON")


def test_cases_without_an_id_are_called_by_their_file_and_number() -> None:
    assert [one.id for one in read(f"[{written()}, {written()}]\n---\n{written()}")] == [
        "bench-1",
        "bench-2",
        "bench-3",
    ]


def test_a_kind_is_read_in_its_spellings_and_may_be_the_whole_files() -> None:
    (one,) = read(written(benchmark_type="API Understanding"))
    assert one.kind == "api_understanding"
    first, second = read(f"type: api_understanding\ncases: [{written()}, {written(kind='multiple-choice')}]")
    assert (first.kind, second.kind) == ("api_understanding", "multiple_choice")


def test_values_are_the_texts_that_stand_there() -> None:
    (one,) = read("question: What does it print?\noptions: [No, 1.20, 0x10, 2024-01-01, on]\nanswer: No\n")
    assert [option.text for option in one.options] == ["No", "1.20", "0x10", "2024-01-01", "on"]
    assert one.ground_truth == "A"
    (one,) = read('{"question": "What?", "options": [1.20, true, "null"], "answer": "null"}', "bench.json")
    assert [option.text for option in one.options] == ["1.20", "true", "null"]


def test_blocks_anchors_and_merged_mappings_are_read() -> None:
    text = """\
defaults: &four
  options: &o {A: width, B: breadth}
  kind: api_understanding
cases:
- <<: *four
  id: one
  question: |
    Two lines
      of code
  answer: A
- {<<: [*four, {kind: ignored, answer: B}], id: two, question: Which?}
"""
    first, second = read(text)
    assert first.question == "Two lines\n  of code\n"
    assert (first.kind, second.kind, shown(second)) == ("api_understanding", "api_understanding", (WIDTH, "B"))


def test_all_faults_of_a_file_are_told_at_once_with_line_and_column() -> None:
    text = """\
benchmarks:
  - id: one
    question: Which?
    options: {A: a, B: b}
    correct_answer: C
  - id: two
    question: Which?
    correct_answer: A
  - just words
  - id: four
    options: [a, b]
    correct_answer: A
"""
    assert faults(text) == [
        "bench.yaml:5:21: benchmarks[0].correct_answer: The key 'C' is none of the options A, B, nor the text of one.",
        "bench.yaml:6:5: benchmarks[1]: The options are missing: name them as options, choices, alternatives.",
        f"bench.yaml:9:5: benchmarks[2]: This is no case. {FORM}",
        "bench.yaml:10:5: benchmarks[3]: The question is missing: name it as question, question_text, stem, prompt.",
    ]


def test_places_in_json_are_those_of_the_values() -> None:
    text = json.dumps([{"question": "Which?", "options": WIDTH, "answer": "C"}], indent=2)
    (told,) = faults(text, "bench.json")
    assert told.startswith("bench.json:8:15: [0].answer: The key 'C'")


def test_the_same_mistake_in_many_cases_is_told_so_often_and_no_more() -> None:
    loaded = load_text(json.dumps([{"question": "Which?"}] * 500), name="bench.json")
    assert (len(loaded.faults), loaded.unlisted_faults) == (MAX_FAULTS, 500 - MAX_FAULTS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "bench.yaml: This file is empty."),
        ("# nothing\n", "bench.yaml: This file is empty."),
        ("[]", "bench.yaml:1:1: There is no case here."),
        ("just words", "bench.yaml:1:1: There is no case here."),
        ("cases: none", "bench.yaml:1:1: There is no case here."),
        ("name: a\nversion: 1", "bench.yaml:1:1: There is no case here."),
        ("a: b: c", "bench.yaml:1:5: This is not YAML: mapping values are not allowed in this context."),
        ("a: 'b", "This is not YAML: found unexpected end of stream"),
        ("é: \x00", "bench.yaml:1:4: This is not YAML: it holds a character that no text has (U+0000)."),
        ("a: 1\na: 2", "bench.yaml:2:1: The field 'a' stands twice here; write it once."),
        ("? [a]\n: b", "bench.yaml:1:3: The name of a field must be a text."),
        ("<<: words", "bench.yaml:1:5: Only a mapping can be merged with <<."),
        ("a: *b", "bench.yaml:1:4: The alias *b stands for nothing that was complete before it."),
        ("&a [*a]", "The alias *a stands for nothing that was complete before it."),
        ("a: !!python/object/apply:os.system [id]", "bench.yaml:1:4: The tag tag:yaml.org,2002:python/object"),
        ("a: !!python/name:os.system", "is not read; write plain values."),
        ("a: !!binary aGk=", "The tag tag:yaml.org,2002:binary is not read"),
        ("a: !include /etc/passwd", "The tag !include is not read"),
        ("[" * 5_000, "This is nested too deeply"),
        ("- " * 5_000, "This is nested too deeply"),
    ],
)
def test_what_is_no_file_of_cases_is_told_with_its_place(text: str, told: str) -> None:
    (found,) = faults(text)
    assert told in found


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 30))
    (told,) = takes_at_most(2.0, lambda: faults(f"l0: &l0 [a, b]\n{levels}"))
    assert "more than 200,000 values" in told
    merged = "".join(f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
    (told,) = takes_at_most(2.0, lambda: faults(f"l0: &l0 {{a: b}}\n{merged}"))
    assert "more than 200,000 values" in told


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for name in ("a.yaml", "a.json", "a.jsonl"):
        loaded = load_text(text, name=name)
        assert loaded.faults or loaded.cases


def folder(root: Path, **files: str) -> Loaded:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_cases([root])


def test_a_folder_is_looked_through_and_what_is_no_benchmark_left_alone(tmp_path: Path) -> None:
    loaded = folder(
        tmp_path,
        a_yaml=written(id="one"),
        deep__b_json=f"\ufeff{written(id='two')}",
        package_json='{"name": "x", "questions": 3}',
        mkdocs_yml="site: x",
        words_yaml="just words",
        list_json='[1, {"question": 2}]',
        notes_txt="no",
        _hidden_yaml="[",
    )
    assert [(one.case.id, one.file.name, one.line) for one in loaded.cases] == [
        ("one", "a.yaml", 1),
        ("two", "b.json", 1),
    ]
    assert loaded.faults == ()
    assert [path.name for path in loaded.others] == ["list.json", "mkdocs.yml", "package.json", "words.yaml"]


def test_an_id_that_two_files_share_is_refused(tmp_path: Path) -> None:
    loaded = folder(tmp_path, a_yaml=written(id="one"), b_yaml=f"\n- {written(id='one')}\n")
    assert [one.file.name for one in loaded.cases] == ["a.yaml"]
    (fault,) = loaded.faults
    assert (fault.file.name, fault.line, fault.column, fault.field) == ("b.yaml", 2, 3, "id")
    assert fault.sentence == f"The id 'one' is there twice; the first is in {tmp_path / 'a.yaml'}, line 1."


def test_an_id_that_is_there_twice_is_told_with_the_other_faults_in_the_order_of_the_lines(tmp_path: Path) -> None:
    case = "  question: What?\n  options: [a, b]\n  ground_truth: A"
    loaded = folder(
        tmp_path,
        a_yaml=f"- id: one\n{case}\n- id: two\n  question: What?\n- id: one\n  question: What?\n- id: 7 7\n{case}x",
    )
    assert [(fault.line, "is there twice" in fault.sentence) for fault in loaded.faults] == sorted(
        (fault.line, "is there twice" in fault.sentence) for fault in loaded.faults
    )
    (twice,) = [fault for fault in loaded.faults if "is there twice" in fault.sentence]
    assert twice.line == 7
    assert {fault.line for fault in loaded.faults} >= {5, 7}, "those of other cases are told in the same run"


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(written(), encoding="utf-8")
    loaded = load_cases([path, tmp_path, path])
    assert (len(loaded.cases), loaded.faults) == (1, ())


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "b.yaml").write_bytes(b" " * (MAX_BYTES + 1))
    (tmp_path / "c.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml", "c.txt", "d.yaml", "empty")]
    assert [fault.sentence for fault in load_cases(paths).faults] == [
        "It is not UTF-8 text; save it as UTF-8.",
        "It is larger than 8,000,000 bytes; split it.",
        "Definitions are in files called *.yaml, *.yml, *.json, *.jsonl.",
        "It cannot be read: No such file or directory.",
        "This folder holds no files called *.yaml, *.yml, *.json, *.jsonl.",
    ]


def test_without_a_parser_of_yaml_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(SettingsError, match=r"install .touchstone-verdicts\[audits\]"):
        load_text(written(), name="bench.yaml")
    assert load_text(written(), name="bench.json").faults == ()


@pytest.mark.parametrize("name", ["bench.yaml", "bench.json", "bench.jsonl"])
def test_a_file_of_nothing_but_values_is_refused_in_time(name: str) -> None:
    (told,) = takes_at_most(3.0, lambda: faults(f"[{'0,' * 3_000_000}0]", name))
    assert "This holds more than 200,000 values" in told
