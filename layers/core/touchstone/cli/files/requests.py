"""Requests from the command line, a file or standard input, checked by the same models as the API's."""

import base64
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from touchstone.cli.terminal.places import read_file
from touchstone.errors import InputError, TooLargeError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from touchstone.answers.model import SolveRequest, VerifyRequest

STANDARD_INPUT = "-"
MAX_REQUEST_BYTES = 1_000_000
"""The longest valid request has a problem, an answer and steps of 20,000 characters each."""
LINE_FIELDS = frozenset({"kind", "id"})
"""What a line of a batch has beside its request; a single line may be verified as it is."""


def verify_request(source: str | None, options: Mapping[str, Any]) -> "VerifyRequest":
    """The request to verify an answer: from `source` (a file or `-`), with `options` that were given laid over it.

    Raises `InputError` with the field at fault, `TooLargeError`.
    """
    from touchstone.answers.model import VerifyRequest

    given = {name: value for name, value in options.items() if value is not None}
    if source is None:
        for name in ("problem", "answer"):
            if name not in given:
                raise InputError(
                    f"Give --{name}, or a FILE with one request as JSON (- for standard input).", where=name
                )
    fields = _fields(source) if source is not None else {}
    if (kind := fields.get("kind", "verify")) != "verify":
        raise InputError(f"The request is of kind {kind!r}; this command takes answers to verify.", where="kind")
    return checked(VerifyRequest, {**{k: v for k, v in fields.items() if k not in LINE_FIELDS}, **given})


def solve_request(options: Mapping[str, Any]) -> "SolveRequest":
    """The request to solve a problem. Raises `InputError`."""
    from touchstone.answers.model import SolveRequest

    return checked(SolveRequest, {name: value for name, value in options.items() if value is not None})


def key_options(expected: Sequence[str] | None, tolerance: str | None) -> dict[str, Any]:
    """An answer key as a request carries it, from the command line; what was not given is None.

    `tolerance` is its kind and number: `relative=0.01`. Raises `InputError` for one that is no number; whether it may
    be that number is for the request to say.
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
    """How many judges are wanted, as a request carries it; None where that was not said."""
    return text if text is None or text == "until_sure" else int(text)


def image_bytes(path: Path) -> bytes:
    """The picture in a file. Raises `InputError` for what is none, `TooLargeError`."""
    from touchstone.answers.reading import image

    return image(read_file(path)).data


def inline(data: bytes) -> dict[str, str]:
    """A picture as a request carries it."""
    return {"data_base64": base64.b64encode(data).decode()}


def name_of(source: str) -> str:
    """How a file, or standard input, is called in a sentence."""
    return "standard input" if source == STANDARD_INPUT else source


def text_of(source: str, *, at_most: int = MAX_REQUEST_BYTES) -> str:
    """The text of a file or of standard input, `at_most` so many bytes. Raises `InputError`, `TooLargeError`."""
    room = at_most + 1
    data = sys.stdin.buffer.read(room) if source == STANDARD_INPUT else read_file(Path(source), at_most=room)
    name = name_of(source)
    if len(data) > at_most:
        raise TooLargeError(f"{name} holds more than {at_most:,} bytes.", where=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text; save it as UTF-8.", where=name) from None


def _fields(source: str) -> dict[str, Any]:
    try:
        fields = json.loads(text_of(source))
    except json.JSONDecodeError as error:
        raise InputError(
            f"The request is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", where=source
        ) from None
    except RecursionError:
        raise InputError("The request is nested too deeply; send flat JSON.", where=source) from None
    if not isinstance(fields, dict):
        raise InputError("The request must be one JSON object; `touchstone batch run` takes many.", where=source)
    return fields


def checked[T: "BaseModel"](model: type[T], fields: Mapping[str, Any]) -> T:
    """The fields as a model. Raises `InputError` with the field at fault, `TooLargeError`."""
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        where = ".".join(str(part) for part in faults[0]["loc"])
        sentence = f"{where}: {faults[0]['msg']}." if where else f"{faults[0]['msg']}."
        kind = TooLargeError if faults[0]["type"] == "string_too_long" else InputError
        raise kind(sentence, where=where or None) from None
