"""Requests from the command line, a file or standard input, checked by the same models as requests to the API."""

import base64
import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from touchstone.cli.terminal.places import read_file
from touchstone.errors import InputError, TooLargeError
from touchstone.json_text import loads
from touchstone.text.decoding import decoded

if TYPE_CHECKING:
    from pydantic import BaseModel

    from touchstone.answers.model import SolveRequest, VerifyRequest

TOO_LARGE = frozenset({"string_too_long", "too_long"})
FOREIGN = {
    b"PK\x03\x04": "a package (as .xlsx, .docx and .apkg are)",
    b"\xd0\xcf\x11\xe0": "a document of older programs (as .xls and .doc are)",
    b"%PDF-": "a PDF",
    b"{\\rtf": "rich text (RTF)",
}
"""The first bytes of files that people take for text, and what such a file is."""
STANDARD_INPUT = "-"
BEGINS_JSON = ("{", "[")
MOST_BYTES_A_CHARACTER = 4
"""The most bytes that one character takes in UTF-8."""
MAX_REQUEST_BYTES = 1_000_000
"""The longest valid request has a problem, an answer and steps of 20,000 characters each."""
LINE_FIELDS = frozenset({"kind", "id"})
"""The fields that a line of a batch has beside its request. They are dropped, so that such a line can be verified."""


def verify_request(source: str | None, options: Mapping[str, Any]) -> "VerifyRequest":
    """The request to verify an answer: from `source` (a file or `-`; None: no file), overridden by `options`.

    An option that is None was not given. Raises `InputError` that names the field at fault, and `TooLargeError`.
    """
    from touchstone.answers.model import VerifyRequest

    given = {name: value for name, value in options.items() if value is not None}
    if source is None:
        for name in ("problem", "answer"):
            if name not in given:
                raise InputError(
                    f"Give --{name}, or a FILE with one request as JSON (- for standard input).", where=name
                )
    otherwise = "The request must be one JSON object; `touchstone batch run` takes many."
    fields = object_of(source, otherwise=otherwise) if source is not None else {}
    if (kind := fields.get("kind", "verify")) != "verify":
        raise InputError(f"The request is of kind {kind!r}; this command takes answers to verify.", where="kind")
    return checked(VerifyRequest, {**{k: v for k, v in fields.items() if k not in LINE_FIELDS}, **given})


def solve_request(options: Mapping[str, Any]) -> "SolveRequest":
    """The request to solve a problem; an option that is None was not given. Raises `InputError`."""
    from touchstone.answers.model import SolveRequest

    return checked(SolveRequest, {name: value for name, value in options.items() if value is not None})


def key_options(expected: Sequence[str] | None, tolerance: str | None) -> dict[str, Any]:
    """An answer key from the command line, as the fields of a request; a part that was not given is None.

    `tolerance` has the form `relative=0.01`: its kind and its number. Raises `InputError` if that is no number. Whether
    the kind and the number are allowed is checked by the model of the request.
    """
    told = {"expected": list(expected) if expected else None, "tolerance": None}
    if tolerance is None:
        return told
    kind, _, number = tolerance.partition("=")
    try:
        value: float = int(number) if kind == "significant_digits" else float(number)
    except ValueError:
        raise InputError(
            "A tolerance is its kind and a number: relative=0.01, absolute=0.5 or significant_digits=3.",
            where="tolerance",
        ) from None
    return {**told, "tolerance": {kind: value}}


def judge_count(text: Literal["1", "2", "3", "until_sure"] | None) -> int | Literal["until_sure"] | None:
    """The number of judges as a request has it; None if the option was not given."""
    return text if text is None or text == "until_sure" else int(text)


def image_bytes(path: Path) -> bytes:
    """The bytes of the picture in a file. Raises `InputError` if the file is no picture, and `TooLargeError`."""
    from touchstone.answers.reading import image

    return image(read_file(path)).data


def inline(data: bytes) -> dict[str, str]:
    """A picture as a request has it."""
    return {"data_base64": base64.b64encode(data).decode()}


def name_of(source: str) -> str:
    """The name of a file, or of standard input, in a sentence."""
    return "standard input" if source == STANDARD_INPUT else source


