"""Readers of JSON and YAML, which make nodes.

YAML is read from its parser's events: no tag creates an object, and no alias can multiply without bound.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from touchstone.audits.loading.nodes import MAX_NODES, Listed, Mapped, Node, Position, Scalar, UnreadableFileError
from touchstone.errors import SettingsError
from touchstone.extras import install_command
from touchstone.json_places import CharSpan, Lines, Located, MisplacedError, Path, located

if TYPE_CHECKING:
    from yaml.events import Event, MappingStartEvent, SequenceStartEvent


def read_json(text: str) -> Iterator[Node]:
    """Yield the one document of a text. Raises `UnreadableFileError`."""
    _check_size(text)
    yield _Document(text, Lines(text)).node(None)


def read_lines(text: str) -> Iterator[Node]:
    """Yield one document for each line; empty lines are skipped.

    Raises `UnreadableFileError` at the first faulty line.
    """
    _check_size(text)
    document = _Document(text, Lines(text))
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield document.node((start, start + len(line)))
        start += len(line) + 1


def _check_size(text: str) -> None:
    """Refuse a text that would take gigabytes to read. Its values are separated by commas, which prose has few of."""
    if text.count(",") > MAX_NODES:
        raise UnreadableFileError(
            f"This holds more than {MAX_NODES:,} values; split the file.", Position(line=1, column=1)
        )


class _Document:
    """A text, with the lines that turn its offsets into places."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines

    def node(self, window: CharSpan | None) -> Node:
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
                # The places of names are not kept; the place of the value is as good.
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


MAX_LEVELS = 50
"""Most levels of lists and mappings in one another: far more than any definition has, and far fewer than crash the
interpreter."""
MERGE = "<<"
PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map", "timestamp")
)
NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
"""Texts that YAML reads as an empty value if they have no quotes."""


def read_yaml(text: str) -> Iterator[Node]:
    """Yield the documents of a text.

    Raises `UnreadableFileError`, and SettingsError if no parser of YAML is installed.
    """
    try:
        import yaml
    except ImportError:
        raise SettingsError(f"Reading YAML needs PyYAML: {install_command('audits')}.") from None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from _Composer(yaml.parse(text, Loader=loader)).documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        sentence = " ".join(part for part in (error.problem, error.context) if part)
        raise UnreadableFileError(f"This is not YAML: {sentence}.", _place(mark)) from None
    except (yaml.reader.ReaderError, UnicodeEncodeError):
        found = yaml.reader.Reader.NON_PRINTABLE.search(text)
        at, said = (found.start(), f" (U+{ord(found[0]):04X})") if found else (0, "")
        place = Position(line=text.count("\n", 0, at) + 1, column=at - text.rfind("\n", 0, at))
        raise UnreadableFileError(f"This is not YAML: it holds a character that no text has{said}.", place) from None


class _Composer:
    """Makes nodes from events. For each anchor it keeps the node and the number of values in it."""

    def __init__(self, events: "Iterator[Event]") -> None:
        self._events = events
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._count = 0

    def documents(self) -> Iterator[Node]:
        import yaml

        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                node = self._node(next(self._events), 0)
                next(self._events)  # the document's end
                if not (isinstance(node, Scalar) and node.text is None):
                    yield node

    def _node(self, event: "Event", level: int) -> Node:
        import yaml

        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event.anchor or "", place)
        if level > MAX_LEVELS:
            raise UnreadableFileError("This is nested too deeply; write it flat.", place)
        before = self._count
        self._add(1, place)
        if isinstance(event, yaml.ScalarEvent):
            _check_tag(event.tag, place)
            nothing = not event.style and event.value in NOTHING and event.tag is None
            node: Node = Scalar(text=None if nothing else event.value, place=place)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(event, level, place)
        else:
            node = self._mapping(event, level, place)  # type: ignore[arg-type] # the last kind of event that begins a node
        if event.anchor is not None:  # type: ignore[attr-defined]
            self._anchors[event.anchor] = (node, self._count - before)  # type: ignore[attr-defined]
        return node

    def _list(self, event: "SequenceStartEvent", level: int, place: Position) -> Listed:
        import yaml

        _check_tag(event.tag, place)
        items: list[Node] = []
        for inner in self._events:
            if isinstance(inner, yaml.SequenceEndEvent):
                break
            items.append(self._node(inner, level + 1))
        return Listed(items=tuple(items), place=place)

    def _mapping(self, event: "MappingStartEvent", level: int, place: Position) -> Mapped:
        import yaml

        _check_tag(event.tag, place)
        fields: dict[str, Node] = {}
        places: dict[str, Position] = {}
        merged: list[Mapped] = []
        for inner in self._events:
            if isinstance(inner, yaml.MappingEndEvent):
                break
            key = self._node(inner, level + 1)
            value = self._node(next(self._events), level + 1)
            if not isinstance(key, Scalar):
                raise UnreadableFileError("The name of a field must be a text.", key.place)
            name = key.text or ""
            if name == MERGE:
                merged += _merged(value)
            elif name in fields:
                raise UnreadableFileError(f"The field {name[:64]!r} stands twice here; write it once.", key.place)
            else:
                fields[name], places[name] = value, key.place
        for source in merged:  # own fields win over merged ones, and the first merged mapping wins over the next
            for name, value in source.fields.items():
                if name not in fields:
                    fields[name], places[name] = value, source.places[name]
        return Mapped(fields=fields, places=places, place=place)

    def _aliased(self, anchor: str, place: Position) -> Node:
        if anchor not in self._anchors:
            raise UnreadableFileError(
                f"The alias *{anchor[:64]} stands for nothing that was complete before it.", place
            )
        node, count = self._anchors[anchor]
        self._add(count, place)
        return node

    def _add(self, count: int, place: Position) -> None:
        self._count += count
        if self._count > MAX_NODES:
            raise UnreadableFileError(
                f"This holds more than {MAX_NODES:,} values, with those that aliases stand for; split the file.", place
            )


def _merged(value: Node) -> list[Mapped]:
    parts = value.items if isinstance(value, Listed) else (value,)
    for part in parts:
        if not isinstance(part, Mapped):
            raise UnreadableFileError("Only a mapping can be merged with <<.", part.place)
    return [part for part in parts if isinstance(part, Mapped)]


def _check_tag(tag: str | None, place: Position) -> None:
    if tag is not None and tag != "!" and tag not in PLAIN_TAGS:
        raise UnreadableFileError(f"The tag {tag[:64]} is not read; write plain values.", place)


def _place(mark: Any) -> Position:
    """The place of a mark, which counts lines and columns from 0."""
    return Position(line=1, column=1) if mark is None else Position(line=mark.line + 1, column=mark.column + 1)
