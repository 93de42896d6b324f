"""Answers: a list with badges and filters, and a page for each answer that shows how each attempt was decided."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from functions.composition.labels import labels
from functions.composition.stores import answers
from functions.pages.finding import Listing, found_at, show_found
from functions.pages.labelling import cards_of, keep_label, names_for
from functions.pages.tables import COST, UNIT, Column, PageTable, Row, calls_of, fact, row_of
from functions.pages.visit import Page, PageView, Visit, form, redirect, router, visit
from touchstone.answers.labelling import KIND
from touchstone.answers.model import AnswerRecord, Verification
from touchstone.answers.view import AnswerView
from touchstone.records import AnswerSummary
from touchstone.records.answer_lists import AnswerQuery
from touchstone.records.labels import Label
from touchstone.references import Reference

COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="verification_status", hidden=True),
    Column(name="status", shown="badge"),
    Column(name="problem", to="address"),
    Column(name="answer"),
    Column(name="method", shown="word", words="method"),
    *COST,
    *(
        replace(each, detail=True)
        for each in (
            Column(name="verification_confidence", shown="mark"),
            Column(name="reason", shown="word", words="skip"),
            Column(name="error", shown="kept"),
            Column(name="subject"),
            Column(name="difficulty", shown="word", words="difficulty"),
            Column(name="language", shown="word", words="language"),
            Column(name="model", shown="code"),
            Column(name="provider", shown="word", words="provider"),
            Column(name="attempt_count", shown="number", to="address"),
            Column(name="evaluation", shown="word", words="evaluation"),
            Column(name="overall", shown="decimal", scale=UNIT, to="address"),
            Column(name="batch_id", shown="code", to="of_batch"),
            Column(name="id", shown="code", to="address"),
        )
    ),
)

SENT = frozenset({"day_quota", "minute_quota", "overloaded", "refused", "timed_out", "unreadable"})
"""Why there is no verdict or no evaluation although a call was sent."""


@router.get("/app/answers")
def list_answers() -> Page:
    """The tenant's answers that the filters mean, newest first."""
    return show_found(visit(), LISTING, answers())


@router.get("/app/answers/<answer_id>")
def read_answer(answer_id: str) -> Page:
    """One answer: the verdict, how each attempt was decided, the calls to judges and their cost."""
    this_visit = visit()
    record = answers().get(Reference(this_visit.tenant, "answer", answer_id))
    said = labels().of_record(tenant=this_visit.tenant, kind=KIND, record_id=answer_id)
    return this_visit.show(answer_page(this_visit, record, said))


def answer_page(this_visit: Visit, record: AnswerRecord, said: Mapping[str, Label]) -> PageView:
    """The page of an answer with people's labels of its attempts, `said`, as this visitor may see it."""
    answer = AnswerView.of(record)
    trace = this_visit.trace_at(record.id, asked=_was_asked(record))
    given = {
        "answer": answer,
        "tolerance": _tolerance(answer),
        "best": record.best_attempt,
        "labels": said,
        "names": names_for(this_visit, {word.by for label in said.values() for word in label.words}),
        "cards": {item: cards_of(label) for item, label in said.items()},
        "together": {attempt.number: _together(attempt.verification) for attempt in record.attempts},
        "may_label": this_visit.may("member"),
        "traced": trace is not None,
    }
    return PageView(
        title="answer.title",
        about=record.problem or record.id,
        template="answer.html",
        tables=(_attempts(record, said), *_votes(record), calls_of(record.spends, trace)),
        facts=_facts(answer),
        given=given,
    )


@router.post("/app/answers/<answer_id>/label")
def label_attempt(answer_id: str) -> Page:
    """Label an attempt right or wrong, or take the label back. The judge's card changes at once."""
    this_visit = visit(at_least="member")
    fields = form(this_visit.form_mark)
    item = fields.get("item", "")
    keep_label(this_visit, fields, kind=KIND, record_id=answer_id, item=item)
    return redirect(f"../{answer_id}#attempt-{item}")  # the attempt exists, as an unknown item is not labelled


def _was_asked(record: AnswerRecord) -> bool:
    """Whether a question about an answer was sent to a judge, also if no call was paid for."""
    found = (attempt.verification for attempt in record.attempts)
    reasons = {record.failure_reason, record.evaluation.failure, *(each.skip_reason for each in found if each)}
    return bool(record.spends) or not SENT.isdisjoint(reasons)


