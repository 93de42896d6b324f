"""Traces: the questions to judges for a record, with the graded text marked, and their replies exactly as they came."""

import json
from functools import partial
from typing import Any

from functions.composition.tracing import trace_of
from functions.pages.tables import Column, PageTable
from functions.pages.visit import Page, PageView, router, visit
from functions.pages.words import PageTexts
from touchstone.judges.tracing import TracedCall

COLUMNS = (
    Column(name="asked_at", shown="moment", to="address"),
    Column(name="prompt_name", shown="code", to="address"),
    Column(name="model", shown="code"),
    Column(name="tries", shown="number", to="address"),
    Column(name="cost_usd", shown="usd", unpriced="unpriced", to="address"),
    Column(name="failure", shown="word", words="skip"),
    Column(name="provider", shown="code", detail=True),
    Column(name="input_tokens", shown="number", detail=True),
    Column(name="output_tokens", shown="number", detail=True),
    Column(name="latency_ms", shown="number", detail=True),
    Column(name="cached", shown="word", words="passed", detail=True),
)


@router.get("/app/traces/<record_id>")
def read_trace(record_id: str) -> Page:
    """Every question to a judge for a record, call by call; only for the role admin."""
    this_visit = visit(at_least="admin")
    trace = trace_of(this_visit.tenant, record_id, this_visit.query.get("cursor"))
    rows = [{**_row(call), "address": f"#call-{number}"} for number, call in enumerate(trace.calls, start=1)]
    table = PageTable(name="trace", columns=COLUMNS, rows=rows, next=trace.cursor)
    given = {"record_id": record_id, "calls": trace.calls, "as_json": _as_json, "cut": partial(_cut, this_visit.words)}
    return this_visit.show(
        PageView(title="trace.title", about=record_id, template="trace.html", tables=(table,), given=given)
    )


def _row(call: TracedCall) -> dict[str, Any]:
    kept = call.model_dump(include={column.name for column in COLUMNS} - {"tries"})
    return {**kept, "tries": len(call.tries), "unpriced": int(call.cost_usd is None and not call.failure)}


def _cut(words: PageTexts, call: TracedCall) -> str:
    """The texts of a call that are not whole, as a reader calls them."""
    return ("、" if words.language == "zh" else ", ").join(map(partial(_named, words), call.cut))


def _named(words: PageTexts, text: str) -> str:
    _, tried, rest = text.partition("tries.")
    number = rest.partition(".")[0]
    if tried and number.isdecimal():
        return words("trace.part.reply", number=int(number) + 1)
    return words.known("trace.part", text)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
