"""What is said of a field that does not fit: one plain sentence, whatever is wrong with it."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, AwareDatetime, Field, TypeAdapter, ValidationError

from touchstone.strict import Strict, fault_sentence, fault_words, placed

PYDANTIC = ("Input should", "String should", "List should", "Tuple should", "Value error", "required", "permitted")


def _never(_: str) -> str:
    raise ValueError("nothing fits here")


class Taken(Strict):
    """One field."""

    name: Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]+$")]


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (Taken, {}, "name is missing and must be given"),
        (Taken, {"name": "a", "nam": 1}, "nam is no field here: leave it out or mend its name"),
        (Taken, {"name": 7}, "name must be a text"),
        (Taken, {"name": ""}, "name is empty and must say something"),
        (Taken, {"name": "abcd"}, "name may have at most 3 characters, and has 4"),
        (Taken, {"name": "A"}, "name must be of the form ^[a-z]+$"),
        (Taken, [], "it must be an object with fields"),
        (Annotated[str, Field(min_length=2)], "a", "it needs at least 2 characters, and has 1"),
        (Annotated[tuple[int, ...], Field(min_length=1)], [], "it needs at least 1, and has 0"),
        (Annotated[tuple[int, ...], Field(max_length=1)], [1, 2], "it may have at most 1, and has 2"),
        (tuple[int, ...], "x", "it must be a list"),
        (Annotated[int, Field(ge=1)], 0, "it must be at least 1"),
        (Annotated[float, Field(ge=1e-64)], 0, "it must be at least 1e-64"),
        (Annotated[float, Field(le=300.0)], 301, "it must be at most 300"),
        (Annotated[float, Field(lt=1)], 1, "it must be less than 1"),
        (int, 1.5, "it must be a whole number"),
        (float, "x", "it must be a number"),
        (Annotated[float, Field(allow_inf_nan=False)], float("nan"), "it must be a finite number"),
        (bool, [], "it must be true or false"),
        (dict[str, int], 1, "it must be an object with fields"),
        (Literal["a", "b"], "c", "it must be 'a' or 'b'"),
        (date, "soon", "it must be a day such as 2026-11-30"),
        (datetime, "soon", "it must be a time such as 2026-11-30T18:00:00Z"),
        (AwareDatetime, "2026-11-30T18:00:00", "it must be a time with its zone, such as 2026-11-30T18:00:00Z"),
        (Annotated[str, AfterValidator(_never)], "x", "nothing fits here"),
    ],
)
def test_a_fault_is_told_in_plain_words_with_its_place(kind: Any, given: object, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(given)
    fault = caught.value.errors(include_url=False)[0]
    assert fault_sentence(fault) == told
    assert not any(words in fault_words(fault) for words in PYDANTIC)


def test_the_place_may_be_called_otherwise() -> None:
    with pytest.raises(ValidationError) as caught:
        Taken.model_validate({})
    (fault,) = caught.value.errors()
    assert fault_sentence(fault, "body.name") == "body.name is missing and must be given"
    assert fault_sentence({"type": "value_error", "msg": "Value error, no", "loc": ()}, "line 3") == "line 3: no"


class Cat(Strict):
    """One of two."""

    kind: Literal["cat"]


class Dog(Strict):
    """The other one."""

    kind: Literal["dog"]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Taken, {"name": "a", "x" * 1_000_000: 1}),
        (dict[str, Taken], {"x" * 1_000_000: {}}),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "x" * 1_000_000}),
        (Taken, {"name": "x" * 1_000_000}),
    ],
)
def test_a_sentence_is_short_however_long_the_names_are_that_somebody_gave(kind: Any, given: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(given)
    for fault in refused.value.errors(include_url=False):
        assert len(fault_sentence(fault)) < 500


class Shelf(Strict):
    """What may be given in several forms."""

    content: str | tuple[Annotated[Cat | Dog, Field(discriminator="kind")], ...]
    labels: dict[str, Annotated[str, AfterValidator(_never)]] = {}  # noqa: RUF012 - models copy it


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ({"content": [{"kind": "dog", "name": "Rex"}]}, [("content", 0, "name")]),
        ({"content": [{"kind": "dog"}, {"kind": "cow"}]}, [("content", 1)]),
        ({"content": 3}, [("content",), ("content",)]),
        ({"content": "", "labels": {"a.b": "c"}}, [("labels", "a.b")]),
        ({}, [("content",)]),
        ({"content": [{}]}, [("content", 0)]),
        ({"content": "", "dog": 1}, [("dog",)]),
        ({"content": [{"kind": "dog", "dog": {"dog": 1}}]}, [("content", 0, "dog")]),
    ],
)
def test_a_fault_is_told_at_its_place_in_what_was_given(given: Any, places: list[tuple[str | int, ...]]) -> None:
    with pytest.raises(ValidationError) as refused:
        Shelf.model_validate(given)
    assert [fault["loc"] for fault in placed(refused.value.errors(), given)] == places


def test_what_was_not_given_at_all_is_missing_as_a_whole() -> None:
    (fault,) = placed([{"type": "missing", "loc": ("body", "body"), "msg": "Field required"}], {"body": None})
    assert fault["loc"] == ("body",)
