"""Commands that audit benchmarks: they prove every option of a case by running code against the installed library."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from touchstone.cli.files.requests import text_of
from touchstone.cli.local.audit_targets import Also, Jobs, Requirement, Trust, Upgrade, Wheels, opened, target_of
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.places import check_place, replace
from touchstone.cli.terminal.screen import is_interactive, print_json, say
from touchstone.cli.terminal.waiting import progress
from touchstone.clock import system_clock
from touchstone.errors import InputError
from touchstone.extras import require_extras

if TYPE_CHECKING:
    from touchstone.audits.report import QualityReport


UsageError: type[Exception] = typer.BadParameter.mro()[1]
"""The error that is raised for arguments that a command does not take. Its module depends on the release of Typer."""


class RunsByDefault(TyperGroup):
    """The group of audit commands. Arguments that do not begin with the name of a command are those of `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before the arguments if they do not begin with the name of a command."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        elif args and args[0] in self.commands and Path(args[0]).is_dir():
            self._or_the_folder(ctx, *args)
        return super().parse_args(ctx, args)

    def _or_the_folder(self, ctx: Any, name: str, *args: str) -> None:
        """If the command `name` does not take these arguments, fail, and say how to audit the folder of this name."""
        try:
            self.commands[name].make_context(name, list(args), parent=ctx)
        except UsageError as error:
            told: Any = error
            ctx.fail(
                f"{told.format_message().rstrip('.')}. `{name}` is a command of `touchstone audit`, and a folder "
                f"here: to audit the folder, write `touchstone audit run ./{name}`."
            )


audit = options.group("audit", "Audit a benchmark by running code, here or in your deployment.", cls=RunsByDefault)

MAX_REPORT_BYTES = 512_000_000
"""The limit of a report, which is read into memory whole."""
DEFAULT_CPU_SECONDS, DEFAULT_WALL_SECONDS = 5.0, 30.0
JUnit = Annotated[Path | None, options.junit("the outcome of each case")]
Definitions = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="Files with cases as YAML, JSON or JSON Lines, or folders of such files."),
]
Provider = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The provider whose strong model solves the cases. Default: Gemini if it has a key, else another provider "
        "with a key.",
    ),
]
Turns = Annotated[int, typer.Option(min=1, max=200, help="The largest number of turns of the model for a case.")]
DEFAULT_TURNS = 40
MaxCost = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="USD", help="Begin no new turn once the whole audit has cost this much. Default: no limit."
    ),
]


@audit.command()
def run(
    files: Definitions,
    *,
    target: Requirement,
    also: Also = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder for the work and the report. Default: audit-NAME-VERSION in the current folder.",
        ),
    ] = None,
    previous: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT",
            help="The report of an earlier audit. Its proofs run first, and the model solves only cases that drifted "
            "or are new.",
        ),
    ] = None,
    provider: Provider = None,
    turns: Turns = DEFAULT_TURNS,
    max_cost: MaxCost = None,
    jobs: Annotated[int, typer.Option(min=1, max=32, help="How many cases are worked on at the same time.")] = 1,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Ratings that give exit code 1: any of incorrect, ambiguous, unproven; or none."
        ),
    ] = "incorrect,ambiguous",
    junit: JUnit = None,
    sarif: options.Sarif = None,
    yes: options.Yes = False,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Audit a benchmark: rate each case by running proofs.

    An agent writes and runs a proof of every option of every case. It never sees the key. The word `run` may be left
    out.

    The folder --out keeps every turn, so the same command continues after a stop. The report is quality_report.json and
    quality_audit.md in this folder.

    Exit code 1: a case has a rating that --fail-on names; else 3: a case is Unproven; else 0.
    """
    require_extras("audits")
    from touchstone.audits.agent import Bounds
    from touchstone.audits.whole import SolvingTerms
    from touchstone.cli.local import audit_running as running
    from touchstone.cli.local.inprocess import done_here
    from touchstone.cli.screens import audit_screen as screen
    from touchstone.cli.screens.audit_views import exit_of_totals, failing_of
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.sarif import write_sarif

    read = [*files, *([] if previous is None else [previous])]
    check_place(junit, where="--junit", read=read)
    check_place(sarif, where="--sarif", read=read)
    failing = failing_of(fail_on, drift=False)
    before = None if previous is None else _report(previous)
    wanted = target_of(target, also)
    cases = running.cases_in(files)
    place = opened(wanted, wheels=wheels, upgrade=upgrade, trust=trust)
    folder = out or Path(f"audit-{wanted.name}-{place.bundle.manifest.version}")
    terms = SolvingTerms(bounds=Bounds(turns=turns), jobs=jobs, max_cost_usd=max_cost)
    ask = not yes and is_interactive()
    try:
        found = done_here(
            running.run(cases, place, out=folder, provider=provider, terms=terms, previous=before, ask=ask)
        )
    except KeyboardInterrupt:
        say(f"Interrupted. What is done is kept in {folder}; run the same command again to go on.")
        raise
    write_report(folder, found)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        screen.print_report(found)
    write_junit(junit, [screen.suite_of_report(found, failing)])
    write_sarif(sarif, screen.sarif_of_report(found, failing))
    raise typer.Exit(exit_of_totals(found.totals, failing))


@audit.command()
def estimate(
    files: Definitions, *, provider: Provider = None, turns: Turns = DEFAULT_TURNS, as_json: options.AsJson = False
) -> None:
    """Check definitions of cases, and estimate an audit's cost.

    Prints the number of a model's turns and their price. No model is asked, and nothing is installed. Every fault of a
    definition is reported with its file, line and field.
    """
    require_extras("audits")
    from touchstone.audits.agent import Bounds
    from touchstone.cli.local import audit_running as running

    cases = running.cases_in(files)
    expected, model = running.estimated(cases, provider, Bounds(turns=turns))
    if as_json:
        print_json({**expected.model_dump(mode="json"), "model": model})
    else:
        running.print_estimate(expected, model=model)


@audit.command()
def prove(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="A file with the script of the proof, or - for standard input.")
    ],
    *,
    target: Requirement,
    also: Also = None,
    cpu_seconds: Annotated[
        float,
        typer.Option(min=0.1, max=60, help="The limit of processor time in seconds, without the import of the target."),
    ] = DEFAULT_CPU_SECONDS,
    wall_seconds: Annotated[
        float, typer.Option(min=0.1, max=60, help="The limit of time on the clock, in seconds.")
    ] = DEFAULT_WALL_SECONDS,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
) -> None:
    """Run one proof, and print its outcome as JSON. Needs no key and no deployment.

    The script runs with the target, and again without it.

    Exit code 0: it holds; 1: it is refuted; 3: it proves nothing (error, vacuous, timeout, blocked).
    """
    require_extras("audits")
    from touchstone.audits.sandbox.limits import MAX_SCRIPT_CHARS, Limits

    wanted = target_of(target, also)
    text = text_of(script, at_most=4 * MAX_SCRIPT_CHARS)  # in bytes: a character has four at most
    place = opened(wanted, wheels=wheels, upgrade=upgrade, trust=trust)
    result = place.proved(text, limits=Limits(cpu_seconds=cpu_seconds, wall_seconds=wall_seconds))
    manifest = place.bundle.manifest
    print_json(
        {
            "target": {"requirement": wanted.requirement, "version": manifest.version, "digest": manifest.digest},
            **result.model_dump(mode="json"),
        }
    )
    codes = {"holds": Exit.DONE, "refuted": Exit.VERDICT}
    raise typer.Exit(codes.get(result.outcome, Exit.UNDECIDED))


@audit.command()
def recheck(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="The quality_report.json of an audit, or the folder that holds it.")
    ],
    *,
    target: Requirement,
    also: Also = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder for quality_report.json and quality_audit.md of the new target. Default: none is written.",
        ),
    ] = None,
    jobs: Jobs = 1,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Findings that give exit code 1: drift (any), or a case newly rated incorrect, ambiguous or unproven; "
            "or none.",
        ),
    ] = "drift",
    junit: JUnit = None,
    sarif: options.Sarif = None,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Run an audit's proofs against another version of its target.

    Lists the cases that drifted. No model is asked. A case has drifted if the outcome of one of its options has
    changed. Such a case should be solved again. Without --also the further distributions of the earlier audit count.

    Exit code 1: a case drifted; else 0. If --fail-on names ratings, a case counts only if it has such a rating now and
    had another one before.
    """
    require_extras("audits")
    from touchstone.audits.recheck import check_same_library
    from touchstone.audits.recheck import recheck as run_again
    from touchstone.cli.screens import audit_screen as screen
    from touchstone.cli.screens.audit_views import failing_of
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.sarif import write_sarif

    check_place(junit, where="--junit", read=[report])
    check_place(sarif, where="--sarif", read=[report])
    failing = failing_of(fail_on, drift=True)
    before = _report(report)
    wanted = target_of(target, before.target.target.also if also is None else also)
    check_same_library(before.target.target, wanted)  # before the new target is installed
    if out is not None:
        _make(out)
    place = opened(wanted, wheels=wheels, upgrade=upgrade, trust=trust)
    with progress("Proofs") as show:
        found = run_again(before, place.bundle, sandbox=place.sandbox, made_at=system_clock(), jobs=jobs, progress=show)
    if out is not None:
        write_report(out, found.report)
    if as_json:
        print_json(screen.recheck_document(found))
    else:
        screen.print_recheck(found)
    write_junit(junit, [screen.suite_of_recheck(found, failing)])
    write_sarif(sarif, screen.sarif_of_recheck(found, failing))
    raise typer.Exit(screen.exit_of_recheck(found, failing))


REPORT_NAME, PAGE_NAME = "quality_report.json", "quality_audit.md"


def _report(path: Path) -> "QualityReport":
    """The report in a file or folder. Raises `InputError`, `TooLargeError`."""
    from touchstone.audits.report import read_report

    file = path / REPORT_NAME if path.is_dir() else path
    return read_report(text_of(str(file), at_most=MAX_REPORT_BYTES).encode(), name=str(file))


def _make(folder: Path) -> None:
    """Make a folder for the report. Raises `InputError` if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.", where="--out") from None


def write_report(folder: Path, report: "QualityReport") -> None:
    """Write the report into a folder, as JSON for programs and as Markdown for people.

    Raises `InputError` if the folder cannot be made, and `StoreError` if a file cannot be written.
    """
    from touchstone.audits.report import report_json, report_markdown

    _make(folder)
    parts: dict[str, Any] = {REPORT_NAME: report_json(report), PAGE_NAME: report_markdown(report)}
    for name, text in parts.items():
        replace(folder / name, [text.encode()])
    say(f"The report is in {folder / PAGE_NAME} and {folder / REPORT_NAME}.")
