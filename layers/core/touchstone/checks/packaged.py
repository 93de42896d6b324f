"""Data files: those beside a module of our own, and those of installed packages that are not imported for them."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from touchstone.errors import SettingsError


def own_table(module: str, name: str = "") -> dict[str, Any]:
    """The words or signs in a JSON file beside a module, given as its `__file__`; of the module's name without one."""
    path = Path(module)
    table: dict[str, Any] = json.loads((path.with_name(name) if name else path.with_suffix(".json")).read_text("utf-8"))
    return table


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
