"""The command as a whole: its parts, and how an error ends it.

A command imports what takes long to load when it runs, so that `touchstone --help` answers at once.
"""

import contextlib
import errno
import os
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from touchstone.cli.commands import (
    access,
    answers,
    audits,
    batches,
    checks,
    courses,
    deployed_audits,
    deployed_surfaces,
    exchange,
    experiments,
    judges,
    models,
    oracle,
    quizzes,
    quotas,
    reports,
    surfaces,
    tasks,
    tenants,
)
from touchstone.cli.terminal.exits import INTERRUPTED, Exit, code_of
from touchstone.cli.terminal.screen import say
from touchstone.errors import InputError, SettingsError, TouchstoneError
from touchstone.extras import missing_module_sentence
from touchstone.version import __version__

DEBUG_VARIABLE = "TOUCHSTONE_DEBUG"
PLACES = frozenset(
    {
        errno.EACCES, errno.EDQUOT, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT,
        errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS,
    }
)  # fmt: skip
"""Error numbers of faults that the user can mend: a place on disk, which the user or the system chose, is unusable."""

FULL = frozenset({errno.EDQUOT, errno.ENOSPC})
"""Error numbers of faults of a disk that takes no more."""
MOST_SUGGESTED = 3
"""How many commands an error suggests at most: more are no hint."""


def neighbours(group: Any, typed: str) -> list[str]:
    """The commands that a mistyped word may mean: the one spelled most alike, and those of that name within a group."""
    shown = {name: command for name, command in group.commands.items() if not command.hidden}
    within = [
        f"{name} {each}"
        for name, command in shown.items()
        for each, part in getattr(command, "commands", {}).items()
        if each == typed and not part.hidden
    ]
    return [*get_close_matches(typed, shown, n=1), *within][:MOST_SUGGESTED]


class Root(TyperGroup):
    """The group of all commands. It turns a `TouchstoneError` of a command into one sentence and an exit code."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was asked for. If there is none, fail with an error that names the likely commands."""
        meant = [] if ctx.resilient_parsing or args[0] in self.commands else neighbours(self, args[0])
        if meant:
            named = " or ".join(f"`touchstone {name}`" for name in meant)
            ctx.fail(f"No such command {args[0]!r}. Did you mean {named}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise
        except typer.Abort:  # Ctrl-C at a question, or the end of the input
            say("Aborted.")
            raise typer.Exit(INTERRUPTED) from None
        except TouchstoneError as error:
            if ctx.params.get("debug"):
                raise
            raise _end(error) from None
        except (ImportError, OSError) as error:
            mistake = _mistake(error)
            if mistake is None or ctx.params.get("debug"):
                raise
            raise _end(mistake) from None


app = typer.Typer(
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help needs no Rich, and reads the same in the guide
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (
    answers.app,
    surfaces.evaluate,
    experiments.experiment,
    quizzes.quiz,
    exchange.cards,
    courses.curricula,
    courses.learners,
    oracle.oracle,
    tasks.tasks,
    audits.audit,
    deployed_audits.old_audits,
    deployed_surfaces.measurement,
    batches.batch,
    reports.app,
    exchange.results,
    judges.app,
    models.app,
    checks.check,
    checks.app,
    access.app,
    tenants.tenant,
    quotas.quotas,
):
    app.add_typer(part)
app.add_typer(tenants.tenant, name="tenants", hidden=True, help="The old name of `touchstone tenant`.")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"touchstone {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar=DEBUG_VARIABLE, help="If an error ends the command, show its whole traceback."),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Verdicts on what language models produce: checks first, judges second.

    Commands that use a deployment need its address and a token: set TOUCHSTONE_API_URL and TOUCHSTONE_TOKEN, or run
    `touchstone login URL`. Commands with --local need neither.

    Exit codes: 0 done, or verified; 1 decided against (caution, refuted, a criterion that is not met, a score below the
    one asked for, a batch with failed lines); 2 the input or a setting is wrong; 3 nobody could decide (unverified,
    unscored); 4 the service or the network failed, it is safe to repeat the command; 70 a fault of the command itself;
    130 interrupted.
    """


def run() -> None:
    """Run with the arguments of this process, and leave."""
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv or os.environ.get(DEBUG_VARIABLE):
            raise
        if isinstance(error, OSError) and (mistake := _mistake(error)) is not None:  # --help on a full disk
            sys.exit(_end(mistake).exit_code)
        print(  # noqa: T201
            f"Error: something unexpected happened ({type(error).__name__}); `touchstone --debug …` shows the details.",
            file=sys.stderr,
        )
        sys.exit(Exit.UNEXPECTED)


def _end(error: TouchstoneError) -> typer.Exit:
    """Say on standard error what is wrong. Return the exception that ends the command with the error's exit code."""
    say(f"Error: {_sentence(error)}")
    return typer.Exit(code_of(error))


def _mistake(error: ImportError | OSError) -> TouchstoneError | None:
    """The error as a sentence for the user, if it is a part that is not installed or a place on disk that is unusable.

    No command foresees these errors by itself. None for all other errors: those are faults of this program.
    """
    match error:
        case ImportError() if error.name and (sentence := missing_module_sentence(error.name)):
            return SettingsError(sentence)
        case OSError(filename=str() as place) if error.errno in PLACES:
            return SettingsError(f"{place} cannot be used: {error.strerror}. Name another place, or mend this one.")
        case OSError(filename=None) if error.errno in FULL:  # an open file or standard output, which has no name here
            return SettingsError(f"The output or a file cannot be written: {error.strerror}.")
        case _:
            return None


def _replace_closed_streams() -> None:
    """Where the caller closed a stream (`>&-`), Python has none: what would be written there goes nowhere.

    A closed standard input is an empty one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open to the end


def _never_fail(stream: TextIO) -> None:
    """Let the stream write a character that its encoding lacks, such as the tick of a badge, as an escape."""
    with contextlib.suppress(AttributeError):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]


def _sentence(error: TouchstoneError) -> str:
    """The error's own sentence, after the place of the fault if the sentence does not name that place."""
    sentence = str(error)
    where = error.where if isinstance(error, InputError) else None
    return sentence if where is None or where in sentence else f"{where}: {sentence}"
