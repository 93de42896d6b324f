"""A submission as the tables of its page: made of nothing but what its task's owner may read at this moment."""

from collections.abc import Mapping, Sequence

from functions.pages.tables import Column, Row, Table
from touchstone.oracle.feedback import GateFeedback, IndividualFeedback, SubmissionView, SuggestionsFeedback
from touchstone.oracle.model import CriterionCheck
from touchstone.records.labels import Label


def criteria_of(submission: SubmissionView, labels: Mapping[str, Label]) -> Table:
    """Each acceptance criterion in its order, whether it was met and why, and what somebody said of that.

    Before the task is closed, of a failed gate alone. `labels` by the number of the criterion.
    """
    rows: list[Row] = [
        {
            "number": number,
            "criterion": check.criterion,
            "met": check.passed,
            "evidence": check.evidence,
            "reason": check.reason,
            "revision_hint": check.revision_hint,
            "label": said.label if (said := labels.get(str(number))) else None,
        }
        for number, check in enumerate(_checks(submission), start=1)
    ]
    columns = (
        Column(name="number", shown="number"),
        Column(name="criterion", shown="sent"),
        Column(name="met", shown="word", words="passed"),
        Column(name="evidence", shown="sent"),
        Column(name="reason", shown="sent"),
        Column(name="revision_hint", shown="sent"),
        Column(name="label", shown="word", words="class"),
    )
    return Table(name="criteria", columns=columns, rows=rows)


def _checks(submission: SubmissionView) -> Sequence[CriterionCheck]:
    if submission.gate is not None:
        return submission.gate.criteria_checks
    return next((said.criteria_checks for said in submission.feedback if isinstance(said, GateFeedback)), ())


def hints_of(submission: SubmissionView) -> Table:
    """What would improve the submission, the more severe first."""
    rows: list[Row] = [
        {"severity": one.severity, "detail": one.problem, "suggestion": one.suggestion}
        for said in submission.feedback
        if isinstance(said, IndividualFeedback | SuggestionsFeedback)
        for one in said.revision_suggestions
    ]
    columns = (
        Column(name="severity", shown="word", words="severity"),
        Column(name="detail", shown="sent"),
        Column(name="suggestion", shown="sent"),
    )
    return Table(name="hints", columns=columns, rows=rows)
