"""Data files of installed packages, read without importing the package that carries them."""

from importlib.util import find_spec
from pathlib import Path

from touchstone.errors import SettingsError


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
