"""Arguments for a function that nobody prepared one for: values that its annotations allow, with a text where they say.

What cannot be made of an annotation alone (a store, a judge, a screen, a folder) is told by its type.
"""

import collections.abc
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAliasType, TypeVar, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError

from tests.support.audit_cases import case
from tests.support.text_functions import TextFunction, fields_of
from touchstone.audits.case import AuditCase, BlindCase
from touchstone.judges import Registry, load_registry
from touchstone.surfaces.claims import ClaimsReply

WORD = "12"
"""Where a text is asked for that is not a stranger's."""
MOMENT = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLAIN: Mapping[Any, Callable[[], Any]] = {
    int: lambda: 2,
    float: lambda: 0.5,
    bool: lambda: False,
    type(None): lambda: None,
    datetime: lambda: MOMENT,
    AwareDatetime: lambda: MOMENT,
    date: MOMENT.date,
    timedelta: lambda: timedelta(seconds=1),
    tzinfo: lambda: UTC,
    Decimal: lambda: Decimal(2),
    Fraction: lambda: Fraction(2),
    complex: lambda: complex(2),
    range: lambda: range(2),
    BaseModel: lambda: ClaimsReply(sentences=[]),
    AuditCase: case,
    BlindCase: lambda: case().blind(),
    Registry: load_registry,
}
"""What is made of the types that hold no text, or that only values which belong together make."""
_DEPTH = 6
"""How deep records are made within one another."""


class UnmadeError(Exception):
    """No value can be made of a type; `needed` is where it is from, with its name."""

    def __init__(self, needed: Any) -> None:
        origin = get_origin(needed) or needed
        self.needed = f"{getattr(origin, '__module__', '')}.{getattr(origin, '__name__', origin)}"
        super().__init__(self.needed)


def arguments(
    function: TextFunction, texts: Mapping[str, str], ours: Mapping[str, str], numbers: Mapping[str, int]
) -> tuple[list[Any], dict[str, Any]]:
    """What to call a function with: these texts in their parameters, and others made; positional, and by name.

    `ours` and `numbers` are the words and numbers for parameters of these names. The first argument of a method is its
    instance, made as well.
    """
    parameters = list(inspect.signature(function.called).parameters.values())
    positional = [] if function.owner is None else [made(function.owner, WORD)]
    named: dict[str, Any] = {}
    for parameter in parameters[len(positional) :]:
        name, kind = parameter.name, parameter.kind
        if name not in texts and (parameter.default is not parameter.empty or kind is parameter.VAR_KEYWORD):
            continue
        hint = function.hints.get(name, Any)
        value = numbers.get(name, 2) if hint is int else made(hint, texts.get(name, ours.get(name, WORD)))
        if kind is parameter.VAR_KEYWORD:
            named["word"] = value
        elif kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return positional, named


def made(hint: Any, text: str, depth: int = _DEPTH) -> Any:
    """A value that a hint allows, with the text wherever it allows one."""
    if isinstance(hint, TypeAliasType):
        return made(hint.__value__, text, depth)
    if isinstance(hint, TypeVar):
        return made(hint.__bound__ or (hint.__constraints__ or (str,))[0], text, depth)
    if (plain := _plain(hint)) is not None:
        return plain()
    if hint is bytes:
        return text.encode(errors="replace")
    if hint in (str, Any, object):
        return text
    return _of_parts(hint, text, depth) if get_origin(hint) is not None else _instance(hint, text, depth)


