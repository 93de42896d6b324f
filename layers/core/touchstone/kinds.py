"""Whether an argument of a public function is of the kind that it takes. Each function raises `InputError` if not."""

import math
from collections.abc import Iterable
from types import UnionType

from touchstone.errors import InputError


def require_texts(**given: object) -> None:
    """Refuse the first argument, of those given by name, that is no text."""
    for name, value in given.items():
        require_kind(name, value, str, "a text")


def require_kind(name: str, given: object, wanted: type | UnionType, words: str, *, remedy: str = "") -> None:
    """Refuse what is not of the wanted type, which `words` name. `remedy` ends the sentence."""
    if not isinstance(given, wanted):
        raise _another_kind(name, words, given, remedy=remedy)


def require_seconds(given: object) -> None:
    """Refuse what is no number of seconds, as infinity is none."""
    require_kind("seconds", given, int | float, "a number of seconds")
    if isinstance(given, float) and not math.isfinite(given):
        raise InputError(f"seconds is a number of seconds, and {given} is none.", where="seconds")


def require_list(name: str, given: object, *, of: str) -> None:
    """Refuse what is no list (or tuple, set …). A text is none, although it would yield its characters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise _another_kind(name, f"a list of {of}", given)


def require_one_of(name: str, given: object, known: tuple[object, ...]) -> None:
    """Refuse what is none of the known values."""
    if given not in known:
        raise InputError(f"{name} is one of {', '.join(map(repr, known))}.", where=name)


def require_model(name: str, given: object, wanted: type, *, remedy: str | None = None) -> None:
    """Refuse what is no instance of a model. `remedy` says how one is made; None: from its fields."""
    if not isinstance(given, wanted):
        model = wanted.__name__
        article = "An" if model[0] in "AEIOU" else "A"
        remedy = remedy or f"{model}.model_validate(…) makes one of its fields"
        raise InputError(f"{article} {model} is wanted, and this is a {type(given).__name__}; {remedy}.", where=name)


def _another_kind(name: str, wanted: str, given: object, *, remedy: str = "") -> InputError:
    return InputError(f"{name} must be {wanted}, and this is of type {type(given).__name__}{remedy}.", where=name)
