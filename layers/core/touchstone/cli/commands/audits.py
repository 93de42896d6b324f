"""Commands that audit benchmarks: every option of a case proved by running code against the installed library."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from touchstone.cli.local.audit_targets import Also, Jobs, Requirement, Trust, Upgrade, Wheels
from touchstone.cli.terminal.options import AsJson
from touchstone.extras import need

if TYPE_CHECKING:
    from touchstone.audits.report import QualityReport


UsageError: type[Exception] = typer.BadParameter.mro()[1]
"""What arguments raise that a command does not take, in whichever module this release of Typer keeps it."""


class RunsByDefault(TyperGroup):
    """Takes files without a command's name as those that are to be audited."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command before its arguments, where it is left out."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        elif args and args[0] in self.commands and Path(args[0]).is_dir():
            self._or_the_folder(ctx, *args)
        return super().parse_args(ctx, args)

    def _or_the_folder(self, ctx: Any, name: str, *args: str) -> None:
        """Where the arguments are none of the command `name`, say how its namesake, a folder here, is audited."""
        try:
            self.commands[name].make_context(name, list(args), parent=ctx)
        except UsageError as error:
            told: Any = error
            ctx.fail(
                f"{told.format_message().rstrip('.')}. `{name}` is a command of `touchstone audit`, and a folder "
                f"here: to audit the folder, write `touchstone audit run ./{name}`."
            )


app = typer.Typer()
audit = typer.Typer(cls=RunsByDefault, no_args_is_help=True, rich_markup_mode=None)
app.add_typer(
    audit, name="audit", help="Audit the questions of a benchmark by running code, here or in your deployment."
)

MAX_REPORT_BYTES = 512_000_000
"""Of a report; it is read into memory whole."""
DEFAULT_CPU_SECONDS, DEFAULT_WALL_SECONDS = 5.0, 30.0
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write a case for each case here as JUnit XML.")
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write what is wrong here as SARIF, for code hosts.")
]

Definitions = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="Cases as YAML, JSON or JSON Lines, and folders of them."),
]
Provider = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Whose strong model solves; else Gemini's, if it has a key."),
]
Turns = Annotated[int, typer.Option(min=1, max=200, help="How many turns a case may take.")]
DEFAULT_TURNS = 40


