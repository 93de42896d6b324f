"""The fields of a file, checked by a model, and the fault of a field in one sentence for the author of the file."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from touchstone.errors import InputError, TooLargeError
from touchstone.strict import fault_sentence

TOO_LARGE = frozenset({"string_too_long", "too_long"})


def validated[T: BaseModel](model: type[T], fields: Mapping[str, Any], *, name: str, of: str) -> T:
    """The fields of a file called `name` as an instance of `model`. `of` is what the file holds, for example `a task`.

    Raises `InputError` and `TooLargeError`, which tell the first fault.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        kind = TooLargeError if fault["type"] in TOO_LARGE else InputError
        raise kind(f"{name}: {sentence_of(fault, of=of, fields=model.model_fields)}.", where=name) from None


def sentence_of(fault: Mapping[str, Any], *, of: str, fields: Iterable[str]) -> str:
    """One of pydantic's faults as a sentence without a full stop, which names the field and what is wrong with it."""
    place = ".".join(str(part) for part in fault["loc"])
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden" if len(fault["loc"]) == 1 and place != "judges":
            return f"there is no field {place}; those of {of} are {', '.join(fields)}"
        case _:
            return fault_sentence(fault)
