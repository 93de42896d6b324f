"""Lists of what a deployment measured and compared."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from touchstone.cli.commands.experiments import experiment
from touchstone.cli.terminal.options import (
    AsJson,
    AskedModel,
    AskedProvider,
    CostFrom,
    CostTo,
    Cursor,
    FromDay,
    Limit,
    Search,
    Sort,
    ToDay,
)

app = typer.Typer()
measurement = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(measurement, name="measurement", help="What your deployment measured; without one: touchstone evaluate.")

SurfaceName = Annotated[
    Literal["quiz", "summary", "flashcards"] | None, typer.Option("--surface", help="Only of this material.")
]
Status = Annotated[
    Literal["waiting", "measuring", "done", "failed", "unfinished", "ended"] | None,
    typer.Option(help="Only those with this status."),
]


@measurement.command("list")
def list_measurements(
    *,
    status: Status = None,
    search: Search = None,
    since: FromDay = None,
    until: ToDay = None,
    surface: SurfaceName = None,
    metric: Annotated[str | None, typer.Option(help="Only with this metric, as quiz_clarity.")] = None,
    language: Annotated[
        Literal["zh", "en"] | None, typer.Option(help="Only where the judge's reasons are in this language.")
    ] = None,
    model: AskedModel = None,
    provider: AskedProvider = None,
    label: Annotated[
        str | None, typer.Option(help="Only where people called an item so, as AMBIGUOUS; none: nobody labelled any.")
    ] = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your deployment's measurements, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.terminal.screen import ScreenColumn, cost_of, field, moment, short

    columns = (
        ScreenColumn(title="created (UTC)", of=lambda row: moment(row.get("created_at"))),
        ScreenColumn(title="id", of=field("id")),
        ScreenColumn(title="surface", of=field("surface")),
        ScreenColumn(title="state", of=field("state")),
        ScreenColumn(title="begins", of=lambda row: short(row.get("title"))),
        ScreenColumn(title="scores", of=_scores),
        ScreenColumn(title="cost", of=cost_of, right=True),
    )
    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "surface": surface,
        "metric": metric,
        "language": language,
        "model": model,
        "provider": provider,
        "label": label,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found("measurements", filters, columns, limit=limit, cursor=cursor, as_json=as_json)


@measurement.command()
def show(
    measurement_id: Annotated[str, typer.Argument(metavar="ID", help="The measurement's id.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a measurement: each metric with its score, or why there is none."""
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.screen import (
        ScreenColumn,
        cost_of,
        field,
        moment,
        print_facts,
        print_json,
        print_table,
    )

    view = fetch("measurements", measurement_id)
    if as_json:
        print_json(view)
        return
    outlay = view["outlay"]
    cost = cost_of({"cost_usd": outlay["cost_usd"], "unpriced_calls": outlay["unpriced"]})
    print_facts((name, view[name]) for name in ("id", "surface", "state"))
    print_facts([("created (UTC)", moment(view["created_at"])), ("cost", cost)])
    columns = (
        ScreenColumn(title="metric", of=field("metric")),
        ScreenColumn(title="score (0-100)", of=lambda row: _figure(row.get("score")), right=True),
        ScreenColumn(title="because", of=field("because")),
    )
    print_table(columns, view["metrics"], empty="It has no metrics.")


@experiment.command("list")
def list_experiments(
    *,
    status: Status = None,
    search: Search = None,
    since: FromDay = None,
    until: ToDay = None,
    surface: SurfaceName = None,
    variant: Annotated[str | None, typer.Option(help="Only where one of the two variants has this name.")] = None,
    verdict: Annotated[
        Literal["a_better", "b_better", "no_difference_shown", "not_compared", "mixed"] | None,
        typer.Option(help="Only those that came to this."),
    ] = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your deployment's experiments, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.terminal.screen import ScreenColumn, cost_of, field, moment

    columns = (
        ScreenColumn(title="created (UTC)", of=lambda row: moment(row.get("created_at"))),
        ScreenColumn(title="id", of=field("id")),
        ScreenColumn(title="name", of=field("name")),
        ScreenColumn(title="state", of=field("state")),
        ScreenColumn(title="came to", of=field("headline")),
        ScreenColumn(title="cost", of=cost_of, right=True),
    )
    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "surface": surface,
        "variant": variant,
        "verdict": verdict,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found("experiments", filters, columns, limit=limit, cursor=cursor, as_json=as_json)


def _scores(row: Mapping[str, Any]) -> str:
    """The scores of a measurement, each with its metric."""
    return ", ".join(f"{name} {_figure(score)}" for name, score in row.get("scores", {}).items())


def _figure(score: float | None) -> str:
    return "-" if score is None else f"{score:.1f}"
