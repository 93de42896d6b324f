"""A target's sources, which are read and never run: which modules exist, and what their syntax says."""

import ast
import io
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Protocol

from touchstone.errors import InputError

MAX_SOURCE_BYTES = 1_000_000
"""Largest file that is parsed. Larger files are generated tables."""
MAX_FILE_BYTES = 5_000_000
MAX_MODULES = 20_000
"""How many modules of a target are looked at."""
KEPT_MODULES = 64
"""How many parsed modules are kept. A syntax tree takes fifty times the memory of its source."""
MAX_LINES = 400
MAX_ENTRIES = 300
"""How many names of a folder are shown at a time, as `MAX_LINES` is how many lines of a file."""
_SUFFIXES = (".py", ".pyi")
_BESIDE = frozenset({"__pycache__", "tests", "test"})


class Sources(Protocol):
    """An installed target: the folder from which Python imports it, and the names by which it is imported."""

    @property
    def site(self) -> Path: ...
    @property
    def modules(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `name` is the module's name; `path` is relative to the folder from which Python imports."""

    name: str
    path: PurePosixPath
    tree: ast.Module
    lines: tuple[str, ...]

    @property
    def package(self) -> str:
        """The package from which relative imports of the module start."""
        return self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]

    def source_of(self, node: ast.stmt) -> str:
        """The source lines of a definition."""
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])


class Library:
    """The installed distributions, among them the target. `title` names the target, for example `google-adk 1.20.0`."""

    def __init__(self, installed: Sources, *, title: str) -> None:
        self.title = title
        self.modules = tuple(installed.modules)
        self._site = installed.site.resolve()
        self._parsed = lru_cache(maxsize=KEPT_MODULES)(self.read_once)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all modules of the target in alphabetical order, without its tests; `MAX_MODULES` at most."""
        found: set[str] = set()
        for name in self.modules:
            for path in self._files(self._site.joinpath(*name.split("."))):
                relative = path.relative_to(self._site).with_suffix("")
                parts = relative.parts[:-1] if relative.name == "__init__" else relative.parts
                if all(part.isidentifier() for part in parts):
                    found.add(".".join(parts))
                if len(found) >= MAX_MODULES:
                    return tuple(sorted(found))
        return tuple(sorted(found))

    def module(self, name: str) -> Module | None:
        """The module of that name, from the target or from a distribution installed with it.

        None if it has no source.
        """
        return self._parsed(name)

    def read_once(self, name: str) -> Module | None:
        """The same module as `module` returns, but not kept: for a caller that reads all modules once."""
        path = self._path_of(name)
        if path is None:
            return None
        try:
            if path.stat().st_size > MAX_SOURCE_BYTES:
                return None
            source = _decoded(path.read_bytes())
            tree = ast.parse(source)
        except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
            return None
        return Module(name, PurePosixPath(path.relative_to(self._site).as_posix()), tree, tuple(_lines(source)))

    def read_file(self, path: str, first: int | None = None, last: int | None = None) -> str:
        """Lines `first` to `last` of a file, each with its number, or the names in a folder.

        `path` is relative to the folder from which Python imports. `first` None: from the beginning. `last` None: as
        many lines as are shown at a time. Raises InputError if there is no such file, or if it is not a text.
        """
        found = self._inside(path)
        if found.is_dir():
            return self._listing(found)
        if found.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"That file is larger than {MAX_FILE_BYTES} bytes.", where="path")
        data = found.read_bytes() if found.is_file() else b"\0"  # to read a pipe may have no end
        if b"\0" in data:
            raise InputError("That file is no text.", where="path")
        lines = _lines(_decoded(data).removesuffix("\n"))
        begin = max(1, first or 1)
        end = min(len(lines), last or len(lines), begin + MAX_LINES - 1)
        shown = "\n".join(f"{at}: {lines[at - 1]}" for at in range(begin, end + 1))
        return f"{path}, lines {begin} to {end} of {len(lines)}\n{shown}"

    def _inside(self, path: str) -> Path:
        try:
            found = (self._site / path).resolve()
            there = found.is_relative_to(self._site) and found.exists()
        except (OSError, ValueError):
            there = False
        if not there:
            raise InputError("There is no such file in the bundle; give its path as other tools name it.", where="path")
        return found

    def _listing(self, folder: Path) -> str:
        names = sorted(f"{each.name}/" if each.is_dir() else each.name for each in folder.iterdir())
        more = f"\n… [cut: {MAX_ENTRIES} of {len(names)} names are shown]" if len(names) > MAX_ENTRIES else ""
        return "\n".join(names[:MAX_ENTRIES]) + more

    def _files(self, root: Path) -> Iterator[Path]:
        """The source files of a module or package. Links are not followed."""
        yield from (single for suffix in _SUFFIXES if (single := root.with_name(root.name + suffix)).is_file())
        for folder, folders, files in root.walk():
            folders[:] = sorted(each for each in folders if each not in _BESIDE)
            yield from (folder / file for file in sorted(files) if file.endswith(_SUFFIXES))

    def _path_of(self, name: str) -> Path | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        base = self._site.joinpath(*parts)
        tried = [base / f"__init__{suffix}" for suffix in _SUFFIXES]
        tried += [base.with_name(base.name + suffix) for suffix in _SUFFIXES]
        found = next((path for path in tried if os.path.isfile(path)), None)  # noqa: PTH113 - raises for no name
        return found if found is not None and found.resolve().is_relative_to(self._site) else None


def _decoded(data: bytes) -> str:
    """The text of a file in the encoding that its first lines declare for Python, otherwise in UTF-8."""
    try:
        return data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0], errors="replace")
    except (SyntaxError, LookupError, ValueError):
        return data.decode(errors="replace")


def _lines(text: str) -> list[str]:
    """The lines as the syntax tree counts them: Python ends a line at fewer characters than `splitlines`."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
