"""The outcome of an audit: how the command shows it, its form for CI tools, and its exit code."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from touchstone.audits.drift import Drift
from touchstone.audits.recheck import Recheck
from touchstone.audits.report import AuditedCase, QualityReport
from touchstone.audits.report.model import RATINGS
from touchstone.audits.verdict import Rating
from touchstone.cli.screens.audit_views import Failing, change, drift_fails
from touchstone.cli.screens.junit import Case, CaseOutcome, Suite
from touchstone.cli.screens.sarif import SarifResult, SarifRun, Spot
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import say
from touchstone.cli.terminal.tables import column, print_facts, print_table
from touchstone.cli.terminal.words import short
from touchstone.usage import dollars

ASKED: Mapping[str, str] = {
    "incorrect": "The key of a case is not refuted by what the library does.",
    "ambiguous": "No other option than the key holds.",
    "unproven": "Every option is proved or refuted by a script that ran.",
    "drift": "What was proved of a case stands with another version of its library.",
}
"""The requirements of an audit for a case. The key is the finding that is made if the requirement is not met."""


def print_recheck(found: Recheck) -> None:
    """Print both versions, the totals of the new one, and each case that drifted."""
    was, now = found.before, found.report.target
    print_facts(
        (
            ("report", f"{was.target.requirement} (resolved to {was.version})"),
            ("now", f"{now.target.requirement} (resolved to {now.version})"),
            ("proofs", sum(len(one.proofs) for one in found.report.cases)),
            ("ratings", totals_in_words(found.report)),
        )
    )
    print_table(_DRIFTS, _drift_rows(found.drifts), empty="No case drifted.")
    if found.drifts:
        say(f"To be solved again: {', '.join(one.id for one in found.drifts)}")


def print_report(report: QualityReport) -> None:
    """Print the totals, and each case that needs a maintainer, which is every case that is not Valid."""
    print_facts((("ratings", totals_in_words(report)), ("cost", _cost(report))))
    wanting = [one for rating in RATINGS for one in report.cases if one.quality_rating == rating != "Valid"]
    print_table(_CASES, (_case_row(one) for one in wanting), empty="No case needs a maintainer.")


def totals_in_words(report: QualityReport) -> str:
    """The number of cases with each rating, in words."""
    return ", ".join(f"{report.totals[rating]} {rating}" for rating in RATINGS)


def recheck_document(found: Recheck) -> dict[str, Any]:
    """The drifts of a recheck for programs. The whole report is written by `--out`."""
    return {
        "before": found.before.model_dump(mode="json"),
        "now": found.report.target.model_dump(mode="json"),
        "totals": dict(found.report.totals),
        "trusted": found.report.trusted,
        "drifts": [drift.model_dump(mode="json") for drift in found.drifts],
        "solve_again": [drift.id for drift in found.drifts],
        "new": {rating.lower(): list(found.newly(rating)) for rating in RATINGS},
    }


def exit_of_recheck(found: Recheck, failing: Collection[Failing]) -> Exit:
    """The exit code of a recheck: `VERDICT` if the drift of a case fails a build, else `DONE`."""
    return Exit.VERDICT if any(_fails(drift, failing) for drift in found.drifts) else Exit.DONE


def suite_of_recheck(found: Recheck, failing: Collection[Failing]) -> Suite:
    """A JUnit case for each case of a recheck. The suite fails if and only if the exit code does."""
    drifts = {drift.id: drift for drift in found.drifts}
    cases: list[Case] = []
    for one in found.report.cases:
        drift = drifts.get(one.case.id)
        outcome: CaseOutcome = "failed" if drift is not None and _fails(drift, failing) else "passed"
        told = f"{one.quality_rating}, as it was." if drift is None else _drift_sentence(drift)
        cases.append(_suite_case(one, outcome, told))
    return Suite(name=f"recheck against {found.report.target.target.requirement}", cases=cases)


def suite_of_report(report: QualityReport, failing: Collection[Failing]) -> Suite:
    """A JUnit case for each case of an audit. The suite fails if and only if the exit code does."""
    cases: list[Case] = []
    for one in report.cases:
        outcome: CaseOutcome = "unscored" if one.quality_rating == "Unproven" else "passed"
        outcome = "failed" if one.quality_rating.lower() in failing else outcome
        cases.append(_suite_case(one, outcome, f"{one.quality_rating}. {one.change}".strip()))
    return Suite(name=f"audit against {report.target.target.requirement}", cases=cases)


def sarif_of_recheck(found: Recheck, failing: Collection[Failing]) -> SarifRun:
    """A result for each case that drifted, at the place of its definition. It is an error if it fails a build."""
    cases = {one.case.id: one for one in found.report.cases}
    results = [
        _sarif_result(cases[drift.id], "drift", _drift_sentence(drift), fails=_fails(drift, failing))
        for drift in found.drifts
    ]
    return SarifRun(rules=ASKED, results=results)


def sarif_of_report(report: QualityReport, failing: Collection[Failing]) -> SarifRun:
    """A result for each case that is not Valid, at the place of its definition.

    It is an error if it fails a build, else `open` if the case is Unproven, else a warning.
    """
    results = [
        _sarif_result(one, rule, f"{one.quality_rating}. {one.change}".strip(), fails=rule in failing)
        for one in report.cases
        if (rule := one.quality_rating.lower()) in ASKED
    ]
    return SarifRun(rules=ASKED, results=results)


def _sarif_result(one: AuditedCase, rule: str, sentence: str, *, fails: bool) -> SarifResult:
    return SarifResult(
        rule=rule,
        level="error" if fails else "open" if rule == "unproven" else "warning",
        sentence=sentence,
        spot=None if one.source is None else Spot(file=one.source.file, line=one.source.line),
        name=one.case.id,
    )


def _suite_case(one: AuditedCase, outcome: CaseOutcome, sentence: str) -> Case:
    seconds = sum(proof.wall_seconds for proof in one.proofs)
    return Case(
        group=f"touchstone.audit.{one.case.kind}",
        name=one.case.id,
        outcome=outcome,
        sentence=sentence,
        details="\n".join(one.summaries),
        seconds=seconds,
    )


def _fails(drift: Drift, failing: Collection[Failing]) -> bool:
    return drift_fails(drift.rating_before, drift.rating_now, failing)


def _drift_sentence(drift: Drift) -> str:
    """A sentence with the change of the rating, and for each option the change and its reason.

    The reason is what the stored script found that the library does now.
    """
    changes = "; ".join(
        f"{one.label} {change(one.before, one.now)}" + (f" ({one.reason.rstrip('.')})" if one.reason else "")
        for one in drift.options
    )
    return f"{change(drift.rating_before, drift.rating_now)}: {changes}."


def _drift_rows(drifts: Collection[Drift]) -> Iterator[Mapping[str, Any]]:
    for drift in drifts:
        for option in drift.options:
            yield {
                "id": drift.id,
                "rating": change(drift.rating_before, drift.rating_now),
                "option": option.label,
                "change": change(option.before, option.now),
                "reason": option.reason or "it follows from the others",
            }


def _case_row(one: AuditedCase) -> Mapping[str, Any]:
    rating: Rating = one.quality_rating
    return {
        "rating": rating,
        "id": one.case.id,
        "question": short(one.case.question),
        "key": one.case.ground_truth,
        "change": one.stopped if one.stopped and rating == "Unproven" else one.change,
    }


def _cost(report: QualityReport) -> str | None:
    if not report.input_tokens and not report.output_tokens:
        return None
    cost = dollars(report.cost_usd, report.unpriced_calls)
    return f"{cost} ({report.input_tokens:,} tokens in, {report.output_tokens:,} out)"


_DRIFTS = tuple(column(name) for name in ("id", "rating", "option", "change", "reason"))
_CASES = (*(column(name) for name in ("rating", "id", "question", "key")), column("what to change", "change"))
