"""The content of a file in any format: texts, lists and mappings, each with its place; and the fields of definitions.

A value is the text as written, and not what a format makes of it: an option `No` is not a truth value, and a version
`1.20` is not a number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.errors import InputError

MAX_NODES = 200_000
"""Most values of a file. The values that an alias of YAML stands for are counted each time."""

# The fields of a definition, in the spellings that benchmarks use.
QUESTION = ("question", "question_text", "stem", "prompt")
OPTIONS = ("options", "choices", "alternatives")
KEY = ("ground_truth", "correct_answer", "correct_option", "correct_choice", "answer_key", "answer", "key")
KEY_INDEX = ("answer_index", "correct_index", "correct_answer_index", "correct_option_index")
"""Fields that hold the number of an option, counted from 0. A number in another field is a label or a text, never an
index."""
ID = ("id", "case_id", "question_id", "task_id", "uid")
KIND = ("kind", "benchmark_type", "question_type", "type")
LABEL = ("label", "id", "key", "letter", "name")
TEXT = ("text", "value", "content", "option", "answer", "body")
IS_KEY = ("is_correct", "correct", "is_answer")
CASES = ("cases", "benchmarks", "questions", "items", "examples", "tests", "data")
TRUE = frozenset({"true", "yes", "on", "1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Line and column in a file, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value as it is written, without quotes and escapes. `text` is None if nothing or `null` is written."""

    text: str | None
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list."""

    items: tuple["Node", ...]
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A mapping. `places` are the places of its keys."""

    fields: Mapping[str, "Node"]
    places: Mapping[str, Position]
    place: Position


type Node = Scalar | Listed | Mapped


class UnreadableFileError(InputError):
    """A file is no document of its format, or is refused: a sentence, and the `place` of the fault."""

    def __init__(self, sentence: str, place: Position) -> None:
        super().__init__(sentence)
        self.place = place


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """The fault of a field, and its place."""

    sentence: str
    place: Position
    field: str = ""


class UnfitError(Exception):
    """A part of a definition cannot be understood."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint.sentence)
        self.complaint = complaint


@dataclass(slots=True)
class Complaints:
    """All faults of a file, in the order in which they were found."""

    found: list[Complaint] = field(default_factory=list)

    def add(self, sentence: str, place: Position, path: str) -> None:
        """Add a fault."""
        self.found.append(Complaint(sentence=sentence, place=place, field=path))


def field_path(path: str, name: str) -> str:
    """The path of the field `name` in the mapping at `path`."""
    return f"{path}.{name}" if path else name


def filled_fields(node: Mapped, spellings: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Yield the fields with one of these names whose value is not empty."""
    for name in spellings:
        value = node.fields.get(name)
        if value is not None and not (isinstance(value, Scalar) and value.text is None):
            yield name, value


def first_filled(node: Mapped, spellings: Sequence[str]) -> tuple[str, Node] | None:
    """The first field with one of these names whose value is not empty; None if there is none."""
    return next(filled_fields(node, spellings), None)


def text_of(node: Node, path: str) -> str:
    """The text of a value. Raises `UnfitError` if the value is no text or is empty."""
    if not isinstance(node, Scalar):
        raise UnfitError(Complaint(sentence="It must be a text.", place=node.place, field=path))
    if node.text is None:
        raise UnfitError(Complaint(sentence="It says nothing; put quotes around it.", place=node.place, field=path))
    return node.text