def text_of(source: str, *, at_most: int = MAX_REQUEST_BYTES) -> str:
    """The text of a file or of standard input. Raises `TooLargeError` if it has more than `at_most` bytes.

    Raises `InputError` if it cannot be read, or is no text (see `touchstone.text.decoding`).
    """
    room = at_most + 1
    data = sys.stdin.buffer.read(room) if source == STANDARD_INPUT else read_file(Path(source), at_most=room)
    name = name_of(source)
    if len(data) > at_most:
        raise TooLargeError(f"{name} holds more than {at_most:,} bytes.", where=name)
    if (kind := next((kind for begin, kind in FOREIGN.items() if data.startswith(begin)), None)) is not None:
        raise InputError(
            f"{name} is {kind}, and text is wanted here: save a table as CSV (UTF-8), anything else as plain text.",
            where=name,
        )
    if (text := decoded(data)) is None:
        raise InputError(f"{name} is not UTF-8 text; save it as UTF-8.", where=name)
    return text


def object_of(source: str, *, otherwise: str, at_most: int = MAX_REQUEST_BYTES) -> dict[str, Any]:
    """The JSON object in a file or in standard input. Raises as `text_of`, and `InputError` if that is no JSON.

    `otherwise` is the sentence of the error for other JSON.
    """
    name = name_of(source)
    fields = loads(text_of(source, at_most=at_most), where=name)
    if not isinstance(fields, dict):
        raise InputError(otherwise, where=name)
    return fields


def rows_of(table: str, delimiter: str, *, name: str, lines_before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that have cells, each with the number of its last line in the file called `name`, from 1.

    `lines_before` is the number of lines before the table. Raises `InputError` for a row that is none.
    """
    # Lines end at line feeds and carriage returns: a cell may hold other characters that Python takes for an end.
    reader = csv.reader(io.StringIO(table, newline=""), delimiter=delimiter, strict=True)
    ended = 0
    try:
        for row in reader:
            ended = reader.line_num
            if row:
                yield lines_before + ended, row
    except csv.Error as error:
        begun = lines_before + ended + 1  # A quote that nothing closes reaches to the end of the table.
        raise InputError(f"{name}: line {begun} is no row of a table ({error}).", where=name) from None


def check_apart(file: str, other: str | None, *, option: str) -> None:
    """Raise `InputError` if both FILE and the file that `option` names are to come from standard input."""
    if file == other == STANDARD_INPUT:
        raise InputError(
            f"Only one of FILE and {option} can be standard input; give the other as a file.", where=option
        )


def checked[T: "BaseModel"](model: type[T], fields: Mapping[str, Any]) -> T:
    """The fields as an instance of `model`. Raises `InputError` that names the field at fault, and `TooLargeError`."""
    from pydantic import ValidationError

    from touchstone.strict import fault_sentence, first_fault

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = first_fault(error, fields)
        where = ".".join(str(part) for part in fault["loc"])
        raise _kind(fault)(f"{fault_sentence(fault)}.", where=where or None) from None


def validated[T: "BaseModel"](model: type[T], fields: Mapping[str, Any], *, name: str, of: str) -> T:
    """The fields of a file called `name` as an instance of `model`. `of` is what the file holds, for example `a task`.

    Raises `InputError` and `TooLargeError`, which tell the first fault.
    """
    from pydantic import ValidationError

    from touchstone.strict import placed

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = placed(error.errors(include_url=False), fields)[0]
        sentence = sentence_of(fault, of=of, fields=model.model_fields)
        raise _kind(fault)(f"{name}: {sentence}.", where=name) from None


def sentence_of(fault: Mapping[str, Any], *, of: str, fields: Iterable[str]) -> str:
    """One of pydantic's faults as a sentence without a full stop, which names the field and what is wrong with it."""
    from touchstone.strict import fault_sentence

    place = ".".join(str(part) for part in fault["loc"])
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden" if len(fault["loc"]) == 1 and place != "judges":
            return f"there is no field {place}; those of {of} are {', '.join(fields)}"
        case _:
            return fault_sentence(fault)


def _kind(fault: Mapping[str, Any]) -> type[InputError]:
    return TooLargeError if fault["type"] in TOO_LARGE else InputError
