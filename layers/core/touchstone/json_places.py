"""Read JSON and keep where every value stands in the text, so that a finding can name its line and column.

This reader accepts the same JSON as every door (`touchstone.json_text`). It refuses the same JSON, and says
at which place: a field that stands twice in one object, NaN and Infinity, half a character (a lone surrogate), nesting
that is too deep.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

from touchstone.errors import InputError
from touchstone.json_text import fence_advice

type Path = tuple[str | int, ...]
"""The field names and the element numbers (from 0) that lead to a value; empty for the whole document."""
type CharSpan = tuple[int, int]
"""The start and the end of a part of the text, as offsets in characters; the end is exclusive."""

MOST_LEVELS = 100
"""How deep objects and lists may be nested: far deeper than any file of ours, far less than overflows the interpreter.
"""
NAME_SHOWN_CHARS = 64
BYTE_ORDER_MARK = "\ufeff"

_SPACE = re.compile(r"[ \t\n\r]*")
_HALF = re.compile("[\ud800-\udfff]")
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_CHARACTER = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\?[\s\S]")
"""One character of a JSON string in its written form: a plain character, an escape, or an escaped surrogate pair."""
_FIELD = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


class MisplacedError(InputError):
    """A text cannot be read: the error has a sentence, and the `offset` of the fault in the text."""

    def __init__(self, sentence: str, offset: int) -> None:
        super().__init__(sentence)
        self.offset = offset


class Lines:
    """The lines of a text. They turn an offset into the line and column that an editor shows."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A document and the places of its values in `text`, which may hold more than this document.

    `stretches` has the place of every value; the place of a string includes its quotes.
    """

    text: str
    value: Any
    stretches: Mapping[Path, CharSpan]
    _offsets: dict[CharSpan, Sequence[int]] = field(default_factory=dict, repr=False)
    """By the place of a string that was asked about, the offset of each of its characters. Filled on first use."""

    def stretch(self, path: Path, span: CharSpan | None = None) -> CharSpan:
        """The place of the value at `path`, or of the innermost value on the way to it that exists.

        With `span`, the place of that part of a string: `span` counts characters of the value, and the place counts
        them as they are written, where an escape is longer.
        """
        known = path
        while known and known not in self.stretches:
            known = known[:-1]
        start, end = self.stretches[known]
        if span is None or known != path or self.text[start] != '"':
            return start, end
        if (offsets := self._offsets.get((start, end))) is None:
            offsets = self._offsets[start, end] = self._characters((start, end))
        return offsets[min(span[0], len(offsets) - 1)], offsets[min(span[1], len(offsets) - 1)]

    def _characters(self, literal: CharSpan) -> Sequence[int]:
        """The offset of each character of a string, and the offset behind the last character."""
        start, end = literal[0] + 1, literal[1] - 1
        if "\\" not in self.text[start:end]:
            return range(start, end + 1)
        return [*(found.start() for found in _CHARACTER.finditer(self.text, start, end)), end]


def located(text: str, window: CharSpan | None = None) -> Located:
    """Read a text that is one JSON document, or the part of the text that `window` bounds.

    Raises `MisplacedError` if the text is no JSON, or JSON that is refused.
    """
    start, end = window or (0, len(text))
    reader = _Reader(text if window is None else text[start:end], start)
    try:
        value = reader.document()
    except JSONDecodeError as error:
        raise MisplacedError(f"This is not JSON: {error.msg}.{fence_advice(reader.text)}", start + error.pos) from None
    except _RefusedError as error:
        raise MisplacedError(error.sentence, start + error.at) from None
    return Located(text=text, value=value, stretches=reader.stretches)


def path_of(field: str) -> Path:
    """The path of a text such as `choices[2]` or `readings[0].pinyin`."""
    return tuple(name or int(number) for name, number in _FIELD.findall(field))


def path_text(path: Path) -> str:
    """A path as people write it: `questions[2].choices[1]`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


class _RefusedError(Exception):
    """JSON that can be parsed but is refused, at an offset. Not a `ValueError`, which the parser itself raises."""

    def __init__(self, sentence: str, at: int) -> None:
        super().__init__(sentence)
        self.sentence, self.at = sentence, at


class _ConstantError(Exception):
    """A word that Python reads as a number and JSON does not have (NaN, Infinity)."""


def _no_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_PLAIN = JSONDecoder(parse_constant=_no_constant)
"""Reads a string, a number or a word at a place. `_Reader` reads objects and lists, to keep the places inside them."""


class _Reader:
    """Reads a text from left to right. `offset` is where this text begins in the text that the stretches refer to."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.stretches: dict[Path, CharSpan] = {}
        self._offset = offset

    def document(self) -> Any:
        """The one value of the text. Raises `JSONDecodeError` or `_RefusedError`."""
        value, end = self._value(self._after_space(0), ())
        if (end := self._after_space(end)) < len(self.text):
            raise JSONDecodeError("Extra data", self.text, end)
        return value

    def _after_space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return at if found is None else found.end()

    def _value(self, at: int, path: Path) -> tuple[Any, int]:
        if len(path) > MOST_LEVELS:
            raise _RefusedError("This is nested too deeply; write flat JSON.", at)
        value: Any
        match self.text[at : at + 1]:
            case "{":
                value, end = self._object(at, path)
            case "[":
                value, end = self._list(at, path)
            case _:
                value, end = self._plain(at)
        self.stretches[path] = (self._offset + at, self._offset + end)
        return value, end

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        fields: dict[str, Any] = {}
        at = self._after_space(at + 1)
        if self.text.startswith("}", at):
            return fields, at + 1
        while True:
            if not self.text.startswith('"', at):
                raise JSONDecodeError("Expecting property name enclosed in double quotes", self.text, at)
            name, end = self._plain(at)
            if name in fields:
                sentence = f"The field {name[:NAME_SHOWN_CHARS]!r} stands twice in one object; write it once."
                raise _RefusedError(sentence, at)
            end = self._after_space(end)
            if not self.text.startswith(":", end):
                raise JSONDecodeError("Expecting ':' delimiter", self.text, end)
            fields[name], end = self._value(self._after_space(end + 1), (*path, name))
            at, is_last = self._next(end, "}")
            if is_last:
                return fields, at

    def _list(self, at: int, path: Path) -> tuple[list[Any], int]:
        elements: list[Any] = []
        at = self._after_space(at + 1)
        if self.text.startswith("]", at):
            return elements, at + 1
        while True:
            element, end = self._value(at, (*path, len(elements)))
            elements.append(element)
            at, is_last = self._next(end, "]")
            if is_last:
                return elements, at

    def _next(self, at: int, closing: str) -> tuple[int, bool]:
        """The offset behind a comma, or behind the end of the object or list; and whether the object or list ended."""
        at = self._after_space(at)
        if self.text.startswith(closing, at):
            return at + 1, True
        if not self.text.startswith(",", at):
            raise JSONDecodeError("Expecting ',' delimiter", self.text, at)
        return self._after_space(at + 1), False

    def _plain(self, at: int) -> tuple[Any, int]:
        """A string, a number or one of the words `true`, `false` and `null`, with the offset behind it."""
        try:
            value, end = _PLAIN.raw_decode(self.text, at)
        except _ConstantError as error:
            raise _RefusedError(f"This holds {error}, which is not JSON; write a number or null.", at) from None
        except JSONDecodeError:
            raise
        except ValueError:  # an integer with more digits than Python converts
            raise _RefusedError("This number is too long to read.", at) from None
        if isinstance(value, str) and not value.isascii() and _HALF.search(value):
            raise _RefusedError("This text holds half a character (a lone surrogate).", at)
        return value, end
