"""Checks of files of quizzes: the requirements from the options, the outcome, and how it is printed.

Faults that have one right correction can be corrected. The corrections are shown as a diff, or written to the files.
"""

import gc
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from stat import S_IWGRP, S_IWOTH, S_IWUSR

import typer

from touchstone.checks import find_pinyin_errors, find_simplified
from touchstone.cli.files.course_files import curriculum_of
from touchstone.cli.files.quiz_files import Folders, QuizFile, QuizFileFault, read
from touchstone.cli.files.quiz_findings import CheckedFile, Edit, QuizRequirements, checked, edited, edits_of
from touchstone.cli.screens.quiz_reports import Form, QuizReportOutcome, document, fault_line, line_of, summary
from touchstone.cli.terminal.places import read_file, replace
from touchstone.cli.terminal.screen import print_json, say, visible
from touchstone.errors import InputError, SettingsError, StoreError
from touchstone.quizzes.curriculum import LANGUAGE_TAG, Curriculum
from touchstone.quizzes.model import RULES
from touchstone.text.decoding import decoded

_NO_END = "\\ No newline at end of file"
WRITABLE = S_IWUSR | S_IWGRP | S_IWOTH
"""The bits of a file's mode for writing. A file without them is left alone, even by root, who could write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A file before and after its corrections, and the number of corrected findings."""

    before: CheckedFile
    after: CheckedFile
    corrected: int

    @property
    def changed(self) -> bool:
        """Whether the text of the file was changed, so that it has to be written."""
        return self.before.file.text != self.after.file.text


def fixed(found: CheckedFile, sought: QuizRequirements) -> Fixed:
    """Correct the file in memory, again and again until no correction is left, so that a second call changes nothing.

    One pass is not enough: a corrected character may make a word recognisable, and if a question has very many faults,
    a pass finds only the first ones.
    """
    after = found
    count = 0
    seen: set[str] = set()
    while after.file.text not in seen and (edits := list(_edits(after))):
        seen.add(after.file.text)
        count += sum(bool(placed.splices) for placed in after.all_findings)
        text = edited(after.file.text, edits)
        after = checked(read(after.file.path, text, mark=after.file.mark), sought, original=found.file)
    return Fixed(before=found, after=after, corrected=count)


def difference(fix: Fixed) -> str:
    """The corrections as a unified diff that `git apply -p0` accepts."""
    name = str(fix.before.file.path)
    before, after = (_lines(one.file.text) for one in (fix.before, fix.after))
    told = unified_diff(before, after, fromfile=name, tofile=name)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in told)


def _lines(text: str) -> list[str]:
    """The lines of a text with their line feeds. Only a line feed ends a line, no carriage return or other mark."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def write(fix: Fixed) -> QuizFileFault | None:
    """Write the corrected file over the original, whole or not at all. Return the refusal, if there is one."""
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
        # If two equal choices are corrected, each has a splice for the equal answer. That splice is made only once.
        yield from edits_of(text.document, dict.fromkeys(splice for placed in findings for splice in placed.splices))


MOST_WARNINGS = 10
"""How many warnings about a course are said. The author of a course with more can begin with these."""
_KEPT = re.compile(r"[^\r\t]+|\r(?!\n)")
"""The parts of a diff in which escapes may be written: all but tabs and line ends, which a patch needs unchanged."""


@contextmanager
def not_collecting() -> Iterator[None]:
    """Switch off the collector of cyclic garbage: tables and quizzes make none, and it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def requirements_of(ui_language: str | None, curriculum: Path | None, chapter: str | None) -> QuizRequirements:
    """The requirements that the options ask for. Warnings about the course are said. Raises `InputError`."""
    if ui_language is not None and re.fullmatch(LANGUAGE_TAG, ui_language) is None:
        raise InputError("--ui-language must be a BCP 47 tag, as en, ja or zh-TW.", where="--ui-language")
    if (curriculum is None) != (chapter is None):
        raise InputError(
            "A chapter and its curriculum go together: give --curriculum FILE and --chapter ID.",
            where="--curriculum" if curriculum is None else "--chapter",
        )
    if curriculum is None or chapter is None:
        return QuizRequirements(ui_language=ui_language)
    course = curriculum_of(curriculum)
    for sentence in islice(course_warnings(course, curriculum), MOST_WARNINGS):
        say(sentence)
    return QuizRequirements(
        ui_language=ui_language, taught=course.chapter(chapter).items, known=course.known_words(chapter)
    )


def course_warnings(course: Curriculum, path: Path) -> Iterator[str]:
    """Warnings about the script and the pinyin of a course itself, each with the first line that has the fault.

    If the tables of the checks are not installed, there are no warnings: the report on the quizzes says that they lack.
    """
    lines = (decoded(path.read_bytes()) or "").split("\n")
    try:
        for chapter in course.chapters:
            for item in chapter.items:
                for found in find_simplified(item):
                    yield _warning(
                        path, lines, item, f"the course teaches 「{item}」, which is Simplified", found.suggestion
                    )
            for word in chapter.vocabulary:
                for found in find_pinyin_errors(word.pinyin, word.hanzi) if word.pinyin else ():
                    yield _warning(path, lines, word.pinyin or "", f"in the course: {found.detail}", found.suggestion)
    except SettingsError:
        return


def _warning(path: Path, lines: Sequence[str], text: str, what: str, suggestion: str | None) -> str:
    line = next((f":{number}" for number, line in enumerate(lines, start=1) if text in line), "")
    advice = f" → {suggestion}" if suggestion else ""
    return visible(f"Warning: {path}{line}: {what}{advice}")


def outcome_of(folders: Folders, sought: QuizRequirements, *, fix: bool) -> QuizReportOutcome:
    """Check the files that were read, and with `fix` correct them on disk."""
    files, faults, changed, corrected = [checked(file, sought) for file in folders.files], [*folders.faults], [], 0
    for at, found in enumerate(files if fix else ()):
        made = fixed(found, sought)
        if not made.changed:
            continue
        if (refusal := write(made)) is not None:
            faults.append(refusal)
            continue
        files[at] = made.after
        changed.append(found.file.path)
        corrected += made.corrected
    run = tuple(rule for rule in RULES if any(rule in found.checks_run for found in files))
    return QuizReportOutcome(
        files=tuple(files),
        faults=tuple(faults),
        others=tuple(folders.others),
        checks_run=run,
        not_run=sought.not_run(run, read_any=any(found.file.quizzes for found in files)),
        corrected=corrected if fix else None,
        changed=tuple(changed),
    )


def print_outcome(outcome: QuizReportOutcome, *, form: Form, as_json: bool, findings: bool) -> None:
    """Print the findings, and the faults and the summary as sentences; without `findings` only faults and summary."""
    if as_json:
        print_json(document(outcome))
    elif findings:
        for file, placed in outcome.findings:
            typer.echo(visible(line_of(file, placed, form=form)))
    for fault in outcome.faults:
        if form == "github" and not as_json:
            typer.echo(visible(fault_line(fault, form=form)))  # GitHub reads its commands from standard output
        else:
            say(fault_line(fault))
    for sentence in summary(outcome):
        say(sentence)


def print_differences(outcome: QuizReportOutcome, sought: QuizRequirements) -> None:
    """Print the corrections of each file as a diff."""
    for found in outcome.files:
        if shown := difference(fixed(found, sought)):
            typer.echo(_KEPT.sub(lambda other: visible(other[0]), shown), nl=False)
