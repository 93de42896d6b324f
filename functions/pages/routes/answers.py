"""Answers: a list with badges and filters, and a page for each that shows how it was decided, attempt by attempt."""

from collections.abc import Mapping
from typing import Any, get_args

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.labels import labels
from functions.composition.stores import answers
from functions.pages.calls import calls_of
from functions.pages.labelling import keep_label
from functions.pages.tables import COST, Column, Row, Table, fact
from functions.pages.visit import View, form, redirect, visit
from touchstone.answers.labelling import KIND
from touchstone.answers.model import AnswerRecord, Status
from touchstone.answers.view import AnswerView
from touchstone.errors import InputError
from touchstone.records import AnswerSummary
from touchstone.records.labels import Label
from touchstone.references import Reference
from touchstone.statistics.card_views import card_id

router = Router()

ROWS = 50
STATUSES: tuple[Status, ...] = get_args(Status.__value__)
COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="verification_status", shown="badge"),
    Column(name="problem", to="address"),
    Column(name="answer"),
    Column(name="verification_confidence", shown="decimal"),
    Column(name="subject"),
    Column(name="difficulty", shown="word", words="difficulty"),
    Column(name="model", shown="code"),
    Column(name="attempt_count", shown="number"),
    Column(name="evaluation", shown="word", words="evaluation"),
    Column(name="overall", shown="decimal"),
    *COST,
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
    record = answers().get(Reference(met.tenant, "answer", answer_id))
    said = labels().of_record(tenant=met.tenant, kind=KIND, record_id=answer_id)
    answer = AnswerView.of(record)
    given = {
        "answer": answer,
        "tolerance": _tolerance(answer),
        "best": record.best_attempt,
        "labels": said,
        "cards": {item: card_id(label.judge) for item, label in said.items() if label.judge},
        "may_label": met.may("member"),
    }
    view = View(
        title="answer.title",
        template="answer.html",
        tables=(_attempts(record, said), calls_of(record.spends)),
        facts=_facts(answer),
        given=given,
    )
    return met.show(view)


@router.post("/app/answers/<answer_id>/label")
def label_attempt(answer_id: str) -> Response[str]:
    """Say whether an attempt was right or wrong, or take back what was said; the judge's card follows at once."""
    met = visit(router, at_least="member")
    fields = form(router, met.form_mark)
    item = fields.get("item", "")
    keep_label(met, fields, kind=KIND, record_id=answer_id, item=item)
    return redirect(f"../{answer_id}#attempt-{item}")  # there is one of this number, else it were not labelled


def _status(asked: str | None) -> Status | None:
    if asked is None:
        return None
    for status in STATUSES:
        if status == asked:
            return status
    raise InputError(f"Answers can be listed by the status {', '.join(STATUSES)}.", where="status")


def _row(summary: AnswerSummary) -> Row:
    decided = summary.verification_status != "unverified"  # nobody was sure of anything where nobody decided
    confidence = summary.verification_confidence if decided else None
    return {**summary.model_dump(), "verification_confidence": confidence, "address": f"answers/{summary.id}"}


def _facts(answer: AnswerView) -> tuple[Table, ...]:
    """What the page says outside its tables: the answer as it was given, what was added for the learner, its scores."""
    shown = {"id", "created_at", "kind", "stage", "problem", "answer", "verification_status", "verification_confidence"}
    shown |= {
        "uncertain",
        "verify_error",
        "failure",
        "retrieved_from",
        "subject",
        "difficulty",
        "cost_usd",
        "unpriced_calls",
    }
    added, deep = answer.enrichment, answer.deep_evaluation
    learner = {
        "knowledge_points": "\n".join(answer.knowledge_points if added is None else added.knowledge_points) or None,
        "hints": "\n".join(added.hints) or None if added else None,
        "related_exercise": added.related_exercise if added else None,
        "evaluation": answer.evaluation.state,
        "evaluation_failure": answer.evaluation.failure,
    }
    tolerance = _tolerance(answer)
    key = {
        "expected": "\n".join(answer.expected) or None,
        "tolerance": None if tolerance is None else f"{tolerance['kind']} {tolerance['value']}",
    }
    found = [fact("answer", {**answer.model_dump(include=shown), **key, **learner})]
    if deep is not None:
        said = "\n".join(deep.improvement_suggestions) or None
        kept = deep.model_dump(exclude={"improvement_suggestions"})
        found.append(fact("deep_evaluation", {**kept, "improvement_suggestions": said}))
    return tuple(found)


def _tolerance(answer: AnswerView) -> dict[str, Any] | None:
    """The tolerance of the answer key by its kind and number; None without one."""
    told = {} if answer.tolerance is None else answer.tolerance.model_dump(exclude_none=True)
    return next(({"kind": kind, "value": value} for kind, value in told.items()), None)


def _attempts(record: AnswerRecord, labels: Mapping[str, Label]) -> Table:
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
            "steps": attempt.solution.steps,
            "derivation": "\n".join(attempt.verification.derivation) or None if attempt.verification else None,
            "label": said.label if (said := labels.get(str(attempt.number))) else None,
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
        *(Column(name=name, shown="sent") for name in ("steps", "derivation")),
        Column(name="label", shown="word", words="class"),
    )
    return Table(name="attempts", columns=columns, rows=rows)
