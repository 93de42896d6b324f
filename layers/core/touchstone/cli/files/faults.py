"""What is wrong with a field of a file, in one sentence for whoever wrote the file."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from touchstone.errors import InputError, TooLargeError
from touchstone.strict import fault_words

if TYPE_CHECKING:
    from pydantic import ValidationError

TOO_LARGE = frozenset({"string_too_long", "too_long"})


def refusal(error: "ValidationError", *, name: str, of: str, fields: Iterable[str]) -> InputError:
    """The error of a file called `name` that holds `of` (say `a task`), which has these `fields`: its first fault."""
    fault = error.errors(include_url=False)[0]
    kind = TooLargeError if fault["type"] in TOO_LARGE else InputError
    return kind(f"{name}: {sentence_of(fault, of=of, fields=fields)}.", where=name)


def sentence_of(fault: Mapping[str, Any], *, of: str, fields: Iterable[str]) -> str:
    """A fault as pydantic tells it, as a sentence without its full stop: which field, and what is wrong with it."""
    place = ".".join(str(part) for part in fault["loc"])
    told = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden" if len(fault["loc"]) == 1:
            return f"there is no field {place}; those of {of} are {', '.join(fields)}"
        case "extra_forbidden":
            return f"there is no field {place}"
        case "too_short":
            return f"{place} needs at least {told['min_length']}, and has {len(fault['input'])}"
        case "too_long":
            return f"{place} may have at most {told['max_length']}, and has {len(fault['input'])}"
        case "string_too_long":
            return f"{place} may have at most {told['max_length']:,} characters, and has {len(fault['input']):,}"
        case "string_type":
            return f"{place} must be a text"
        case "tuple_type":
            return f"{place} must be a list"
        case "literal_error":
            return f"{place} must be {told['expected']}"
        case "blank":
            return f"{place} says nothing that a reader would see"
        case _:
            return f"{place}: {fault_words(fault)}" if place else fault_words(fault)
