"""Tasks: a list, and a page for each task with its dimensions and, once it is decided, the ranking and its reasons.

A page shows what the task's owner may read at this moment, through the same views as the API. Before the task is
closed, it shows nothing that was handed in, and no score of a contest.
"""

from collections.abc import Sequence

from functions.composition.intakes import reader_of_owner
from functions.composition.stores import tasks
from functions.pages.contest import (
    challenges_of,
    dimensions_of,
    gate_failures_of,
    penalties_of,
    ranking_of,
    scores_of,
    submissions_of,
)
from functions.pages.finding import Listing, found_at, show_found
from functions.pages.tables import COST, Column, PageTable, Row, fact
from functions.pages.visit import Page, PageView, Visit, router, visit
from touchstone.operations.tasks.reading import PartyReader
from touchstone.oracle.feedback import SubmissionView
from touchstone.oracle.ranking import FINALISTS
from touchstone.oracle.view import TaskView
from touchstone.records import TaskSummary
from touchstone.records.tasks import TaskQuery

ROWS = 50


COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="description", to="address"),
    Column(name="owner", to="of_owner"),
    Column(name="state", shown="word", words="state"),
    Column(name="deadline", shown="moment"),
    *COST,
    Column(name="path", shown="word", words="path", detail=True),
    Column(name="winner", shown="code", to="of_winner", detail=True),
    Column(name="closed_at", shown="moment", detail=True),
    Column(name="id", shown="code", to="address", detail=True),
)


@router.get("/app/tasks")
def list_tasks() -> Page:
    """The tenant's tasks that the filters mean, newest first."""
    return show_found(visit(), LISTING, tasks())


@router.get("/app/tasks/<task_id>")
def read_task(task_id: str) -> Page:
    """One task: what it asks for, its dimensions, and the part of its results that its owner may read."""
    this_visit = visit()
    here = reader_of_owner(this_visit.tenant, task_id)
    task = here.task(task_id)
    page = here.submitted(task_id, limit=ROWS, cursor=this_visit.query.get("cursor"))
    first = _first(here, task, page.items)
    known = {one.id: one for one in (*page.items, *first)}
    return this_visit.show(
        PageView(
            title="task.title",
            about=task.brief.description,
            template="task.html",
            tables=(
                dimensions_of(task),
                ranking_of(task, known),
                scores_of(task, first),
                penalties_of(task, tuple(known.values())),
                gate_failures_of(page.items),
                challenges_of(here.challenged(task_id)),
                submissions_of(task, page.items, page.cursor),
            ),
            facts=(_fact(task),),
            given={
                "task": task,
                "winner": known.get(task.winner or ""),
                "traced": bool(task.tokens) and this_visit.may("admin"),
            },
        )
    )


def _fact(task: TaskView) -> PageTable:
    shown = {"id", "state", "path", "owner", "deadline", "closed_at", "challenge_until", "final_at", "winner"}
    return fact(
        "task",
        {
            **task.model_dump(include=shown | {"undecided_challenges", "failure", "cost_usd", "unpriced_calls"}),
            "description": task.brief.description,
            "acceptance_criteria": "\n".join(task.brief.acceptance_criteria),
        },
    )


def _row(_visit: Visit, summary: TaskSummary) -> Row:
    address = f"tasks/{summary.id}"
    return {
        **summary.model_dump(),
        "address": address,
        "of_owner": found_at("tasks", {"owner": summary.owner}),
        "of_winner": f"{address}/submissions/{summary.winner}",
    }


LISTING = Listing(
    name="tasks", query=TaskQuery, columns=COLUMNS, row=_row, words={"status": "state", "winner": "yes_no"}
)


def _first(here: PartyReader, task: TaskView, shown: Sequence[SubmissionView]) -> tuple[SubmissionView, ...]:
    """The submissions at the first places, or the winner of a race. Those that are not in `shown` are read."""
    places = [place.submission_id for place in (task.ranking or ())[:FINALISTS]]
    wanted = places or ([] if task.winner is None else [task.winner])
    known = {one.id: one for one in shown}
    return tuple(known.get(one) or here.submission(task.id, one) for one in wanted)
