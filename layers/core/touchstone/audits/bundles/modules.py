"""The names by which a distribution is imported, from the list of its files."""

from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

MAX_MODULES = 50
"""Modules that lie loose in a namespace; a distribution with more is known by the namespace itself."""
_BESIDE = frozenset({"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "scripts"})
"""Folders that are installed by mistake next to a library."""


def installed(site: Path, name: str) -> Distribution | None:
    """The distribution of that name that is installed in `site`, None where there is none."""
    wanted = canonicalize_name(name)
    return next((each for each in distributions(path=[str(site)]) if canonicalize_name(each.name) == wanted), None)


def import_names(distribution: Distribution) -> tuple[str, ...]:
    """The names of its packages and modules, without those inside them, in alphabetical order.

    A private name counts only where there is no other.
    """
    files = [PurePosixPath(str(file)) for file in distribution.files or ()]
    modules = [file for file in files if file.suffix in (".py", ".so") and ".." not in file.parts]
    packages = {file.parent for file in modules if file.name.partition(".")[0] == "__init__"}
    names = {name for file in modules if (name := _outermost(file, packages)) is not None}
    public = {name for name in names if not name.startswith("_") and name.partition(".")[0] not in _BESIDE} or names
    if len(public) > MAX_MODULES:
        public = {name.partition(".")[0] for name in public}
    return tuple(sorted(public))


def _outermost(file: PurePosixPath, packages: Iterable[PurePosixPath]) -> str | None:
    folders = [folder for folder in reversed(file.parents) if folder in packages and folder.name]
    parts = folders[0].parts if folders else (*file.parent.parts, file.name.partition(".")[0])
    return ".".join(parts) if all(part.isidentifier() for part in parts) else None
