"""JSON as the doors accept it: what cannot be stored or compared is refused, not repaired."""

import json
from typing import Any, NoReturn

from touchstone.errors import InputError, TooLargeError

MAX_BODY_BYTES = 5_500_000
"""A Lambda payload ends at 6 MB with its envelope; what is larger is refused whole."""


def _no_constant(name: str) -> NoReturn:
    raise InputError(f"The body holds {name}, which is not JSON; send a number or null.", where="body")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The field {twice[:64]!r} stands twice in one object; send it once.", where="body")
    return fields


def loads(text: str) -> Any:
    """Parse a body. Raises `InputError` for text that is no JSON, NaN, Infinity, repeated fields or absurd nesting."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", where="body"
        ) from None
    except RecursionError:
        raise InputError("The body is nested too deeply; send flat JSON.", where="body") from None


def check_size(body: str | None) -> None:
    """Refuse a body that is larger than a function could pass on. Raises `TooLargeError`."""
    size = len((body or "").encode("utf-8", "surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise TooLargeError(
            f"The body has {size:,} bytes; at most {MAX_BODY_BYTES:,} are taken. Upload large images first, at "
            "/v1/images, and thousands of requests as a file, at /v1/batches.",
            where="body",
        )
