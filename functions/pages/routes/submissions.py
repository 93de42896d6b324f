"""A submission: its scores, and its gate check criterion by criterion, to be labelled once the task is decided.

A page shows what the task's owner may read at this moment, through the same views as the API. While a contest is open,
it shows nothing that others handed in, and no score.
"""

from dataclasses import dataclass

from functions.composition.intakes import reader_of_owner
from functions.composition.labels import labels
from functions.pages.contest import (
    OUTCOME,
    SUBMISSIONS,
    criteria_of,
    dimension_names,
    hints_of,
    outcome_of,
    penalties_of,
    score_votes_of,
    scores_of,
    submission_row,
    votes_of,
)
from functions.pages.finding import Listing, found_at, show_found
from functions.pages.labelling import cards_of, keep_label
from functions.pages.tables import PageTable, Row, fact
from functions.pages.visit import Page, PageView, Visit, form, redirect, router, visit
from touchstone.judges.spends import BY_CHECKS
from touchstone.operations.tasks.reading import PartyReader, SubmissionQuery
from touchstone.oracle.feedback import SubmissionView
from touchstone.oracle.labelling import CLASSES, KIND, card_key
from touchstone.oracle.task import DECIDED
from touchstone.records.looking import FoundPage
from touchstone.references import submission_name
from touchstone.statistics.card_views import card_id

MOST_SHOWN_CHARS = 100_000
"""The most characters shown of a submission's text: as much as anybody reads on a page."""


@dataclass(frozen=True, slots=True)
class TaskSubmissions:
    """The submissions to a task, as the task's owner may see them."""

    here: PartyReader
    task_id: str

    def page(
        self,
        *,
        tenant: str,  # noqa: ARG002 - the reader knows the tenant
        limit: int,
        cursor: str | None,
        query: SubmissionQuery,
        most: int,
    ) -> FoundPage[SubmissionView]:
        """A page of the submissions that the query means."""
        return self.here.submitted(self.task_id, limit=limit, cursor=cursor, query=query, most=most)


def _row(_visit: Visit, one: SubmissionView) -> Row:
    of_submitter = found_at("submissions", {"submitter": one.submitter})
    return {**submission_row(one), "address": f"submissions/{one.id}", "of_submitter": of_submitter}


LISTING = Listing(
    name="submissions",
    query=SubmissionQuery,
    columns=SUBMISSIONS,
    row=_row,
    words={"status": "standing", "label": "class"},
)


@router.get("/app/tasks/<task_id>/submissions")
def list_submissions(task_id: str) -> Page:
    """A task's submissions that the filters mean, as the task's owner may see them."""
    this_visit = visit()
    here = reader_of_owner(this_visit.tenant, task_id)
    return show_found(this_visit, LISTING, TaskSubmissions(here, task_id))


@router.get("/app/tasks/<task_id>/submissions/<submission_id>")
def read_submission(task_id: str, submission_id: str) -> Page:
    """One submission: its standing, its gate check's verdict on each criterion, and people's labels of the verdicts."""
    this_visit = visit()
    here = reader_of_owner(this_visit.tenant, task_id)
    task, submission = here.task(task_id), here.submission(task_id, submission_id)
    decided = task.state in DECIDED
    record = submission_name(task_id, submission_id)
    said = labels().of_record(tenant=this_visit.tenant, kind=KIND, record_id=record) if decided else {}
    whole = here.text(task_id, submission_id)
    text = None if whole is None else (whole[:MOST_SHOWN_CHARS], len(whole))
    given = {
        "task": task,
        "submission": submission,
        "text": text,
        "outcome": {**outcome_of(submission), **dimension_names(task)},
        "outcome_columns": OUTCOME,
        "classes": CLASSES,
        "card": _card(submission),
        "cards": {number: cards_of(label) for number, label in said.items()},
        "decided": decided,
        "may_label": this_visit.may("member"),
        "traced": bool(submission.tokens) and task.closed_at is not None and this_visit.may("admin"),
    }
    tables = (
        criteria_of(submission, said),
        scores_of(task, (submission,), alone=True),
        penalties_of(task, (submission,), alone=True),
        hints_of(submission),
        votes_of(submission),
        score_votes_of(task, (submission,)),
    )
    facts = (_fact(submission, text),)
    return this_visit.show(
        PageView(
            title="submission.title",
            about=submission.submitter,
            template="submission.html",
            tables=tables,
            facts=facts,
            given=given,
        )
    )


@router.post("/app/tasks/<task_id>/submissions/<submission_id>/label")
def label_criterion(task_id: str, submission_id: str) -> Page:
    """Label a criterion as met or missed, or take the label back. The card of the judge changes at once."""
    this_visit = visit(at_least="member")
    fields = form(this_visit.form_mark)
    item = fields.get("item", "")
    keep_label(this_visit, fields, kind=KIND, record_id=submission_name(task_id, submission_id), item=item)
    return redirect(f"../{submission_id}#criterion-{item}")


def _fact(submission: SubmissionView, text: tuple[str, int] | None) -> PageTable:
    """The values that the page shows outside its tables. `text` is the beginning of the work and its whole length."""
    shown = {
        "id",
        "task_id",
        "submitter",
        "submitted_at",
        "revision",
        "standing",
        "unscored",
        "tokens",
        "cost_usd",
        "unpriced_calls",
    }
    judge = submission.gate.judge if submission.gate else None
    row = {
        **submission.model_dump(include=shown),
        **outcome_of(submission),
        "because": "\n".join(submission.because) or None,
        "text": text and text[0],
        "characters": text and text[1],
        "gate_checked_by": judge and judge.model,
    }
    return fact("submission", row)


def _card(submission: SubmissionView) -> tuple[str, str] | None:
    """The model and the card's id of the judge of the gate check; None if there was none, or it was not stored."""
    judge = submission.gate.judge if submission.gate else None
    return None if judge is None or judge == BY_CHECKS else (judge.model, card_id(card_key(judge)))
