"""Commands about quizzes for learners of Chinese: checking files of them, and making one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.options import AsJson

if TYPE_CHECKING:
    from touchstone.cli.quiz_files import Folders
    from touchstone.cli.quiz_findings import Sought
    from touchstone.cli.quiz_reports import Form, Outcome

app = typer.Typer()
quiz = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(quiz, name="quiz", help="Quizzes for learners of Traditional Chinese: check yours, have one made.")


@quiz.command()
def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Quizzes as JSON (.jsonl: one a line), and folders of them.")
    ],
    *,
    ui_language: Annotated[
        str | None, typer.Option(metavar="TAG", help="The language in which questions must be put, as en or ja.")
    ] = None,
    curriculum: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The course, as JSON or CSV; needs --chapter.")
    ] = None,
    chapter: Annotated[str | None, typer.Option(metavar="ID", help="The chapter that the quizzes are about.")] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Correct in the files what has one right correction.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and change nothing.")] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings here as JUnit XML, for CI tools.")
    ] = None,
    form: Annotated[
        Literal["text", "github"],
        typer.Option("--format", help="How findings are listed: github marks them in a diff."),
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Check quizzes by every rule that needs no judge: no key, no deployment.

    A finding is FILE:LINE:COLUMN RULE, what is wrong and what to write instead. A rule that was not applied is named.
    Exit code 1 where anything is found, or left by --fix; 2 where a file cannot be read: all others are still checked.
    """
    from touchstone.cli.junit import write_junit
    from touchstone.cli.places import check_place
    from touchstone.cli.quiz_files import read_all
    from touchstone.cli.quiz_reports import suites
    from touchstone.errors import InputError

    if diff and as_json:
        raise InputError("Give --diff or --json, not both.", where="--diff")
    if junit is not None:
        check_place(junit, where="--junit")
    sought = _sought(ui_language, curriculum, chapter)
    with _no_collecting():
        outcome = _outcome(read_all(paths), sought, fix=fix and not diff)
        if diff:
            _print_differences(outcome, sought)
    _print(outcome, form=form, as_json=as_json, findings=not diff)
    if junit is not None:
        write_junit(junit, suites(outcome))
    raise typer.Exit(outcome.exit)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Without the collector of circular garbage: tables and quizzes make none, and it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _sought(ui_language: str | None, curriculum: Path | None, chapter: str | None) -> "Sought":
    """What the quizzes are held against. Raises `InputError`."""
    from touchstone.cli.course_files import curriculum_of
    from touchstone.cli.quiz_findings import Sought
    from touchstone.errors import InputError

    if (curriculum is None) != (chapter is None):
        raise InputError(
            "A chapter and its curriculum go together: give --curriculum FILE and --chapter ID.",
            where="--curriculum" if curriculum is None else "--chapter",
        )
    if curriculum is None or chapter is None:
        return Sought(ui_language=ui_language)
    course = curriculum_of(curriculum)
    return Sought(ui_language=ui_language, taught=course.chapter(chapter).items, known=course.known_words(chapter))


def _outcome(folders: "Folders", sought: "Sought", *, fix: bool) -> "Outcome":
    """Check what was read and, where that is wanted, correct it."""
    from touchstone.cli.quiz_findings import checked
    from touchstone.cli.quiz_fixes import fixed, write
    from touchstone.cli.quiz_reports import Outcome
    from touchstone.quizzes.model import RULES

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
    run = {rule for found in files for rule in found.checks_run}
    return Outcome(
        files=tuple(files),
        faults=tuple(faults),
        others=tuple(folders.others),
        checks_run=tuple(rule for rule in RULES if rule in run),
        not_run=sought.not_run,
        corrected=corrected if fix else None,
        changed=tuple(changed),
    )


def _print(outcome: "Outcome", *, form: "Form", as_json: bool, findings: bool) -> None:
    """What was found, and in a few sentences what was done; without `findings` the sentences alone."""
    from touchstone.cli.quiz_reports import document, fault_line, line_of, summary
    from touchstone.cli.screen import print_json, say, visible

    if as_json:
        print_json(document(outcome))
    elif findings:
        for file, placed in outcome.findings:
            typer.echo(visible(line_of(file, placed, form=form)))
    for fault in outcome.faults:
        say(fault_line(fault))
    for sentence in summary(outcome):
        say(sentence)


def _print_differences(outcome: "Outcome", sought: "Sought") -> None:
    from touchstone.cli.quiz_fixes import difference, fixed
    from touchstone.cli.screen import visible

    for found in outcome.files:
        if shown := difference(fixed(found, sought)):
            typer.echo(visible(shown))
