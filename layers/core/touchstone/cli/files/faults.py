"""The fault of a field in a file, in one sentence for the author of the file."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from touchstone.errors import InputError, TooLargeError
from touchstone.strict import fault_sentence

if TYPE_CHECKING:
    from pydantic import ValidationError

TOO_LARGE = frozenset({"string_too_long", "too_long"})


def refusal(error: "ValidationError", *, name: str, of: str, fields: Iterable[str]) -> InputError:
    """The error that tells the first fault of a file called `name`.

    `of` is what the file holds, for example `a task`, and `fields` are the fields that this may have.
    """
    fault = error.errors(include_url=False)[0]
    kind = TooLargeError if fault["type"] in TOO_LARGE else InputError
    return kind(f"{name}: {sentence_of(fault, of=of, fields=fields)}.", where=name)


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
