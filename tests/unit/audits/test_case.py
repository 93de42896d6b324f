"""A case under audit: what is refused, and what of it may be seen."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.audit_cases import CASE, case
from touchstone.audits.case import MAX_OPTIONS, AuditCase, BlindCase, Option


def options(count: int) -> list[dict[str, str]]:
    return [{"label": f"O{number}", "text": f"says {number}"} for number in range(count)]


@pytest.mark.parametrize(
    ("changed", "type_", "place"),
    [
        ({"options": []}, "too_short", ("options",)),
        ({"options": options(1), "ground_truth": "O0"}, "too_short", ("options",)),
        ({"options": options(200), "ground_truth": "O0"}, "too_long", ("options",)),
        ({"ground_truth": "E"}, "key_outside_options", ()),
        ({"options": [*CASE["options"], {"label": "a", "text": "again"}]}, "duplicate_id", ()),
        ({"question": " \n"}, "blank", ("question",)),
        ({"id": ""}, "string_too_short", ("id",)),
        ({"kind": "Multiple choice"}, "string_pattern_mismatch", ("kind",)),
        ({"answer": "A"}, "extra_forbidden", ("answer",)),
    ],
)
def test_a_definition_that_cannot_be_audited_is_refused(
    changed: dict[str, Any], type_: str, place: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as refused:
        AuditCase.model_validate(CASE | changed)
    assert [(error["type"], error["loc"]) for error in refused.value.errors()] == [(type_, place)]


def test_as_many_options_as_letters_are_accepted() -> None:
    assert len(case(options=options(MAX_OPTIONS), ground_truth="O25").options) == MAX_OPTIONS


def test_whoever_solves_a_case_sees_neither_its_key_nor_a_field_that_could_name_it() -> None:
    blind = case(id="the-key-is-B", ground_truth="B").blind()
    assert set(BlindCase.model_fields) == {"kind", "question", "options"}
    assert "the-key-is" not in blind.model_dump_json()
    assert blind == case(id="other", ground_truth="C").blind()


@pytest.mark.parametrize(
    ("text", "catch_all"),
    [
        ("None of the above", "none"),
        ("none of  the above.", "none"),
        ("None of these options is correct", "none"),
        ("Neither of the above", "none"),
        ("以上皆非", "none"),
        ("以上都不对。", "none"),
        ("All of the above", "all"),
        ("All the above are correct.", "all"),
        ("以上皆是", "all"),
        ("None", None),
        ("All of the above the line", None),
        ("none of the above keyword arguments", None),
        ("all()", None),
    ],
)
def test_a_catch_all_is_known_by_its_words(text: str, catch_all: str | None) -> None:
    assert Option(label="E", text=text).catch_all == catch_all
