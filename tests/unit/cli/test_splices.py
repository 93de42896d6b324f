"""Changes inside strings: what was asked for, and not a character more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.cli.files.quiz_findings import Splice, edited, edits_of
from touchstone.json_places import located

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def _after(text: str, *splices: Splice) -> str:
    return edited(text, edits_of(located(text), splices))


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.booleans(), st.sampled_from([None, 2]), st.data())
def test_a_string_reads_as_asked_and_all_else_as_before(
    values: list[str], new: str, ascii_only: bool, indent: int | None, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(values) - 1))
    start = data.draw(st.integers(0, len(values[at])))
    end = data.draw(st.integers(start, len(values[at])))
    text = json.dumps({"a": values, "b": 1}, ensure_ascii=ascii_only, indent=indent)
    after = _after(text, Splice(path=("a", at), span=(start, end), text=new))
    wanted = [*values]
    wanted[at] = values[at][:start] + new + values[at][end:]
    assert json.loads(after) == {"a": wanted, "b": 1}
    first, last = located(text).stretch(("a", at), (start, end))
    assert after.startswith(text[:first])
    assert after.endswith(text[last:])


@given(TEXTS)
def test_nothing_asked_for_is_nothing_changed(value: str) -> None:
    text = json.dumps([value])
    assert _after(text) == text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('[ "我学\\u4e60 \\/ x" ]\r\n', '[ "我學\\u7fd2 \\/ x" ]\r\n'),
        ('["\\u6211\\u5b66\\u4e60"]', '["\\u6211\\u5b78\\u7fd2"]'),
        ('["我学习"]', '["我學習"]'),
    ],
)
def test_several_changes_keep_how_the_file_is_written(text: str, after: str) -> None:
    changes = [Splice(path=(0,), span=(2, 3), text="習"), Splice(path=(0,), span=(1, 2), text="學")]
    assert _after(text, *changes) == after


def test_what_is_not_ascii_is_escaped_where_the_file_escapes_it() -> None:
    change = Splice(path=(0,), span=(0, 4), text="xué")
    assert _after('["xue2", "\\u5b78"]', change) == '["xu\\u00e9", "\\u5b78"]'
    assert _after('["xue2"]', change) == '["xué"]'
