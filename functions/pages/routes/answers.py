"""Answers: a list with badges and filters, and a page for each that shows how it was decided, attempt by attempt."""

from typing import get_args

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.access import ALLOWED
from functions.composition.labels import labelling, labels
from functions.composition.stores import answers
from functions.pages.calls import calls_of
from functions.pages.tables import Column, Row, Table
from functions.pages.visit import View, form, redirect, visit
from touchstone.answers.labelling import KIND
from touchstone.answers.model import AnswerRecord, Status
from touchstone.answers.view import AnswerView
from touchstone.errors import InputError
from touchstone.records import AnswerSummary

router = Router()

ROWS = 50
STATUSES: tuple[Status, ...] = get_args(Status.__value__)
COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="problem", to="address"),
    Column(name="answer"),
    Column(name="verification_status", shown="badge"),
    Column(name="verification_confidence", shown="decimal"),
    Column(name="subject"),
    Column(name="difficulty", shown="word", words="difficulty"),
    Column(name="model", shown="code"),
    Column(name="attempt_count", shown="number"),
    Column(name="evaluation", shown="word", words="evaluation"),
    Column(name="overall", shown="decimal"),
    Column(name="cost_usd", shown="usd"),
    Column(name="id", shown="code", to="address"),
)


@router.get("/app/answers")
def list_answers() -> Response[str]:
    """The tenant's answers, newest first, those of one status only where one is chosen."""
    met = visit(router)
    status = _status(met.query.get("status") or None)
    page = answers().page(tenant=met.tenant, limit=ROWS, cursor=met.query.get("cursor"), status=status)
    table = Table(name="answers", columns=COLUMNS, rows=[_row(each) for each in page.items], next=page.cursor)
    given = {"statuses": STATUSES, "status": status}
    return met.show(View(title="answers.title", template="answers.html", tables=(table,), given=given))


@router.get("/app/answers/<answer_id>")
def read_answer(answer_id: str) -> Response[str]:
    """One answer: the verdict, how each attempt was decided, what judges were asked and what that cost."""
    met = visit(router)
    record = answers().get(tenant=met.tenant, answer_id=answer_id)
    said = labels().of_record(tenant=met.tenant, kind=KIND, record_id=answer_id)
    may_label = met.session is not None and met.session.identity.role in ALLOWED["member"]
    given = {
        "answer": AnswerView.of(record),
        "best": record.best_attempt,
        "labels": said,
        "may_label": may_label,
    }
    tables = (_attempts(record), calls_of(record.spends))
    return met.show(View(title="answer.title", template="answer.html", tables=tables, given=given))


@router.post("/app/answers/<answer_id>/label")
def label_attempt(answer_id: str) -> Response[str]:
    """Say whether an attempt was right or wrong, or take back what was said; the judge's card follows at once."""
    met = visit(router, at_least="member")
    fields = form(router, met.form_mark)
    item, label = fields.get("item", ""), fields.get("label", "")
    found = labelling(met.tenant)
    if label:
        found.label(kind=KIND, record_id=answer_id, item=item, label=label, by=met.token_id)
    else:
        found.remove(kind=KIND, record_id=answer_id, item=item)
    return redirect(f"../{answer_id}")


def _status(asked: str | None) -> Status | None:
    if asked is None:
        return None
    for status in STATUSES:
        if status == asked:
            return status
    raise InputError(f"Answers can be listed by the status {', '.join(STATUSES)}.", where="status")


def _row(summary: AnswerSummary) -> Row:
    return {**summary.model_dump(), "address": f"answers/{summary.id}"}


def _attempts(record: AnswerRecord) -> Table:
    rows = [
        {
            "number": attempt.number,
            "answer": attempt.solution.answer,
            "model": attempt.solution.model,
            "passed": None if attempt.verification is None else attempt.verification.passed,
            "confidence": None if attempt.verification is None else attempt.verification.confidence,
            "method": None if attempt.verification is None else attempt.verification.method,
            "independent_answer": None if attempt.verification is None else attempt.verification.independent_answer,
            "error": None if attempt.verification is None else attempt.verification.error,
        }
        for attempt in record.attempts
    ]
    columns = (
        Column(name="number", shown="number"),
        Column(name="answer"),
        Column(name="model", shown="code"),
        Column(name="passed", shown="word", words="passed"),
        Column(name="confidence", shown="decimal"),
        Column(name="method", shown="word", words="method"),
        Column(name="independent_answer"),
        Column(name="error"),
    )
    return Table(name="attempts", columns=columns, rows=rows)
