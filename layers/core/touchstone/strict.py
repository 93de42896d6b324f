"""The base of every model that is handed in or stored: it admits no unknown field, and its values do not change."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pydantic import ValidationError


MOST_GIVEN_CHARS = 128
"""The most characters of a stranger's name that a sentence repeats. No name of ours is longer."""


class Strict(BaseModel):
    """A request or record: unknown fields are errors, and values do not change after construction.

    The validation schema of a model is built on first use, so that a function builds only the schemas that it uses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def first_fault(error: "ValidationError", given: object = None) -> dict[str, Any]:
    """The first fault that Pydantic found, without the value that was handed in.

    Its `loc` is its place in what was `given`, as `placed` finds it; as Pydantic writes it if `given` is None.
    """
    faults = error.errors(include_url=False)
    fault = faults[0] if given is None else placed(faults, given)[0]
    return {name: value for name, value in fault.items() if name != "input"}


def placed(faults: Sequence[Mapping[str, Any]], given: object) -> list[dict[str, Any]]:
    """Pydantic's faults, each with its place in what was `given` as its `loc`.

    Pydantic also writes the branches of a union and its validators into a `loc`; the sender knows neither. The place of
    a fault that has its `input` is certain also where a name in what was given is the name of a branch. Of a value that
    may be of several types, only the faults of the type that it was read as are told: an object with a wrong field is
    not also told to be a text.
    """
    found = [{**fault, "loc": _place(fault, given)} for fault in faults]
    if not any(fault["type"].endswith("_type") for fault in found):
        return found
    above = {fault["loc"][:size] for fault in found for size in range(len(fault["loc"]))}
    return [fault for fault in found if not (fault["type"].endswith("_type") and fault["loc"] in above)]


type _Place = tuple[str | int, ...]


def _place(fault: Mapping[str, Any], given: object) -> _Place:
    """The field names and the numbers of elements that lead to the value at fault, or to the field that is missing."""
    missing = fault["type"] == "missing"
    parts = fault["loc"][:-1] if missing else fault["loc"]
    place, value = _longest(parts, given)
    if "input" in fault and fault["input"] is not value:
        place, value = _leading_to(fault["input"], parts, given) or (place, value)
    return (*place, fault["loc"][-1]) if missing and isinstance(value, Mapping) else place


def _longest(parts: Sequence[str | int], given: Any) -> tuple[_Place, object]:
    """The place to which these parts lead if each that may be a step is one, and the value there."""
    place: list[str | int] = []
    for part in parts:
        if _is_in(part, given):
            place.append(part)
            given = given[part]
    return tuple(place), given


def _leading_to(wanted: object, parts: Sequence[str | int], given: object) -> tuple[_Place, object] | None:
    """The place of a value, to which some of these parts lead, and the value; None if none do."""
    reached: dict[int, tuple[_Place, Any]] = {id(given): ((), given)}
    for part in parts:
        for place, value in tuple(reached.values()):
            if _is_in(part, value):
                reached[id(value[part])] = ((*place, part), value[part])
    return reached.get(id(wanted))


def _is_in(part: str | int, given: Any) -> bool:
    if isinstance(given, dict | Mapping):  # most are a dict, which is seen sooner
        return part in given
    return isinstance(given, list | tuple) and isinstance(part, int) and part < len(given)


def fault_words(fault: Mapping[str, Any]) -> str:
    """The words for a fault that Pydantic found, for the sender: what is wrong with a field and what to do about it.

    The words are meant to follow the field's name and a colon: they begin with a small letter and have no full stop.
    They give the size of the faulty value if the fault holds it. A message of our own validators is kept unchanged.
    """
    context, place = fault.get("ctx") or {}, fault.get("loc")
    match fault["type"]:
        case "missing":
            return "it is missing and must be given"
        case "extra_forbidden" if place and place[-1] == "judges":
            return (
                "several judges can be asked for answers, measurements, the criteria of tasks and, within "
                "`experiment`, for experiments; one judge decides this, so leave `judges` out"
            )
        case "extra_forbidden":
            return "it is no field here: leave it out or mend its name"
        case "union_tag_not_found":
            return f"the field {context['discriminator']} is missing, which says what is asked for"
        case "union_tag_invalid":
            tag = _cut(context["tag"])
            return f"the field {context['discriminator']} cannot be '{tag}', but one of {context['expected_tags']}"
        case "too_short" if "min_length" in context:
            return f"it needs at least {context['min_length']:,}{_has(context.get('actual_length'))}"
        case "too_long" if "max_length" in context:
            return f"it may have at most {context['max_length']:,}{_has(context.get('actual_length'))}"
        case "string_too_short" if context.get("min_length") == 1:
            return "it is empty and must say something"
        case "string_too_short" if "min_length" in context:
            return f"it needs at least {context['min_length']:,} characters{_has(_size(fault))}"
        case "string_too_long" if "max_length" in context:
            return f"it may have at most {context['max_length']:,} characters{_has(_size(fault))}"
        case "string_pattern_mismatch" if "pattern" in context:
            return f"it must be of the form {context['pattern']}"
        case kind:
            return f"it must be {_WANTED[kind]}" if kind in _WANTED else _plain(fault)


def fault_sentence(fault: Mapping[str, Any], place: str | None = None) -> str:
    """The words for a fault with the field's name in front, without a full stop.

    The name is the field's path unless `place` gives another name. The name of an unknown field is a stranger's text,
    which is cut to `MOST_GIVEN_CHARS` characters.
    """
    parts = (_cut(part) for part in fault["loc"])
    name = ".".join(parts) if place is None else place
    words = fault_words(fault)
    if name and words.startswith("it "):
        return f"{name} {words.removeprefix('it ')}"
    return f"{name}: {words}" if name else words


_WANTED = {
    "string_type": "a text",
    "string_unicode": "a text whose characters are all whole: it holds one half of a surrogate pair",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), "a number"),
    "finite_number": "a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "an object with fields"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), "a day such as 2026-11-30"),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), "a time such as 2026-11-30T18:00:00Z"
    ),
    "timezone_aware": "a time with its zone, such as 2026-11-30T18:00:00Z",
}
"""By the kind of Pydantic's fault, the words for what the field must be."""


def _cut(name: object) -> str:
    """A name, cut for a sentence. `touchstone.text` has the same for texts, but imports this module."""
    text = str(name)
    return text if len(text) <= MOST_GIVEN_CHARS else f"{text[: MOST_GIVEN_CHARS - 1]}…"


def _has(size: int | None) -> str:
    return "" if size is None else f", and has {size:,}"


def _size(fault: Mapping[str, Any]) -> int | None:
    given = fault.get("input")
    return len(given) if isinstance(given, str) else None


def _plain(fault: Mapping[str, Any]) -> str:
    """What the field must be, from a sentence of Pydantic such as "Input should be less than 1"."""
    message, context = str(fault["msg"]).removeprefix("Value error, "), fault.get("ctx") or {}
    for bound, words in (("ge", "at least"), ("le", "at most")):
        if bound in context:  # Pydantic writes 1e-64 with all its zeros
            return f"it must be {words} {str(context[bound]).removesuffix('.0')}"
    subject, should, wanted = message.partition(" should ")
    return f"it must {wanted}" if should and subject.isalnum() else message
