"""Courses and learners from files, read as people write them."""

from pathlib import Path

from pydantic import BaseModel, ValidationError

from touchstone.cli.faults import refusal
from touchstone.cli.requests import name_of, text_of
from touchstone.errors import InputError
from touchstone.operations.json_text import loads
from touchstone.quizzes.curriculum import Curriculum

MAX_BYTES = 32_000_000
"""Of one file: more than the longest course that is accepted comes to in practice."""


def curriculum_of(path: Path) -> Curriculum:
    """The course in a file. Raises `InputError`, `TooLargeError`, one sentence with the file and the place at fault."""
    name = name_of(str(path))
    return _checked(Curriculum, _text(path), name=name, of="a curriculum")


def _text(path: Path) -> str:
    return text_of(str(path), at_most=MAX_BYTES)


def _checked[T: BaseModel](model: type[T], text: str, *, name: str, of: str) -> T:
    fields = loads(text, where=name)
    if not isinstance(fields, dict):
        raise InputError(f"{name} must hold {of} as one JSON object.", where=name)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refusal(error, name=name, of=of, fields=model.model_fields) from None