def _row(_visit: Visit, summary: AnswerSummary) -> Row:
    decided = summary.verification_status != "unverified"  # if nobody decided, nobody was sure of a verdict
    confidence = summary.verification_confidence if decided else None
    made = [each for each in summary.attempts if each.model == summary.model]
    shown = made[-1] if made else None  # summaries that an earlier release stored have no attempts
    return {
        **summary.model_dump(exclude={"attempts"}),
        "status": summary.verification_status or ("failed" if summary.stage == "failed" else "unfinished"),
        "verification_confidence": confidence,
        "method": None if shown is None else shown.method,
        "provider": None if shown is None else shown.provider,
        "reason": None if shown is None else shown.skip_reason,
        "address": f"answers/{summary.id}",
        "of_batch": found_at("answers", {"batch": summary.batch_id}),
    }


LISTING = Listing(
    name="answers",
    query=AnswerQuery,
    columns=COLUMNS,
    row=_row,
    words={"decided_by": "method", "skip_reason": "skip", "label": "said"},
)


def _facts(answer: AnswerView) -> tuple[PageTable, ...]:
    """The values that the page shows outside its tables: the answer, the additions for the learner, and the scores."""
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
    """The `kind` and `value` of the answer key's tolerance; None if there is no tolerance."""
    told = {} if answer.tolerance is None else answer.tolerance.model_dump(exclude_none=True)
    return next(({"kind": kind, "value": value} for kind, value in told.items()), None)


def _together(found: Verification | None) -> dict[str, int] | None:
    """How many of the wanted judges agree with the verdict that they gave together; None if one judge decided."""
    if found is None or found.passed is None or found.model is not None or not found.votes:
        return None
    agreeing = sum(vote.passed is found.passed for vote in found.counted)
    return {"agreeing": agreeing, "asked": len(found.votes)}


def _votes(record: AnswerRecord) -> tuple[PageTable, ...]:
    """The verdict of each of several judges on each attempt; no table if one judge was wanted."""
    rows = [
        {"number": attempt.number, **vote.model_dump(exclude={"contradicted", "sure_from"})}
        for attempt in record.attempts
        if attempt.verification is not None
        for vote in attempt.verification.votes
    ]
    if record.judges == 1:
        return ()
    columns = (
        Column(name="number", shown="number"),
        Column(name="model", shown="code"),
        Column(name="passed", shown="word", words="passed"),
        Column(name="confidence", shown="mark"),
        Column(name="skip_reason", shown="word", words="skip"),
        Column(name="independent_answer"),
        Column(name="provider", detail=True),
        Column(name="error", shown="kept", detail=True),
        Column(name="prompt_version", shown="code", hidden=True),
    )
    return (PageTable(name="votes", columns=columns, rows=rows),)


def _verified(name: str) -> Callable[[Any], Any]:
    """What the verification of an attempt says; None if there is none."""
    return lambda attempt: None if attempt.verification is None else getattr(attempt.verification, name)


def _attempts(record: AnswerRecord, labels: Mapping[str, Label]) -> PageTable:
    columns = (
        Column(name="number", shown="number"),
        Column(name="answer", of=lambda attempt: attempt.solution.answer),
        Column(name="model", of=lambda attempt: attempt.solution.model, shown="code"),
        Column(name="passed", of=_verified("passed"), shown="word", words="passed"),
        Column(name="confidence", of=_verified("confidence"), shown="mark"),
        Column(name="method", of=_verified("method"), shown="word", words="method"),
        Column(name="independent_answer", of=_verified("independent_answer")),
        Column(name="error", of=_verified("error")),
        *(Column(name=name, shown="sent") for name in ("steps", "derivation")),
        Column(name="label", shown="word", words="class"),
    )
    rows = [
        row_of(
            columns,
            attempt,
            steps=attempt.solution.steps,
            derivation="\n".join(attempt.verification.derivation) or None if attempt.verification else None,
            label=said.label if (said := labels.get(str(attempt.number))) else None,
        )
        for attempt in record.attempts
    ]
    return PageTable(name="attempts", columns=columns, rows=rows)
