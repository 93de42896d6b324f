"""JSON as every interface accepts it: values that cannot be stored or compared are refused, not repaired.

NaN and Infinity are refused, and so are a field that occurs twice in one object, a field name that is not valid
Unicode, and nesting too deep to be walked. A text value with half a character (a lone surrogate) is refused by the
field that holds it.
"""

import json
from typing import Any, NoReturn

from touchstone.errors import InputError

NAME_SHOWN_CHARS = 64
"""How many characters of a repeated field's name are shown: the sender chose it, and it may be long."""


def loads(text: str | bytes, *, where: str | None = None) -> Any:
    """Parse a text.

    Raises `InputError`, which names `where` it is and quotes nothing of it but a repeated field's name.
    """
    try:
        if isinstance(text, bytes):  # Python would guess UTF-16 and UTF-32 too, of which a line of a file is no whole
            text = text.decode("utf-8-sig", "surrogatepass")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_fields)
    except _RefusedError as error:
        raise InputError(error.sentence, where=where) from None
    except json.JSONDecodeError as error:
        place = f"{error.msg} at line {error.lineno}, column {error.colno}"
        sentence = f"This is not JSON: {place}.{fence_advice(str(text))}"
        raise InputError(sentence, where=where) from None
    except UnicodeDecodeError:
        raise InputError("This is not UTF-8; send JSON as UTF-8.", where=where) from None
    except RecursionError:
        raise InputError("This is nested too deeply; send flat JSON.", where=where) from None
    except ValueError:  # an integer with more digits than Python converts
        raise InputError("This holds a number that is too long to read.", where=where) from None


def fence_advice(text: str) -> str:
    """What to do about a text that is no JSON; empty unless it is Markdown with JSON in it, as models write it."""
    fenced = "```" in text and not text.lstrip().startswith(("{", "["))
    return " Keep only what stands between the lines of ```." if fenced else ""


class _RefusedError(Exception):
    """JSON that can be read but is refused. Not a `ValueError`, so that it differs from the parser's own errors."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def _no_constant(name: str) -> NoReturn:
    raise _RefusedError(f"This holds {name}, which is not JSON; send a number or null.")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"The field {twice[:NAME_SHOWN_CHARS]!r} stands twice in one object; send it once.")
    for name in fields:
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise _RefusedError("The name of a field holds half a character (a lone surrogate).")
    return fields