def _of_parts(hint: Any, text: str, depth: int) -> Any:
    """A value of a hint that is made of others."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _constrained(hint, text, depth)
    if origin is Literal:
        return parts[0]
    if origin in (Union, types.UnionType):
        return _first(parts, text, depth)
    if isinstance(origin, TypeAliasType):
        return made(origin.__value__[parts], text, depth)
    if origin is type:
        return _class(parts[0])
    if origin is collections.abc.Callable:
        return lambda *_, **__: made(parts[-1], text, depth)
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        return _holding(origin, parts, text, depth)
    return _instance(origin, text, depth)


def _instance(hint: Any, text: str, depth: int) -> Any:
    if isinstance(hint, type) and issubclass(hint, list | dict | set | tuple) and not hasattr(hint, "_fields"):
        return _holding(hint, (), text, depth)
    if inspect.isclass(hint) and depth:
        return _record(hint, text, depth - 1)
    raise UnmadeError(hint)


def _plain(hint: Any) -> Callable[[], Any] | None:
    with suppress(TypeError):
        return PLAIN.get(hint)
    return None


def _class(hint: Any) -> type:
    bound = getattr(hint, "__bound__", None) or hint
    if not inspect.isclass(bound):
        raise UnmadeError(type)
    return ClaimsReply if issubclass(ClaimsReply, bound) and bound is not object else bound


def _first(options: Sequence[Any], text: str, depth: int) -> Any:
    """Of the options the first that can be made; none at all only where nothing else can be."""
    unmade: list[UnmadeError] = []
    for option in sorted(options, key=lambda one: one is type(None)):
        try:
            return made(option, text, depth)
        except UnmadeError as error:
            unmade.append(error)
    raise unmade[0]


def _holding(origin: type, parts: tuple[Any, ...], text: str, depth: int) -> Any:
    if issubclass(origin, collections.abc.Mapping):
        key, value = parts or (str, str)
        return {made(key, text, depth): made(value, text, depth)}
    if (issubclass(origin, tuple) and len(parts) != 2) or (parts and parts[-1] is not Ellipsis and origin is tuple):
        return tuple(made(part, text, depth) for part in parts)
    one = made(parts[0] if parts else str, text, depth)
    if issubclass(origin, collections.abc.Set):
        return frozenset((one,)) if origin is not set else {one}
    if issubclass(origin, list):
        return [one]
    if issubclass(origin, collections.abc.Sequence | collections.abc.Collection):
        return (one,)
    return iter((one,))


def _constrained(hint: Any, text: str, depth: int) -> Any:
    """What is annotated, as much of the text as its constraints allow."""
    inner = get_args(hint)[0]
    for told in get_args(hint)[1:]:
        for one in (told, *getattr(told, "metadata", ())):
            most = getattr(one, "max_length", None)
            if inner is str and isinstance(most, int):
                text = text[:most]
    value = made(inner, text, depth)
    with suppress(Exception):
        return _allowed(_adapter(hint), value, inner)
    return value


@functools.cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)


def _allowed(adapter: TypeAdapter[Any], value: Any, inner: Any) -> Any:
    others = ("12", "a" * 32, "en", "2026-11-21T12:00:00Z", "0" * 64, 1, 0.5, 50) if inner in (str, int, float) else ()
    for one in (value, *others):
        with suppress(ValidationError):
            return adapter.validate_python(one)
    return value


def _record(record: Any, text: str, depth: int) -> Any:
    if issubclass(record, Enum):
        return next(iter(record))
    given = {
        name: _field(record, name, hint, text, depth)
        for name, hint in fields_of(record).items()
        if _is_needed(record, name)
    }
    try:
        if issubclass(record, BaseModel):
            return record.model_validate(given)
        if is_dataclass(record):
            build: Any = record
            return build(**given)
    except Exception:  # noqa: BLE001 -- its own rules refuse it, each record in its own words
        raise UnmadeError(record) from None
    raise UnmadeError(record)


def _is_needed(record: Any, name: str) -> bool:
    """Whether a field has to be made: all those of a request, so that each text of it is a stranger's."""
    if issubclass(record, BaseModel):
        return True
    return any(
        one.name == name and one.init and one.default is MISSING and one.default_factory is MISSING
        for one in fields(record)
    )


def _field(record: Any, name: str, hint: Any, text: str, depth: int) -> Any:
    told = record.model_fields[name].metadata if issubclass(record, BaseModel) else ()
    return made(Annotated[hint, *told] if told else hint, text, depth)