@audit.command()
def run(
    files: Definitions,
    *,
    target: Requirement,
    also: Also = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where it is kept and gone on with; else audit-NAME-VERSION, here."),
    ] = None,
    previous: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT", help="An earlier audit: its proofs are run first, and only what drifted is solved again."
        ),
    ] = None,
    provider: Provider = None,
    turns: Turns = DEFAULT_TURNS,
    max_cost: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Begin no turn once it has cost so much in all.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=32, help="How many cases are worked on at a time.")] = 1,
    fail_on: Annotated[
        str, typer.Option(metavar="A,B", help="Exit with code 1 on incorrect, ambiguous, unproven cases; or none.")
    ] = "incorrect,ambiguous",
    junit: JUnit = None,
    sarif: Sarif = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before money is spent.")] = False,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Audit a benchmark: have an agent prove every option of every case, and rate the cases by what was run.

    `run` may be left out. The agent never sees the key. What is done is kept turn by turn, and the same command goes
    on with it. Writes quality_report.json and quality_audit.md. Exit code 1 where --fail-on says, else 3 where a case
    is Unproven.
    """
    need("audits")
    from touchstone.audits.agent import Bounds
    from touchstone.audits.whole import SolvingTerms
    from touchstone.cli.local import audit_running as running
    from touchstone.cli.local.audit_targets import opened, target_of
    from touchstone.cli.local.inprocess import said_aloud
    from touchstone.cli.screens import audit_screen as screen
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.sarif import write_sarif
    from touchstone.cli.terminal.places import check_place
    from touchstone.cli.terminal.screen import print_json, say

    if junit is not None:
        check_place(junit, where="--junit")
    if sarif is not None:
        check_place(sarif, where="--sarif")
    failing = screen.failing_of(fail_on, drift=False)
    before = None if previous is None else _report(previous)
    wanted = target_of(target, also)
    cases = running.cases_in(files)
    place = opened(wanted, wheels=wheels, upgrade=upgrade, trust=trust)
    folder = out or Path(f"audit-{wanted.name}-{place.bundle.manifest.version}")
    terms = SolvingTerms(bounds=Bounds(turns=turns), jobs=jobs, max_cost_usd=max_cost)
    todo = running.AuditWanted(
        cases=cases, out=folder, provider=provider, terms=terms, previous=before, ask=not yes and running.is_watched()
    )
    try:
        with said_aloud():
            found = running.run(todo, place)
    except KeyboardInterrupt:
        say(f"Interrupted. What is done is kept in {folder}; run the same command again to go on.")
        raise
    write_report(folder, found)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        screen.print_report(found)
    if junit is not None:
        write_junit(junit, [screen.suite_of_report(found, failing)])
    if sarif is not None:
        write_sarif(sarif, screen.sarif_of_report(found, failing))
    raise typer.Exit(screen.exit_of_report(found, failing))


@audit.command()
def estimate(
    files: Definitions, *, provider: Provider = None, turns: Turns = DEFAULT_TURNS, as_json: AsJson = False
) -> None:
    """Check definitions, and say how many turns of a model an audit of them will take and what they will cost.

    Nobody is asked, and nothing is installed. Every fault of a definition is told with its file, line and field.
    """
    need("audits")
    from touchstone.audits.agent import Bounds
    from touchstone.cli.local import audit_running as running
    from touchstone.cli.local.inprocess import said_aloud
    from touchstone.cli.terminal.screen import print_json

    cases = running.cases_in(files)
    with said_aloud():
        expected, model = running.estimated(cases, provider, Bounds(turns=turns))
    if as_json:
        print_json({**expected.model_dump(mode="json"), "model": model})
    else:
        running.print_estimate(expected, model=model)


@audit.command()
def prove(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="The script, or - for standard input.")],
    *,
    target: Requirement,
    also: Also = None,
    cpu_seconds: Annotated[
        float, typer.Option(min=0.1, max=60, help="Processor time, the target's import not counted.")
    ] = DEFAULT_CPU_SECONDS,
    wall_seconds: Annotated[float, typer.Option(min=0.1, max=60, help="Time on the clock.")] = DEFAULT_WALL_SECONDS,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
) -> None:
    """Run one proof, with the target and again without it, and print its outcome as JSON. No key, no deployment.

    Exit code 0 where it holds, 1 where it is refuted, 3 where it proves nothing: error, vacuous, timeout, blocked.
    """
    need("audits")
    from touchstone.audits.sandbox.limits import MAX_SCRIPT_CHARS, Limits
    from touchstone.audits.sandbox.prove import check_import
    from touchstone.audits.sandbox.prove import prove as run_proof
    from touchstone.cli.files.requests import text_of
    from touchstone.cli.local.audit_targets import opened, target_of
    from touchstone.cli.terminal.exits import Exit
    from touchstone.cli.terminal.screen import print_json

    wanted = target_of(target, also)
    text = text_of(script, at_most=4 * MAX_SCRIPT_CHARS)  # bytes, of which a character has four at most
    place = opened(wanted, wheels=wheels, upgrade=upgrade, trust=trust)
    limits = Limits(cpu_seconds=cpu_seconds, wall_seconds=wall_seconds)
    result = run_proof(text, place.bundle, sandbox=place.sandbox, limits=limits)
    if result.outcome == "error":
        check_import(place.bundle, sandbox=place.sandbox)  # of a target that is no good, it says so
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
        Path, typer.Argument(metavar="REPORT", help="A quality_report.json, or the folder that it lies in.")
    ],
    *,
    target: Requirement,
    also: Also = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write quality_report.json and quality_audit.md of the new target here."),
    ] = None,
    jobs: Jobs = 1,
    fail_on: Annotated[
        str,
        typer.Option(metavar="A,B", help="Exit with code 1 on any drift, or on new incorrect, ambiguous, unproven."),
    ] = "drift",
    junit: JUnit = None,
    sarif: Sarif = None,
    wheels: Wheels = None,
    upgrade: Upgrade = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Run the proofs of an audit again, against another version of its target, and list what drifted.

    No model is asked. A case drifted where an option stands otherwise than it did; it is one to solve again, and fails
    a build. With a rating as --fail-on a case counts only where that is another than it was.
    """
    need("audits")
    from touchstone.audits.recheck import check_same_library
    from touchstone.audits.recheck import recheck as run_again
    from touchstone.cli.local.audit_targets import opened, target_of
    from touchstone.cli.screens import audit_screen as screen
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.sarif import write_sarif
    from touchstone.cli.terminal.places import check_place
    from touchstone.cli.terminal.progress import progress
    from touchstone.cli.terminal.screen import print_json
    from touchstone.clock import system_clock

    if junit is not None:
        check_place(junit, where="--junit")
    if sarif is not None:
        check_place(sarif, where="--sarif")
    failing = screen.failing_of(fail_on, drift=True)
    before = _report(report)
    wanted = target_of(target, before.target.target.also if also is None else also)
    check_same_library(before.target.target, wanted)  # before it is installed
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
    if junit is not None:
        write_junit(junit, [screen.suite_of_recheck(found, failing)])
    if sarif is not None:
        write_sarif(sarif, screen.sarif_of_recheck(found, failing))
    raise typer.Exit(screen.exit_of_recheck(found, failing))


REPORT_NAME, PAGE_NAME = "quality_report.json", "quality_audit.md"


def _report(path: Path) -> "QualityReport":
    """The report in a file or folder. Raises `InputError`, `TooLargeError`."""
    from touchstone.audits.report import read_report
    from touchstone.cli.terminal.places import read_file
    from touchstone.errors import TooLargeError

    file = path / REPORT_NAME if path.is_dir() else path
    data = read_file(file, at_most=MAX_REPORT_BYTES + 1)
    if len(data) > MAX_REPORT_BYTES:
        raise TooLargeError(f"{file} holds more than {MAX_REPORT_BYTES:,} bytes.", where=str(file))
    return read_report(data, name=str(file))


def _make(folder: Path) -> None:
    """Make a folder that is to be written to. Raises `InputError`."""
    from touchstone.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.", where="--out") from None


def write_report(folder: Path, report: "QualityReport") -> None:
    """Write the report for programs and for people into a folder. Raises `InputError`, `StoreError`."""
    from touchstone.audits.report import report_json, report_markdown
    from touchstone.cli.terminal.places import replace
    from touchstone.cli.terminal.screen import say

    _make(folder)
    parts: dict[str, Any] = {REPORT_NAME: report_json(report), PAGE_NAME: report_markdown(report)}
    for name, text in parts.items():
        replace(folder / name, [text.encode()])
    say(f"The report is in {folder / PAGE_NAME} and {folder / REPORT_NAME}.")
