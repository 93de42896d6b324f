"""The output of the command: sentences and JSON. Text that came from elsewhere is data.

A character that a terminal would obey is shown as an escape.
"""

import json
import sys
import unicodedata
from typing import TYPE_CHECKING

import typer

from touchstone.cli.terminal.exits import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that a terminal obeys or cannot show: controls, directions, surrogates, line separators."""
DELETE = 0x7F
"""The last character of ASCII, which is a control."""
WIDTH_WITHOUT_TERMINAL = 160


def visible(text: object) -> str:
    """The text with each character that a terminal would obey as an escape. Line ends stay; a tab becomes 4 spaces."""
    return str(text).translate(_SHOWN)


class _Shown(dict[int, str]):
    """The text that is shown for each character, by its code. An entry is made when the character first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


_SHOWN = _Shown()


def _shown(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in OBEYED:
        return character
    if character == "\t":
        return "    "
    code = ord(character)
    return f"\\x{code:02x}" if code <= DELETE else character.encode("ascii", "backslashreplace").decode()


def say(sentence: str) -> None:
    """Print one sentence on standard error."""
    print(visible(sentence), file=sys.stderr, flush=True)  # noqa: T201


class SayOnce:
    """As `say`, but a sentence that was said already is not said again."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, sentence: str) -> None:
        """Print one sentence on standard error, unless it was printed before."""
        if sentence not in self._said:
            self._said.add(sentence)
            say(sentence)


def is_interactive() -> bool:
    """Whether standard input is a terminal, so that the user can be asked."""
    return sys.stdin.isatty()


def confirm_spending() -> None:
    """Ask the user to agree to the estimate that was shown. Leave with the code `INTERRUPTED` if the user does not."""
    if not typer.confirm("Spend that?", err=True):
        raise typer.Exit(INTERRUPTED)


def print_json(document: object) -> None:
    """Print the document as JSON on standard output; a character that a terminal would obey is written as an escape."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    print("".join(_escaped(character) for character in text))  # noqa: T201


def _escaped(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in OBEYED:
        return character
    return json.dumps(character)[1:-1]


def console(*, stderr: bool = False) -> "Console":
    """The Rich console for tables and progress. It uses colour only on a terminal, and not if `NO_COLOR` is set."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
