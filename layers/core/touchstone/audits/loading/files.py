"""The definitions in files and folders: cases with their places, and faults with theirs."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.audits.case import AuditCase
from touchstone.audits.loading.definitions import cases_of, is_meant_as_cases
from touchstone.audits.loading.formats import read_json, read_lines, read_yaml
from touchstone.audits.loading.nodes import Complaints, Node, Position, UnreadableFileError
from touchstone.text.decoding import decoded

MAX_FAULTS = 50
"""Most faults of one file that are listed: a field that is missing in each of 500 cases is one mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, in one sentence. `line` and `column` count from 1; None if the fault concerns the whole file.

    `field` is the path to the field, such as `benchmarks[3].options`; empty if the fault is not about a field.
    """

    file: Path
    sentence: str
    line: int | None = None
    column: int | None = None
    field: str = ""

    def __str__(self) -> str:
        place = "" if self.line is None else f":{self.line}:{self.column}"
        field = f"{self.field}: " if self.field else ""
        return f"{self.file}{place}: {field}{self.sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCase:
    """A case, and the file and line where its definition begins."""

    case: AuditCase
    file: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The content of the files. `others` are files in folders in which nothing is meant as a case.

    `unlisted_faults` is how many faults are not listed, because their file has more than `MAX_FAULTS`.
    """

    cases: tuple[LoadedCase, ...] = ()
    faults: tuple[Fault, ...] = ()
    others: tuple[Path, ...] = ()
    unlisted_faults: int = 0


MAX_BYTES = 8_000_000
"""Largest file: it holds thousands of cases."""
READERS = {".yaml": read_yaml, ".yml": read_yaml, ".json": read_json, ".jsonl": read_lines}


def load_cases(paths: Iterable[Path]) -> Loaded:
    """Read the named files, and the files in the named folders, each once.

    A file in a folder is left alone if nothing in it is meant as a case. If two cases have the same id, in whatever
    files, that is a fault of the second. Raises SettingsError if YAML is to be read and no parser is installed.
    """
    reading = _Reading()
    for path in paths:
        files = [path] if not path.is_dir() else list(_in_folder(path))
        for file in files:
            reading.take(file, named=file == path)
        if not files:
            reading.faults.append(Fault(file=path, sentence=f"This folder holds no files called {_ENDINGS}."))
    return reading.loaded()


def load_text(text: str, *, name: str) -> Loaded:
    """Read a text as `load_cases` reads the file called `name`. The ending of the name determines the format."""
    reading = _Reading()
    reading.take_text(Path(name), text, named=True)
    return reading.loaded()


_ENDINGS = ", ".join(f"*{ending}" for ending in READERS)


@dataclass(slots=True)
class _Reading:
    cases: list[LoadedCase] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unlisted_faults: int = 0
    _seen: set[Path] = field(default_factory=set)
    _ids: dict[str, tuple[Path, Position]] = field(default_factory=dict)

    def loaded(self) -> Loaded:
        return Loaded(
            cases=tuple(self.cases),
            faults=tuple(self.faults),
            others=tuple(self.others),
            unlisted_faults=self.unlisted_faults,
        )

    def take(self, file: Path, *, named: bool) -> None:
        """Read a file, unless it was read already."""
        place = file.resolve()
        if place in self._seen:
            return
        self._seen.add(place)
        text = _text(file)
        if isinstance(text, Fault):
            self.faults.append(text)
        else:
            self.take_text(file, text, named=named)

    def take_text(self, file: Path, text: str, *, named: bool) -> None:
        """Read the text of a file. A file that is not `named` is left alone if it is not meant to hold cases."""
        reader = READERS.get(file.suffix.lower())
        if reader is None:
            self.faults.append(Fault(file=file, sentence=f"Definitions are in files called {_ENDINGS}."))
            return
        documents: list[Node] = []
        complaints = Complaints()
        try:
            documents.extend(reader(text))
        except UnreadableFileError as error:
            complaints.add(str(error), error.place, "")
        if not named and not complaints.found and not any(map(is_meant_as_cases, documents)):
            self.others.append(file)
            return
        if not documents and not complaints.found:
            self.faults.append(Fault(file=file, sentence="This file is empty."))
        numbers = itertools.count(1)
        for document in documents:
            for name, case, place in cases_of(document, stem=file.stem, numbers=numbers, complaints=complaints):
                before = self._ids.setdefault(name, here := (file, place))
                if before is not here:
                    sentence = (
                        f"The id {name[:64]!r} is there twice; the first is in {before[0]}, line {before[1].line}."
                    )
                    complaints.add(sentence, place, "id")
                elif case is not None:
                    self.cases.append(LoadedCase(case=case, file=file, line=place.line))
        self._complain(file, complaints)

    def _complain(self, file: Path, complaints: Complaints) -> None:
        for one in sorted(complaints.found, key=lambda one: (one.place.line, one.place.column))[:MAX_FAULTS]:
            self.faults.append(
                Fault(file=file, sentence=one.sentence, line=one.place.line, column=one.place.column, field=one.field)
            )
        self.unlisted_faults += max(0, len(complaints.found) - MAX_FAULTS)


def _in_folder(folder: Path) -> Iterator[Path]:
    """Yield the files that may hold definitions, in the order of their names.

    Hidden files and folders are left alone.
    """
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in READERS and not hidden and path.is_file():
            yield path


def _text(file: Path) -> str | Fault:
    """The text of a file, or the fault for which it cannot be read."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        return Fault(file=file, sentence=f"It cannot be read: {error.strerror}.")
    if len(data) > MAX_BYTES:
        return Fault(file=file, sentence=f"It is larger than {MAX_BYTES:,} bytes; split it.")
    text = decoded(data)
    return Fault(file=file, sentence="It is not UTF-8 text; save it as UTF-8.") if text is None else text
