"""JSON with places: the same values as everywhere, and each found where it stands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone import json_text
from touchstone.errors import InputError
from touchstone.json_places import Lines, Located, MisplacedError, Path, located, path_of, path_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(PLAIN, lambda part: st.lists(part, max_size=4) | st.dictionaries(TEXTS, part, max_size=4))
DOCUMENTS = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    VALUES,
    st.booleans(),
    st.sampled_from([None, 0, 1, 4, "\t"]),
)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


@given(DOCUMENTS)
def test_every_value_is_read_as_it_is_and_stands_where_it_is_said_to(text: str) -> None:
    document = located(text)
    assert document.value == json.loads(text)
    for path, (start, end) in document.stretches.items():
        assert json.loads(text[start:end]) == _at(document.value, path)


@given(st.text(st.sampled_from('{}[]",:\\u0d8a1e+-. \n\tNaInfitruelsé學'), max_size=24) | DOCUMENTS)
def test_what_other_doors_refuse_is_refused_and_nothing_else(text: str) -> None:
    try:
        accepted = json_text.loads(text)
        json.dumps(accepted, ensure_ascii=False).encode()
    except (InputError, UnicodeEncodeError):
        with pytest.raises(MisplacedError):
            located(text)
    else:
        assert located(text).value == accepted


@given(TEXTS, st.booleans(), st.data())
def test_a_part_of_a_string_is_found_across_escapes(value: str, ascii_only: bool, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, len(value)))
    text = json.dumps({"a": ["before", value]}, ensure_ascii=ascii_only)
    found = located(text)
    first, last = found.stretch(("a", 1), (start, end))
    assert json.loads(f'"{text[first:last]}"') == value[start:end]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "Expecting value"),
        ('{"a": 1,\n "a": 2}', 2, 2, "'a' stands twice"),
        ('{"a":\n  [1, NaN]}', 2, 7, "NaN, which is not JSON"),
        ("[-Infinity]", 1, 2, "-Infinity, which"),
        ('{"a": "\\ud83d!"}', 1, 7, "half a character"),
        ('{"\\ude00": 1}', 1, 2, "half a character"),
        ('["one" "two"]', 1, 8, "Expecting ',' delimiter"),
        ('{"學習" 1}', 1, 7, "Expecting ':' delimiter"),
        ("{a: 1}", 1, 2, "Expecting property name"),
        ("[1] x", 1, 5, "Extra data"),
        ('["a\nb"]', 1, 4, "Invalid control character"),
        ("[1,]", 1, 4, "Expecting value"),
        ("[" * 102, 1, 102, "nested too deeply"),
        ("1" * 5000, 1, 1, "too long"),
        ("nul", 1, 1, "Expecting value"),
    ],
)
def test_what_is_refused_is_refused_with_its_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(MisplacedError, match=words) as caught:
        located(text)
    assert Lines(text).place(caught.value.offset) == (line, column)


def test_the_parts_of_a_text_are_read_with_places_in_the_whole() -> None:
    text = '{"a": 1}\n{"學": "\\u5b66x"}\nno'
    second = located(text, (9, text.index("\nno")))
    assert second.value == {"學": "学x"}
    start, end = second.stretch(("學",), (1, 2))
    assert text[start:end] == "x"
    assert Lines(text).place(start) == (2, 14)
    with pytest.raises(MisplacedError) as caught:
        located(text, (text.index("no"), len(text)))
    assert Lines(text).place(caught.value.offset) == (3, 1)


def test_what_is_not_there_stands_where_it_would_be() -> None:
    document: Located = located('{"questions": [{"id": "a"}]}')
    assert document.stretch(("questions", 0, "answers", 2), (0, 4)) == document.stretches["questions", 0]
    assert document.stretch(("questions", 0), (0, 1)) == document.stretches["questions", 0]
    assert document.stretch(("questions", 0, "id"), (0, 99)) == (23, 24)


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("question_text", ("question_text",)),
        ("choices[2]", ("choices", 2)),
        ("readings[0].pinyin", ("readings", 0, "pinyin")),
        ("[3].choices[10]", (3, "choices", 10)),
        ("", ()),
    ],
)
def test_paths_are_written_as_they_are_read(field: str, path: Path) -> None:
    assert path_of(field) == path
    assert path_text(path) == field
