"""Experiments: a list, and a page for each with both variants side by side and the items behind a difference."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.intakes import of_experiments as intake
from functions.composition.stores import experiments
from functions.pages.comparison import charts_of, tables_of
from functions.pages.tables import Column, PageTable, Row, fact
from functions.pages.visit import PageView, visit
from touchstone.records import ExperimentSummary
from touchstone.surfaces.experiments.record import ExperimentView
from touchstone.surfaces.experiments.report.sentences import notes

router = Router()

ROWS = 50


@router.get("/app/experiments")
def list_experiments() -> Response[str]:
    """The tenant's experiments, newest first, and what they came to."""
    met = visit(router)
    page = experiments().page(tenant=met.tenant, limit=ROWS, cursor=met.query.get("cursor"))
    columns = (
        Column(name="created_at", shown="moment", to="address"),
        Column(name="name", to="address"),
        Column(name="surface", shown="word", words="surface"),
        Column(name="a"),
        Column(name="b"),
        Column(name="pairs", shown="number"),
        Column(name="state", shown="word", words="state"),
        Column(name="declared", shown="word", words="declared"),
        Column(name="finished_at", shown="moment"),
        Column(name="id", shown="code", to="address"),
    )
    table = PageTable(name="experiments", columns=columns, rows=[_row(one) for one in page.items], next=page.cursor)
    return met.show(PageView(title="experiments.title", tables=(table,)))


@router.get("/app/experiments/<experiment_id>")
def read_experiment(experiment_id: str) -> Response[str]:
    """One experiment: what it came to in each respect, how sure that is, what stands behind it, and what it cost."""
    met = visit(router)
    found = intake(met.tenant).view(experiment_id)
    conclusion = found.conclusion
    return met.show(
        PageView(
            title="experiment.title",
            template="experiment.html",
            tables=() if conclusion is None else tables_of(conclusion),
            facts=(_fact(found),),
            charts=() if conclusion is None else charts_of(met.words, conclusion),
            given={"experiment": found, "notes": () if conclusion is None else notes(conclusion)},
        )
    )


def _fact(found: ExperimentView) -> PageTable:
    shown = {"id", "name", "state", "because", "failure", "surface", "a", "b", "pairs", "done", "verdict", "headline"}
    said = "" if found.conclusion is None else "\n".join(notes(found.conclusion))
    return fact(
        "experiment",
        {
            **found.model_dump(include=shown | {"cost_usd", "unpriced_calls", "created_at", "finished_at"}),
            "notes": said or None,
        },
    )


def _row(summary: ExperimentSummary) -> Row:
    return {**summary.model_dump(), "declared": summary.verdict, "address": f"experiments/{summary.id}"}
