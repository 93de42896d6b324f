"""Commands that export results to other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place, replace
from touchstone.cli.terminal.screen import say
from touchstone.clock import system_clock
from touchstone.errors import InputError
from touchstone.extras import require_extras
from touchstone.figures import counted

if TYPE_CHECKING:
    from touchstone.cli.exports.trials import Trials

app = typer.Typer()
results = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(results, name="results", help="Export verdicts to tools that show results.")


@results.command("export")
def export_results(
    given: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="A file with the results of a batch or with an answer as JSON, the folder of an experiment, or - for "
            "standard input.",
        ),
    ],
    *,
    to: Annotated[
        Literal["promptfoo", "inspect", "otlp"],
        typer.Option(
            help="promptfoo: promptfoo's results; inspect: a log of Inspect; otlp: OpenTelemetry events in OTLP's JSON."
        ),
    ],
    out: options.OutFile,
    variant: Annotated[
        str | None,
        typer.Option(
            metavar="VARIANT",
            help="With inspect, for an experiment: the variant to write. Each variant needs a log of its own.",
        ),
    ] = None,
) -> None:
    """Write verdicts in a format that another tool reads.

    A result that nobody decided is an error, or unscored, in that tool.

    To look at the file: `promptfoo import FILE` for promptfoo; `inspect view` for Inspect (call the file NAME.eval or
    NAME.json).
    """
    check_place(out, where="--out", read=[given])
    if to != "inspect" and variant is not None:
        raise InputError("Only a log of Inspect is of one variant; leave it out.", where="--variant")
    if to == "inspect":
        require_extras("inspect")
    found = _trials(given)
    match to:
        case "promptfoo":
            from touchstone.cli.exports.promptfoo import promptfoo

            replace(out, [promptfoo(found, at=system_clock())])
            written = len(found.trials)
        case "otlp":
            from touchstone.cli.exports.otlp import otlp_of_trials

            replace(out, [otlp_of_trials(found, at=system_clock())])
            written = len(found.trials)
        case "inspect":
            from touchstone.cli.exports.inspect_log import write_inspect

            written = write_inspect(out, found, variant=variant, at=system_clock())
    if found.left_out:
        say(f"Left out: {counted(found.left_out, 'line')} with no answer to tell of.")
    say(f"{out} has {counted(written, 'result')}.")


def _trials(given: str) -> "Trials":
    """The trials in the folder of an experiment or in a file of results."""
    if given != "-" and Path(given).is_dir():
        from touchstone.cli.exports.experiment_trials import trials_of_experiment

        return trials_of_experiment(Path(given))
    from touchstone.cli.exports.trials import trials_in

    return trials_in(given)
