"""Experiments: a list, and a page for each experiment with both variants side by side and the items behind a
difference.
"""

from functions.composition.intakes import of_experiments as intake
from functions.composition.stores import experiments
from functions.pages.comparison import better_of, charts_of, said_of, tables_of
from functions.pages.finding import Listing, found_at, show_found
from functions.pages.tables import Column, PageTable, Row, fact
from functions.pages.visit import Page, PageView, Visit, router, visit
from touchstone.records import ExperimentSummary
from touchstone.records.experiments import ExperimentQuery
from touchstone.surfaces.experiments.record import ExperimentView
from touchstone.surfaces.experiments.report.sentences import grounds, noted, notes

COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="name", to="address"),
    Column(name="surface", shown="word", words="surface"),
    Column(name="state", shown="word", words="state"),
    Column(name="declared", shown="word", words="declared"),
    Column(name="pairs", shown="number", to="address"),
    Column(name="a", to="of_a", detail=True),
    Column(name="b", to="of_b", detail=True),
    Column(name="headline", detail=True),
    Column(name="cost_usd", shown="usd", to="address", detail=True),
    Column(name="unpriced_calls", shown="number", hidden=True),
    Column(name="finished_at", shown="moment", detail=True),
    Column(name="id", shown="code", to="address", detail=True),
)


@router.get("/app/experiments")
def list_experiments() -> Page:
    """The tenant's experiments that the filters mean, newest first, and their conclusions."""
    return show_found(visit(), LISTING, experiments())


@router.get("/app/experiments/<experiment_id>")
def read_experiment(experiment_id: str) -> Page:
    """One experiment: its result in each respect, how sure the result is, the items behind it, and the cost."""
    this_visit = visit()
    found = intake(this_visit.tenant).view(experiment_id)
    conclusion = found.conclusion
    asked = found.done > 0 and found.estimate is not None and found.estimate.calls[1] > 0
    trace = this_visit.trace_at(found.id, asked=asked)
    return this_visit.show(
        PageView(
            title="experiment.title",
            about=found.name or found.id,
            template="experiment.html",
            tables=() if conclusion is None else tables_of(conclusion, pairs=f"{found.id}/pairs", trace=trace),
            facts=(_fact(found),),
            charts=() if conclusion is None else charts_of(this_visit.words, conclusion),
            given={
                "experiment": found,
                "better": () if conclusion is None else better_of(this_visit.words, conclusion),
                "grounds": () if conclusion is None else said_of(this_visit.words, grounds(conclusion)),
                "notes": () if conclusion is None else said_of(this_visit.words, noted(conclusion)),
                "traced": trace is not None,
            },
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


def _row(this_visit: Visit, summary: ExperimentSummary) -> Row:
    variants = {name: getattr(summary, name) for name in ("a", "b")}
    told = None if summary.verdict is None else this_visit.words(f"experiment.outcome.{summary.verdict}", **variants)
    return {
        **summary.model_dump(),
        "headline": told if this_visit.format == "html" and this_visit.language != "en" else summary.headline,
        "declared": summary.verdict,
        "address": f"experiments/{summary.id}",
        **{f"of_{name}": found_at("experiments", {"variant": variant}) for name, variant in variants.items()},
    }


LISTING = Listing(
    name="experiments",
    query=ExperimentQuery,
    columns=COLUMNS,
    row=_row,
    words={"status": "state", "verdict": "declared"},
)
