"""The fields of a definition, in the spellings that benchmarks use, and faults with their places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from touchstone.audits.loading.nodes import Mapped, Node, Position, Scalar

QUESTION = ("question", "question_text", "stem", "prompt")
OPTIONS = ("options", "choices", "alternatives")
KEY = ("ground_truth", "correct_answer", "correct_option", "correct_choice", "answer_key", "answer", "key")
KEY_INDEX = ("answer_index", "correct_index", "correct_answer_index", "correct_option_index")
"""Numbers of options, counted from 0. A number under another name is a label or a text, never counted."""
ID = ("id", "case_id", "question_id", "task_id", "uid")
KIND = ("kind", "benchmark_type", "question_type", "type")
LABEL = ("label", "id", "key", "letter", "name")
TEXT = ("text", "value", "content", "option", "answer", "body")
IS_KEY = ("is_correct", "correct", "is_answer")
CASES = ("cases", "benchmarks", "questions", "items", "examples", "tests", "data")
TRUE = frozenset({"true", "yes", "on", "1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What is wrong with a field, and where it stands."""

    sentence: str
    place: Position
    field: str = ""


class UnfitError(Exception):
    """A part of a definition that cannot be made anything of."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint.sentence)
        self.complaint = complaint


@dataclass(slots=True)
class Complaints:
    """All that is wrong with a file, in the order in which it was found."""

    found: list[Complaint] = field(default_factory=list)

    def add(self, sentence: str, place: Position, path: str) -> None:
        """One more."""
        self.found.append(Complaint(sentence=sentence, place=place, field=path))


def within(path: str, name: str) -> str:
    """The path of a field of what `path` leads to."""
    return f"{path}.{name}" if path else name


def given(node: Mapped, spellings: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """The fields of these spellings that say anything."""
    for name in spellings:
        value = node.fields.get(name)
        if value is not None and not (isinstance(value, Scalar) and value.text is None):
            yield name, value


def first(node: Mapped, spellings: Sequence[str]) -> tuple[str, Node] | None:
    """The first of the fields of these spellings, None where there is none."""
    return next(given(node, spellings), None)


def text_of(node: Node, path: str) -> str:
    """The text of a value. Raises `UnfitError` for what is none."""
    if not isinstance(node, Scalar):
        raise UnfitError(Complaint(sentence="It must be a text.", place=node.place, field=path))
    if node.text is None:
        raise UnfitError(Complaint(sentence="It says nothing; put quotes around it.", place=node.place, field=path))
    return node.text
