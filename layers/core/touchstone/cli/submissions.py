"""Tasks and submissions from files and standard input, checked by the library's own models."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from touchstone.cli.places import replace
from touchstone.cli.requests import STANDARD_INPUT, name_of, text_of
from touchstone.errors import InputError, TooLargeError
from touchstone.judges.fence import visible
from touchstone.operations.json_text import loads
from touchstone.oracle.model import MAX_SUBMISSION_CHARS, Brief, Dimension, Dimensions

MOST_BYTES_A_CHARACTER, BYTE_ORDER_MARK = 4, 3
"""Of UTF-8."""
TOO_LARGE = frozenset({"string_too_long", "too_long"})


class TaskFile(Brief):
    """A task as a file holds it. `dimensions` None: they are made; those that an earlier run wrote are locked so."""

    dimensions: Dimensions | None = None


def task_of(source: str) -> TaskFile:
    """The task in a file. Raises as `brief_of`."""
    return brief_of(source, TaskFile)


def brief_of[T: Brief](source: str, kind: type[T]) -> T:
    """What a file says of a task, read as a `kind` of brief.

    Raises `InputError`, `TooLargeError`, one sentence with the file and the field at fault.
    """
    name = name_of(source)
    fields = loads(text_of(source), where=name)
    if not isinstance(fields, dict):
        raise InputError("A task is one JSON object with a description and acceptance_criteria.", where=name)
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        refusal = TooLargeError if fault["type"] in TOO_LARGE else InputError
        raise refusal(f"{name}: {_sentence(fault, kind)}.", where=name) from None


def submission_of(source: str) -> str:
    """The text of a submission. Raises `InputError` for one that is blank or no text, `TooLargeError`."""
    name = name_of(source)
    try:
        text = text_of(source, at_most=MOST_BYTES_A_CHARACTER * MAX_SUBMISSION_CHARS + BYTE_ORDER_MARK)
    except TooLargeError:
        text = None
    if text is None or len(text) > MAX_SUBMISSION_CHARS:
        raise TooLargeError(f"{name} is too long; a submission has at most {MAX_SUBMISSION_CHARS:,} characters.")
    if not visible(text).strip():
        raise InputError(f"{name} says nothing that a reader would see; give the text of the submission.")
    return text


def check_apart(submission: str, task: str) -> None:
    """Raise `InputError` where both are to come from standard input."""
    if submission == task == STANDARD_INPUT:
        raise InputError("Only one of FILE and --task can be standard input; give the other as a file.", where="--task")


def check_place(path: Path) -> None:
    """Raise `InputError` where no file can lie, before anything is paid that is to be written there."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"No file can be written at {path}; name one in a folder that exists.", where="--dimensions-out"
        )


def write_task(path: Path, task: TaskFile, dimensions: tuple[Dimension, ...]) -> None:
    """Write a task with its dimensions, to be judged by the same ones again. Raises `StoreError`."""
    document = task.model_copy(update={"dimensions": dimensions}).model_dump(mode="json", exclude_none=True)
    replace(path, [json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"])


def _sentence(fault: Mapping[str, Any], kind: type[Brief]) -> str:
    """What is wrong with a field, and which one."""
    place = ".".join(str(part) for part in fault["loc"])
    told = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"there is no field {place}; those of a task are {', '.join(kind.model_fields)}"
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
            return f"{place}: {fault['msg']}"
