"""A submission, as the tables of its page. They hold only what its task's owner may read at this moment."""

from collections.abc import Mapping, Sequence

from functions.pages.tables import Column, PageTable, row_of
from touchstone.oracle.feedback import GateFeedback, IndividualFeedback, SubmissionView, SuggestionsFeedback
from touchstone.oracle.model import CriterionCheck
from touchstone.records.labels import Label


def criteria_of(submission: SubmissionView, labels: Mapping[str, Label]) -> PageTable:
    """Each acceptance criterion in order: whether it was met and why, and people's label of that verdict.

    Before the task is closed, only a submission that failed its gate has rows. `labels` holds the labels by the number
    of the criterion.
    """
    columns = (
        Column(name="number", shown="number"),
        Column(name="criterion", shown="sent"),
        Column(name="met", of=lambda check: check.passed, shown="word", words="passed"),
        Column(name="evidence", shown="sent"),
        Column(name="reason", shown="sent"),
        Column(name="revision_hint", shown="sent"),
        Column(name="label", shown="word", words="class"),
    )
    rows = [
        row_of(columns, check, number=number, label=said.label if (said := labels.get(str(number))) else None)
        for number, check in enumerate(_checks(submission), start=1)
    ]
    return PageTable(name="criteria", columns=columns, rows=rows)


def _checks(submission: SubmissionView) -> Sequence[CriterionCheck]:
    if submission.gate is not None:
        return submission.gate.criteria_checks
    return next((said.criteria_checks for said in submission.feedback if isinstance(said, GateFeedback)), ())


def votes_of(submission: SubmissionView) -> PageTable:
    """The verdict of each of several judges on each criterion; no row if one judge checked them."""
    told = next((said.votes for said in submission.feedback if isinstance(said, GateFeedback)), ())
    votes = told if submission.gate is None else submission.gate.votes
    columns = (
        Column(name="criterion", shown="number"),
        Column(name="provider"),
        Column(name="model", shown="code"),
        Column(name="met", shown="word", words="passed"),
        Column(name="skip_reason", of=lambda vote: vote.unscored, shown="word", words="skip"),
        Column(name="because", of=lambda vote: " ".join(vote.because) or None, shown="kept"),
        Column(name="prompt_version", shown="code", hidden=True),
    )
    rows = [
        row_of(columns, vote, criterion=number, met=passed)
        for vote in votes
        for number, passed in (enumerate(vote.passed, start=1) if vote.passed else ((None, None),))
    ]
    return PageTable(name="votes", columns=columns, rows=rows)


def hints_of(submission: SubmissionView) -> PageTable:
    """Suggestions that would improve the submission, the more severe first."""
    columns = (
        Column(name="severity", shown="word", words="severity"),
        Column(name="detail", of=lambda one: one.problem, shown="sent"),
        Column(name="suggestion", shown="sent"),
    )
    rows = [
        row_of(columns, one)
        for said in submission.feedback
        if isinstance(said, IndividualFeedback | SuggestionsFeedback)
        for one in said.revision_suggestions
    ]
    return PageTable(name="hints", columns=columns, rows=rows)
