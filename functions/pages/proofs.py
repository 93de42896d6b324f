"""The results of an audit, as the tables of its page. Of a long text only the beginning is shown, with a mark."""

from collections.abc import Iterator, Sequence
from functools import partial
from urllib.parse import urlencode

from functions.pages.tables import Column, PageTable, Row, cut, row_of
from touchstone.audits.drift import Drift
from touchstone.audits.record import AuditView
from touchstone.audits.report import AuditedCase, StoredProof

QUESTION_CHARS, OPTION_CHARS, CRITIQUE_CHARS, SCRIPT_CHARS, OUTPUT_CHARS = 4_000, 1_000, 4_000, 4_000, 1_000
"""The most characters shown of each text, so that a page of cases stays below the limit of a function's reply, 6 MB."""
_cut = partial(cut, mark="\n[…]")


def totals_of(audit: AuditView) -> PageTable:
    """How many cases have each rating. Ratings that need a maintainer come first."""
    totals = audit.totals or {}
    cases = sum(totals.values())
    rows: list[Row] = [
        {
            "rating": rating,
            "cases": number,
            "share": number / cases if cases else None,
            "meaning": rating,
            "found": f"?{urlencode({'rating': rating})}" if number else None,
        }
        for rating, number in totals.items()
    ]
    columns = (
        Column(name="rating", shown="word", words="rating"),
        Column(name="cases", shown="number", to="found"),
        Column(name="share", shown="share", to="found"),
        Column(name="meaning", shown="word", words="rating_means"),
    )
    return PageTable(name="ratings", columns=columns, rows=rows)


def drifts_of(drifts: Sequence[Drift]) -> PageTable:
    """Every option whose result differs from the audit before. Each row leads to the option's case."""
    columns = (
        Column(name="case", to="address"),
        Column(name="option", of=lambda option: option.label, shown="code"),
        Column(name="stood", of=lambda option: option.before, shown="word", words="proved"),
        Column(name="stands", of=lambda option: option.now, shown="word", words="proved"),
        Column(name="rating_before", shown="word", words="rating"),
        Column(name="rating_now", shown="word", words="rating"),
        Column(name="reason", shown="kept", detail=True),
    )
    rows = [
        row_of(
            columns,
            option,
            case=drift.id,
            rating_before=drift.rating_before,
            rating_now=drift.rating_now,
            address="?" + urlencode({"case": drift.id}),
        )
        for drift in drifts
        for option in drift.options
    ]
    return PageTable(name="drifts", columns=columns, rows=rows)


def cases_of(cases: Sequence[AuditedCase], cursor: str | None) -> PageTable:
    """The cases of this page, and what to change in each. `cursor` leads to the next cases; None at the end."""
    columns = (
        Column(name="case", of=lambda one: one.case.id),
        Column(name="rating", of=lambda one: one.quality_rating, shown="word", words="rating"),
        Column(name="key", of=lambda one: one.case.ground_truth, shown="code"),
        Column(name="selected", of=lambda one: one.selected_answer, shown="code"),
        Column(name="question", of=lambda one: _cut(one.case.question, QUESTION_CHARS)),
        Column(name="change", of=lambda one: one.change or None),
        Column(name="missing", of=lambda one: " ".join(one.missing) or None),
        Column(name="critique", of=lambda one: None if one.critique is None else _cut(one.critique, CRITIQUE_CHARS)),
        Column(name="stopped"),
        Column(name="defined_in", of=lambda one: one.source and f"{one.source.file}:{one.source.line}"),
    )
    return PageTable(name="cases", columns=columns, rows=[row_of(columns, one) for one in cases], next=cursor)


def options_of(cases: Sequence[AuditedCase]) -> PageTable:
    """Every option of these cases: its result, the script that decided it, and the script's output."""
    rows = [row for one in cases for row in _options(one)]
    columns = (
        Column(name="case"),
        Column(name="option", shown="code"),
        Column(name="text", shown="sent"),
        Column(name="is_key", shown="word", words="passed"),
        Column(name="stands", shown="word", words="proved"),
        Column(name="outcome", shown="word", words="outcome"),
        Column(name="reason"),
        *(Column(name=name, shown="sent") for name in ("script", "printed", "printed_to_error", "exception")),
    )
    return PageTable(name="options", columns=columns, rows=rows)


def _options(one: AuditedCase) -> Iterator[Row]:
    proofs = {proof.label: proof for proof in one.proofs}
    texts = {option.label: option.text for option in one.case.options}
    for option in one.options:
        yield {
            "case": one.case.id,
            "option": option.label,
            "text": _cut(texts[option.label], OPTION_CHARS),
            "is_key": option.label == one.case.ground_truth,
            "stands": option.standing,
            "outcome": option.outcome,
            **_proof(proofs.get(option.label)),
        }


def _proof(proof: StoredProof | None) -> Row:
    """The script that decided an option, with its output; empty if the option's result follows from other options."""
    if proof is None:
        return {}
    return {
        "reason": proof.reason,
        "script": _cut(proof.script, SCRIPT_CHARS),
        "printed": _cut(proof.stdout, OUTPUT_CHARS) or None,
        "printed_to_error": _cut(proof.stderr, OUTPUT_CHARS) or None,
        "exception": None if proof.exception is None else _cut(proof.exception, OUTPUT_CHARS),
    }
