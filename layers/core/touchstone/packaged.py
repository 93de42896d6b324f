"""Data files: those beside a module of our own, and those of installed packages that are not imported for them."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from touchstone.errors import SettingsError

_PIECE = re.compile("«([^«»]*)»")


def own_table(module: str, name: str = "") -> dict[str, Any]:
    """The words or signs in a JSON file beside a module, given as its `__file__`; of the module's name without one."""
    path = Path(module)
    table: dict[str, Any] = json.loads((path.with_name(name) if name else path.with_suffix(".json")).read_text("utf-8"))
    return table


def own_sources(module: str, name: str = "") -> dict[str, list[str]]:
    """The sources of the patterns in a JSON file beside a module, by their key.

    «piece» in a source stands for the piece of that key, which the file writes once. Its notes are for its readers.
    """
    table = own_table(module, name)
    pieces: dict[str, str] = {}
    for key, piece in table["pieces"].items():
        pieces[key] = _PIECE.sub(lambda found: pieces[found[1]], piece)
    return {
        key: [_PIECE.sub(lambda found: pieces[found[1]], source) for source in sources]
        for key, sources in table["patterns"].items()
    }


def own_patterns(module: str) -> dict[str, re.Pattern[str]]:
    """The patterns in the JSON file beside a module, each of which matches what one of its sources does."""
    return {key: re.compile("|".join(sources)) for key, sources in own_sources(module).items()}


def data_file(package: str, *parts: str) -> Path:
    """The path of a package's own data file.

    The package is found but not imported: one that carries a table may take half a second to start for reasons of its
    own. Raises `SettingsError` where it is not installed.
    """
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    if not places:
        raise SettingsError(f"The tables of {package} are missing; install touchstone-verdicts[script].")
    return Path(places[0], *parts)
