"""Read data files: those beside our own modules, and those of installed packages, which are not imported for it."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from touchstone.errors import SettingsError

_PIECE = re.compile("«([^«»]*)»")


def own_table(module: str, name: str = "") -> dict[str, Any]:
    """The words or signs in the JSON file beside a module, whose `__file__` is `module`.

    `name` is the name of the file; without it, the file has the module's name.
    """
    path = Path(module)
    table: dict[str, Any] = json.loads((path.with_name(name) if name else path.with_suffix(".json")).read_text("utf-8"))
    return table


def own_sources(module: str, name: str = "") -> dict[str, list[str]]:
    """The sources of the patterns in the JSON file beside a module, by their key.

    «piece» in a source stands for the piece with that key, which the file writes once. The file's notes are for people
    and are not read.
    """
    table = own_table(module, name)
    pieces: dict[str, str] = {}
    for key, piece in table["pieces"].items():
        pieces[key] = with_pieces(piece, pieces)
    return {key: [with_pieces(source, pieces) for source in sources] for key, sources in table["patterns"].items()}


def with_pieces(source: str, pieces: Mapping[str, str | Sequence[str]]) -> str:
    """The source of a pattern with each «key» replaced by the piece of that key, or by all signs of that piece."""
    return _PIECE.sub(lambda found: "".join(pieces[found[1]]), source)


def own_patterns(module: str) -> dict[str, re.Pattern[str]]:
    """The patterns in the JSON file beside a module, by key. A pattern matches where any of its sources matches."""
    return {key: re.compile("|".join(sources)) for key, sources in own_sources(module).items()}


def data_file(package: str, *parts: str) -> Path:
    """The path of a data file in an installed package.

    The package is found but not imported: the import of a package with a large table may take half a second. Raises
    `SettingsError` if the package is not installed.
    """
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    if not places:
        raise SettingsError(f"The tables of {package} are missing; install touchstone-verdicts[script].")
    return Path(places[0], *parts)
