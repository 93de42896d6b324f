"""JSON as every door takes it: whole and unambiguous, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.json_text import loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_whatever_is_json_comes_through_unchanged(value: object) -> None:
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ("NaN", "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5_000, "too long"),
        (b"\xff{}", "UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "UTF-8"),
        ('{"\\ud800": 1}', "half a character"),
    ],
)
def test_what_is_refused_says_why_and_where(text: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        loads(text, where="body")
    assert refused.value.where == "body"
    assert len(str(refused.value)) < 200


def test_half_a_character_in_a_value_is_left_to_its_field() -> None:
    assert loads('{"a": "\\ud800"}') == {"a": "\ud800"}
