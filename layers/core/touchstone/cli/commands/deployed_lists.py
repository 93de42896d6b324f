"""Commands that list the measurements and experiments of a deployment, and show a measurement."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from touchstone import figures
from touchstone.cli.commands.experiments import experiment
from touchstone.cli.deployment.api import fetch, show_found
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import (
    column,
    cost_of,
    moment,
    print_facts,
    print_json,
    print_table,
    short,
    time_column,
)

app = typer.Typer()
measurement = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(
    measurement,
    name="measurement",
    help="List and show measurements of your deployment. To measure without a deployment: touchstone evaluate.",
)

SurfaceName = Annotated[
    Literal["quiz", "summary", "flashcards"] | None,
    typer.Option("--surface", help="Only records about this kind of material."),
]
Status = Annotated[
    Literal["waiting", "measuring", "done", "failed", "unfinished", "ended"] | None,
    typer.Option(help="Only records with this status."),
]


def _scores(row: Mapping[str, Any]) -> str:
    """The scores of a measurement, each after the name of its metric."""
    return ", ".join(f"{name} {_figure(score)}" for name, score in row.get("scores", {}).items())


def _figure(score: float | None) -> str:
    return "-" if score is None else figures.score(score, 1)


MEASUREMENTS = (
    time_column("created (UTC)", "created_at"),
    column("id"),
    column("surface"),
    column("state"),
    column("begins", lambda row: short(row.get("title"))),
    column("scores", _scores),
    column("cost", cost_of, right=True),
)
METRICS = (
    column("metric"),
    column("score (0-100)", lambda row: _figure(row.get("score")), right=True),
    column("because"),
)
EXPERIMENTS = (
    time_column("created (UTC)", "created_at"),
    column("id"),
    column("name"),
    column("state"),
    column("came to", "headline"),
    column("cost", lambda row: cost_of(row) if row.get("finished_at") else None, right=True),
)


@measurement.command("list")
def list_measurements(
    *,
    status: Status = None,
    search: options.Search = None,
    since: options.FromDay = None,
    until: options.ToDay = None,
    surface: SurfaceName = None,
    metric: Annotated[
        str | None, typer.Option(help="Only measurements with this metric, for example quiz_clarity.")
    ] = None,
    language: Annotated[
        Literal["zh", "en"] | None, typer.Option(help="Only measurements whose reasons are in this language.")
    ] = None,
    model: options.AskedModel = None,
    provider: options.AskedProvider = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="Only measurements with an item that people gave this label, for example AMBIGUOUS. none: no item has "
            "a label."
        ),
    ] = None,
    cost_from: options.CostFrom = None,
    cost_to: options.CostTo = None,
    sort: options.Sort = "newest",
    limit: options.Limit = 20,
    cursor: options.Cursor = None,
    as_json: options.AsJson = False,
) -> None:
    """List your deployment's measurements, newest first. With filters: only those that match all."""
    show_found("measurements", locals(), MEASUREMENTS)


@measurement.command()
def show(
    measurement_id: Annotated[str, typer.Argument(metavar="ID", help="The measurement's id.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show a measurement: each metric's score, or why it has none."""
    view = fetch("measurements", measurement_id)
    if as_json:
        print_json(view)
        return
    outlay = view["outlay"]
    cost = cost_of({"cost_usd": outlay["cost_usd"], "unpriced_calls": outlay["unpriced"]})
    print_facts((name, view[name]) for name in ("id", "surface", "state"))
    print_facts([("created (UTC)", moment(view["created_at"])), ("cost", cost)])
    print_table(METRICS, view["metrics"], empty="It has no metrics.")


@experiment.command("list")
def list_experiments(
    *,
    status: Status = None,
    search: options.Search = None,
    since: options.FromDay = None,
    until: options.ToDay = None,
    surface: SurfaceName = None,
    variant: Annotated[str | None, typer.Option(help="Only experiments with a variant of this name.")] = None,
    verdict: Annotated[
        Literal["a_better", "b_better", "no_difference_shown", "not_compared", "mixed"] | None,
        typer.Option(help="Only experiments with this result."),
    ] = None,
    cost_from: options.CostFrom = None,
    cost_to: options.CostTo = None,
    sort: options.Sort = "newest",
    limit: options.Limit = 20,
    cursor: options.Cursor = None,
    as_json: options.AsJson = False,
) -> None:
    """List your deployment's experiments, newest first. With filters: only those that match all."""
    show_found("experiments", locals(), EXPERIMENTS)
