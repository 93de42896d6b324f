"""JSON and JSON Lines as nodes."""

from collections.abc import Iterator
from typing import Any

from touchstone.audits.loading.nodes import MAX_NODES, Listed, Mapped, Node, Position, Scalar, UnreadableFileError
from touchstone.json_places import Lines, Located, MisplacedError, Path, Stretch, located


def read_json(text: str) -> Iterator[Node]:
    """The one document of a text. Raises `UnreadableFileError`."""
    _check_size(text)
    yield _Document(text, Lines(text)).node(None)


def read_lines(text: str) -> Iterator[Node]:
    """A document a line; empty lines are passed over. Raises `UnreadableFileError` at the first that is none."""
    _check_size(text)
    document = _Document(text, Lines(text))
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield document.node((start, start + len(line)))
        start += len(line) + 1


def _check_size(text: str) -> None:
    """Refuse what takes gigabytes to read: values stand between commas, which prose has few of."""
    if text.count(",") > MAX_NODES:
        raise UnreadableFileError(
            f"This holds more than {MAX_NODES:,} values; split the file.", Position(line=1, column=1)
        )


class _Document:
    """A text and the lines by which its offsets are told."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines

    def node(self, window: Stretch | None) -> Node:
        try:
            document = located(self._text, window)
        except MisplacedError as error:
            raise UnreadableFileError(str(error), self._place(error.offset)) from None
        return self._node(document, (), document.value)

    def _node(self, document: Located, path: Path, value: Any) -> Node:
        start, end = document.stretches[path]
        place = self._place(start)
        match value:
            case dict():
                # The places of names are not kept; that of the value says as much.
                fields = {name: self._node(document, (*path, name), part) for name, part in value.items()}
                return Mapped(fields=fields, places={name: part.place for name, part in fields.items()}, place=place)
            case list():
                items = tuple(self._node(document, (*path, at), part) for at, part in enumerate(value))
                return Listed(items=items, place=place)
            case str():
                return Scalar(text=value, place=place)
            case _:
                return Scalar(text=None if value is None else self._text[start:end], place=place)

    def _place(self, offset: int) -> Position:
        line, column = self._lines.place(offset)
        return Position(line=line, column=column)
