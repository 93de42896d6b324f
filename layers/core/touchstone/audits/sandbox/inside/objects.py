"""Questions to objects that are answered without calling any code of their classes."""

import builtins
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from touchstone.audits.sandbox.inside.shared import MAX_MESSAGE_CHARS

mro_of = type.__dict__["__mro__"].__get__
dict_of = type.__dict__["__dict__"].__get__
module_of = type.__dict__["__module__"].__get__
name_of = type.__dict__["__qualname__"].__get__
function_of = [kind.__dict__["__func__"].__get__ for kind in (staticmethod, classmethod)]
getter_of = property.__dict__["fget"].__get__
BUILT_IN = {id(value): value.__name__ for value in vars(builtins).values() if isinstance(value, type)}


def is_among(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether a class is one of `kinds`: the same, since what is equal is said by a class's own class."""
    return id(kind) in map(id, kinds)


def is_module(value: object) -> bool:
    return is_among(ModuleType, mro_of(type(value)))


def word_of(thing: Any, getter: Callable[[Any], object]) -> str | None:
    try:
        word = getter(thing)
    except AttributeError:
        return None
    return word[:MAX_MESSAGE_CHARS] if type(word) is str else None


def full_name(kind: type) -> str:
    """A class's name with its module. The module is `builtins` only for a class that really is built in."""
    if id(kind) in BUILT_IN:
        return f"builtins.{BUILT_IN[id(kind)]}"
    module, name = word_of(kind, module_of), word_of(kind, name_of)
    return f"{'not' if module == 'builtins' else module}.{name}"[:MAX_MESSAGE_CHARS]


def contents_of(held: Any) -> dict[str, object]:
    """What a module or a class holds by plain names."""
    found: dict[str, object] = held.copy()
    odd = [name for name in found if type(name) is not str]
    return {name: one for name, one in found.items() if type(name) is str} if odd else found


def function_in(value: Any) -> Any:
    """What a static method, a class method or a property was made of; anything else is returned as it is."""
    kinds = mro_of(type(value))
    if is_among(staticmethod, kinds) or is_among(classmethod, kinds):
        return function_of[is_among(classmethod, kinds)](value)
    return getter_of(value) if is_among(property, kinds) else value


def made_of(value: Any) -> tuple[object, ...]:
    """The parts of a function, by their identity; empty for anything that is not a function."""
    value = function_in(value)
    if type(value) is not FunctionType:
        return ()
    given = value.__kwdefaults__
    keywords = [] if given is None else [(name, id(one)) for name, one in dict.items(given) if type(name) is str]
    return (id(value.__code__), id(value.__defaults__), *keywords)


def dotted(*names: str) -> str:
    return ".".join(filter(None, names))
