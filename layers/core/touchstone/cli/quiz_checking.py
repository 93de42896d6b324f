"""Checking files of quizzes: what they are held against, what came of it, and how that is shown."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from touchstone.cli.course_files import curriculum_of
from touchstone.cli.quiz_files import Folders
from touchstone.cli.quiz_findings import Sought, checked
from touchstone.cli.quiz_fixes import difference, fixed, write
from touchstone.cli.quiz_reports import Form, Outcome, document, fault_line, line_of, summary
from touchstone.cli.screen import print_json, say, visible
from touchstone.errors import InputError
from touchstone.quizzes.model import RULES


@contextmanager
def not_collecting() -> Iterator[None]:
    """Without the collector of circular garbage: tables and quizzes make none, and it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def sought_of(ui_language: str | None, curriculum: Path | None, chapter: str | None) -> Sought:
    """What the quizzes are held against. Raises `InputError`."""
    if (curriculum is None) != (chapter is None):
        raise InputError(
            "A chapter and its curriculum go together: give --curriculum FILE and --chapter ID.",
            where="--curriculum" if curriculum is None else "--chapter",
        )
    if curriculum is None or chapter is None:
        return Sought(ui_language=ui_language)
    course = curriculum_of(curriculum)
    return Sought(ui_language=ui_language, taught=course.chapter(chapter).items, known=course.known_words(chapter))


def outcome_of(folders: Folders, sought: Sought, *, fix: bool) -> Outcome:
    """Check what was read and, where that is wanted, correct it."""
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
    return Outcome(
        files=tuple(files),
        faults=tuple(faults),
        others=tuple(folders.others),
        checks_run=run,
        not_run=sought.not_run(run),
        corrected=corrected if fix else None,
        changed=tuple(changed),
    )


def print_outcome(outcome: Outcome, *, form: Form, as_json: bool, findings: bool) -> None:
    """What was found, and in a few sentences what was done; without `findings` the sentences alone."""
    if as_json:
        print_json(document(outcome))
    elif findings:
        for file, placed in outcome.findings:
            typer.echo(visible(line_of(file, placed, form=form)))
    for fault in outcome.faults:
        say(fault_line(fault))
    for sentence in summary(outcome):
        say(sentence)


def print_differences(outcome: Outcome, sought: Sought) -> None:
    """What would be corrected, file by file."""
    for found in outcome.files:
        if shown := difference(fixed(found, sought)):
            typer.echo(visible(shown))
