"""Checking files of quizzes: what they are held against, what came of it, and how that is shown."""

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import typer

from touchstone.checks import find_pinyin_errors, find_simplified
from touchstone.cli.course_files import curriculum_of
from touchstone.cli.quiz_files import Folders
from touchstone.cli.quiz_findings import Sought, checked
from touchstone.cli.quiz_fixes import difference, fixed, write
from touchstone.cli.quiz_reports import Form, QuizReportOutcome, document, fault_line, line_of, summary
from touchstone.cli.screen import print_json, say, visible
from touchstone.errors import InputError, SettingsError
from touchstone.quizzes.curriculum import LANGUAGE_TAG, Curriculum
from touchstone.quizzes.model import RULES

MOST_WARNINGS = 10
"""About a course: whoever has more of them starts with these."""
_KEPT = re.compile(r"[^\r\t]+|\r(?!\n)")
"""What of a difference is made visible: all but tabs and the ends of lines, which a patch needs as they are."""


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
    if ui_language is not None and re.fullmatch(LANGUAGE_TAG, ui_language) is None:
        raise InputError("--ui-language must be a BCP 47 tag, as en, ja or zh-TW.", where="--ui-language")
    if (curriculum is None) != (chapter is None):
        raise InputError(
            "A chapter and its curriculum go together: give --curriculum FILE and --chapter ID.",
            where="--curriculum" if curriculum is None else "--chapter",
        )
    if curriculum is None or chapter is None:
        return Sought(ui_language=ui_language)
    course = curriculum_of(curriculum)
    for sentence in islice(course_warnings(course, curriculum), MOST_WARNINGS):
        say(sentence)
    return Sought(ui_language=ui_language, taught=course.chapter(chapter).items, known=course.known_words(chapter))


def course_warnings(course: Curriculum, path: Path) -> Iterator[str]:
    """What is wrong with the script and the pinyin of a course itself, each with the first line that has it.

    Nothing where the tables of the checks are not installed: that is said of the quizzes.
    """
    lines = path.read_text(encoding="utf-8-sig").split("\n")
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


def outcome_of(folders: Folders, sought: Sought, *, fix: bool) -> QuizReportOutcome:
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
    """What was found, and in a few sentences what was done; without `findings` the sentences alone."""
    if as_json:
        print_json(document(outcome))
    elif findings:
        for file, placed in outcome.findings:
            typer.echo(visible(line_of(file, placed, form=form)))
    for fault in outcome.faults:
        if form == "github" and not as_json:
            typer.echo(visible(fault_line(fault, form=form)))  # where its commands are read
        else:
            say(fault_line(fault))
    for sentence in summary(outcome):
        say(sentence)


def print_differences(outcome: QuizReportOutcome, sought: Sought) -> None:
    """What would be corrected, file by file."""
    for found in outcome.files:
        if shown := difference(fixed(found, sought)):
            typer.echo(_KEPT.sub(lambda other: visible(other[0]), shown), nl=False)
