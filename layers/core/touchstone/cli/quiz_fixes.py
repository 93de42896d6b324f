"""Files of quizzes with those faults corrected that have one right correction: shown as a difference, or written."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from stat import S_IWGRP, S_IWOTH, S_IWUSR

from touchstone.cli.places import read_file, replace
from touchstone.cli.quiz_files import QuizFile, QuizFileFault, read
from touchstone.cli.quiz_findings import CheckedFile, Sought, checked
from touchstone.cli.splices import Edit, edited, edits_of
from touchstone.errors import InputError, StoreError

_NO_END = "\\ No newline at end of file"
WRITABLE = S_IWUSR | S_IWGRP | S_IWOTH
"""A file that nobody may write is left alone, also by root, who could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A file before and after, and how many findings were corrected on the way."""

    before: CheckedFile
    after: CheckedFile
    corrected: int

    @property
    def changed(self) -> bool:
        """Whether anything is to be written."""
        return self.before.file.text != self.after.file.text


def fixed(found: CheckedFile, sought: Sought) -> Fixed:
    """Correct what can be, until nothing is left of it: a second time changes nothing more.

    A file is looked at again since a corrected character may let a word be seen that was none, and since of very many
    faults in one question only the first are told.
    """
    after = found
    count = 0
    seen: set[str] = set()
    while after.file.text not in seen and (edits := list(_edits(after))):
        seen.add(after.file.text)
        count += sum(bool(placed.splices) for placed in after.all_findings)
        text = edited(after.file.text, edits)
        after = checked(read(after.file.path, text, marked=after.file.marked), sought, original=found.file)
    return Fixed(before=found, after=after, corrected=count)


def difference(fix: Fixed) -> str:
    """What `fixed` changes, as a unified diff that `git apply -p0` takes."""
    name = str(fix.before.file.path)
    before, after = (_lines(one.file.text) for one in (fix.before, fix.after))
    told = unified_diff(before, after, fromfile=name, tofile=name)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in told)


def _lines(text: str) -> list[str]:
    """The lines with their ends. A mark of byte order, a carriage return and other line ends are parts of them."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def write(fix: Fixed) -> QuizFileFault | None:
    """Write the corrected file in place of the one that was read, whole or not at all, or say why that is refused."""
    file = fix.before.file
    if (refusal := _refusal(file)) is None:
        try:
            replace(file.path, [fix.after.file.data])
        except StoreError as error:
            refusal = str(error).removeprefix(f"{file.path.resolve()} ")
    return None if refusal is None else QuizFileFault(file=file.path, sentence=refusal)


def _refusal(file: QuizFile) -> str | None:
    if file.path.is_symlink():
        return f"This is a link, so nothing was written; correct {file.path.resolve()} itself."
    try:
        if not file.path.stat().st_mode & WRITABLE or not os.access(file.path, os.W_OK):
            return "This file is read-only, so nothing was written."
        if read_file(file.path) != file.data:
            return "This file was changed while it was checked, so nothing was written; run the command again."
    except (OSError, InputError):
        return "This file cannot be read any more, so nothing was written."
    return None


def _edits(found: CheckedFile) -> Iterator[Edit]:
    for text, findings in zip(found.file.quizzes, found.findings, strict=True):
        # An answer that two choices are alike to is corrected with both, once.
        yield from edits_of(text.document, dict.fromkeys(splice for placed in findings for splice in placed.splices))
