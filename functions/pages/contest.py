"""A task and its results, as the tables of its page. They hold only what the task's owner may read at this moment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from functions.pages.finding import found_at
from functions.pages.tables import COST, SCORES, UNIT, Column, PageTable, Row, row_of
from touchstone.oracle.aggregation import Penalty, aggregate
from touchstone.oracle.challenge import ChallengeView
from touchstone.oracle.feedback import (
    FinalDimensionScore,
    GateFeedback,
    IndividualFeedback,
    PenaltyReason,
    ScoringFeedback,
    SubmissionView,
    SuggestionsFeedback,
)
from touchstone.oracle.model import CriterionCheck, DimensionScore
from touchstone.oracle.ranking import Place
from touchstone.oracle.view import TaskView
from touchstone.records.labels import Label

MOST_PLACES = 100
"""The most places shown, best first."""
type Known = Mapping[str, SubmissionView]
"""Submissions that were read, by their ids."""


def dimensions_of(task: TaskView) -> PageTable:
    """The dimensions by which every submission is judged."""
    headings = _headings(task)
    columns = (
        Column(name="heading", shown="word", words="dimension"),
        Column(name="dimension", of=lambda one: one.id, shown="code", hidden=True),
        Column(name="name", hidden=True),
        Column(name="weight", shown="share"),
        Column(name="fixed", shown="word", words="passed"),
        Column(name="description"),
    )
    rows = [row_of(columns, one, heading=headings[one.id]) for one in task.dimensions]
    return PageTable(name="dimensions", columns=columns, rows=rows)


def dimension_names(task: TaskView) -> Row:
    """The names of the dimensions that a judge made, for the cells of a row that list dimensions by their ids."""
    return {f"named_{one.id}": one.name for one in task.dimensions if not one.fixed}


def _headings(task: TaskView) -> Mapping[str, str]:
    """The heading of each dimension, by its id: for a fixed dimension its id, which has a text in each language.

    A judge makes and names the other dimensions; their heading is that name.
    """
    return {one.id: one.id if one.fixed else one.name for one in task.dimensions}


def ranking_of(task: TaskView, known: Known) -> PageTable:
    """The ranking, with the scores and penalties behind it.

    A submission that is not in `known` was not read: its row has only its place and its final score.
    """
    rows = [_place(task, place, known.get(place.submission_id)) for place in (task.ranking or ())[:MOST_PLACES]]
    columns = (
        Column(name="rank", shown="number"),
        Column(name="submitter", to="address"),
        Column(name="weighted_base", shown="decimal", scale=SCORES, to="address"),
        Column(name="penalty", shown="decimal", scale=UNIT, to="address"),
        Column(name="causes", shown="words", words="dimension"),
        Column(name="final_score", shown="total", to="address"),
        Column(name="risk_flags", shown="words", words="risk_flag", detail=True),
        Column(name="submission", shown="code", hidden=True),
    )
    return PageTable(name="ranking", columns=columns, rows=rows)


def _place(task: TaskView, place: Place, submission: SubmissionView | None) -> Row:
    scoring = None if submission is None else _scoring(submission)
    return {
        "rank": place.rank,
        "submitter": None if submission is None else submission.submitter,
        "weighted_base": None if scoring is None else scoring.weighted_base,
        "penalty": None if scoring is None else scoring.penalty,
        "causes": None if scoring is None else ", ".join(map(_cause, scoring.penalty_reasons)) or None,
        "final_score": place.final_score,
        "risk_flags": None if scoring is None else ", ".join(scoring.risk_flags) or None,
        "submission": place.submission_id,
        "address": _address(task.id, place.submission_id),
    }


def _cause(reason: PenaltyReason) -> str:
    return f"{reason.dimension} {reason.score:g} → × {reason.factor:.3f}"


def penalties_of(task: TaskView, submissions: Sequence[SubmissionView], *, alone: bool = False) -> PageTable:
    """Each penalty of these submissions, with its cause: the fixed dimension whose score is below the threshold.

    `alone`: of the one submission whose page it is.
    """
    columns = (
        Column(name="submitter", to="address", hidden=alone),
        Column(name="dimension", shown="word", words="dimension"),
        Column(name="score", shown="decimal", scale=SCORES, to="address"),
        Column(name="factor", shown="decimal", scale=UNIT),
        Column(name="submission", shown="code", hidden=True),
    )
    rows = [
        row_of(
            columns,
            reason,
            submitter=one.submitter,
            submission=one.id,
            address="#table-own_scores" if alone else _address(one.task_id, one.id),
        )
        for one in submissions
        for reason in _penalties(task, one)
    ]
    return PageTable(name="penalties", columns=columns, rows=rows)


def _penalties(task: TaskView, submission: SubmissionView) -> Sequence[PenaltyReason | Penalty]:
    """The penalties in the total of a submission: that of the contest, else that of its own scores."""
    if (scoring := _scoring(submission)) is not None:
        return scoring.penalty_reasons
    if (own := _individual(submission)) is None:
        return ()
    return aggregate(task.dimensions, {one.dimension: float(one.score) for one in own.dimension_scores}).penalties


def scores_of(task: TaskView, submissions: Sequence[SubmissionView], *, alone: bool = False) -> PageTable:
    """The score of these submissions on each dimension. `alone`: of the one submission whose page it is."""
    headings = _headings(task)
    columns = (
        Column(name="submitter", hidden=alone, to="address"),
        Column(
            name="dimension_name",
            of=lambda score: headings.get(score.dimension, score.dimension),
            shown="word",
            words="dimension",
        ),
        Column(name="dimension", shown="code", hidden=True),
        Column(name="band"),
        Column(name="score", of=lambda score: float(score.score), shown="decimal", scale=SCORES, to="address"),
        Column(name="unstable", shown="word", words="passed"),
        Column(name="feedback", shown="sent"),
        Column(name="evidence", shown="sent", detail=True),
    )
    rows = [
        row_of(
            columns,
            score,
            submitter=one.submitter,
            unstable=unstable,
            address=None if alone else _address(task.id, one.id),
        )
        for one in submissions
        for score, unstable in _dimension_scores(one)
    ]
    return PageTable(name="own_scores" if alone else "scores", columns=columns, rows=rows)


def score_votes_of(task: TaskView, submissions: Sequence[SubmissionView]) -> PageTable:
    """The score that each of several judges gave these submissions on each dimension; no row if one judge scored."""
    headings = _headings(task)
    columns = (
        Column(name="submitter", hidden=True),
        Column(name="dimension_name", shown="word", words="dimension"),
        Column(name="dimension", shown="code", hidden=True),
        Column(name="model", shown="code"),
        Column(name="band"),
        Column(name="score", shown="decimal", scale=SCORES),
        Column(name="skip_reason", of=lambda vote: vote.unscored, shown="word", words="skip"),
        Column(name="feedback", shown="sent"),
        Column(name="provider", detail=True),
        Column(name="because", of=lambda vote: " ".join(vote.because) or None, shown="kept", detail=True),
        Column(name="evidence", shown="sent", detail=True),
        Column(name="prompt_version", shown="code", hidden=True),
    )
    rows = [
        row_of(
            columns,
            vote,
            submitter=one.submitter,
            dimension_name=headings.get(score.dimension, score.dimension),
            dimension=score.dimension,
        )
        for one in submissions
        for score, _ in _dimension_scores(one)
        for vote in score.votes
    ]
    return PageTable(name="score_votes", columns=columns, rows=rows)


def _dimension_scores(submission: SubmissionView) -> Iterator[tuple[DimensionScore | FinalDimensionScore, bool]]:
    if (scoring := _scoring(submission)) is not None:
        yield from ((one, one.unstable) for one in scoring.dimension_scores)
    elif (own := _individual(submission)) is not None:
        yield from ((one, False) for one in own.dimension_scores)


def gate_failures_of(submissions: Sequence[SubmissionView]) -> PageTable:
    """The criteria that these submissions missed, and how many submissions missed each."""
    missed = Counter(
        check.criterion
        for one in submissions
        for part in one.feedback
        if isinstance(part, GateFeedback)
        for check in part.criteria_checks
        if check.passed is False
    )
    found = (
        {"found": found_at(f"{submissions[0].task_id}/submissions", {"status": "gate_failed"})} if submissions else {}
    )
    rows: list[Row] = [{"criterion": name, "missed": number, **found} for name, number in missed.most_common()]
    columns = (Column(name="criterion"), Column(name="missed", shown="number", to="found"))
    return PageTable(name="gate_failures", columns=columns, rows=rows)


def _total(one: SubmissionView) -> float | None:
    scoring, own = _scoring(one), _individual(one)
    if scoring is not None:
        return scoring.final_score
    return None if own is None else own.penalized_total


OUTCOME = (
    Column(name="rank", shown="number"),
    Column(name="total", shown="total"),
    Column(name="eliminated_by", shown="words", words="dimension"),
    Column(name="risk_flags", shown="words", words="risk_flag"),
)
"""How the page of a submission shows `outcome_of`."""


def outcome_of(one: SubmissionView) -> Row:
    """The result of a submission as its page tells it: its rank, its total, and what a reader should know.

    A field is None if there is nothing to tell.
    """
    scoring = _scoring(one)
    told = scoring or _individual(one)
    return {
        "rank": None if scoring is None else scoring.rank,
        "total": _total(one),
        "eliminated_by": _eliminated_by(one),
        "risk_flags": None if told is None else ", ".join(told.risk_flags) or None,
    }


def _eliminated_by(one: SubmissionView) -> str | None:
    scoring = _scoring(one)
    return None if scoring is None else ", ".join(scoring.eliminated_by) or None


SUBMISSIONS = (
    Column(name="submitted_at", shown="moment", to="address"),
    Column(name="submitter", to="address"),
    Column(name="standing", shown="word", words="standing"),
    Column(name="total", of=_total, shown="total", to="address"),
    Column(name="because", of=lambda one: one.unscored, shown="word", words="skip"),
    *COST,
    Column(name="revision", shown="number", detail=True, to="of_submitter"),
    Column(name="eliminated_by", of=_eliminated_by, shown="words", words="dimension", detail=True),
    Column(name="submission", of=lambda one: one.id, shown="code", to="address", detail=True),
)


def submissions_of(task: TaskView, submissions: Sequence[SubmissionView], cursor: str | None) -> PageTable:
    """The submissions, newest first, and where each stands. `cursor` leads to the next ones."""
    named = dimension_names(task)
    rows = [{**submission_row(one), **named} for one in submissions]
    return PageTable(name="submissions", columns=SUBMISSIONS, rows=rows, next=cursor)


def submission_row(one: SubmissionView) -> Row:
    """The row of a submission. Its address is relative to the page of its task."""
    of_submitter = found_at(f"{one.task_id}/submissions", {"submitter": one.submitter})
    return row_of(SUBMISSIONS, one, of_submitter=of_submitter, address=_address(one.task_id, one.id))


def _address(task_id: str, submission_id: str) -> str:
    """The address of a submission's page, relative to the page of its task."""
    return f"{task_id}/submissions/{submission_id}"


def challenges_of(challenges: Sequence[ChallengeView]) -> PageTable:
    """The challenges to the ranking, oldest first, and the result of each."""
    columns = (
        Column(name="created_at", shown="moment"),
        Column(name="challenger", to="address"),
        Column(name="submission", of=lambda one: one.submission_id, shown="code", hidden=True),
        Column(name="reason", shown="sent"),
        Column(name="challenge_state", of=lambda one: one.state, shown="word", words="challenge"),
        Column(name="scored_again_by", of=lambda one: one.provider, shown="code", detail=True),
        Column(name="new_total", shown="total", to="address"),
        Column(name="because", of=lambda one: one.unscored, shown="word", words="skip", detail=True),
        Column(name="decided_at", shown="moment", detail=True),
        *COST,
    )
    rows = [row_of(columns, one, address=_address(one.task_id, one.submission_id)) for one in challenges]
    return PageTable(name="challenges", columns=columns, rows=rows)


def _scoring(submission: SubmissionView) -> ScoringFeedback | None:
    return next((part for part in submission.feedback if isinstance(part, ScoringFeedback)), None)


def _individual(submission: SubmissionView) -> IndividualFeedback | None:
    return next((part for part in submission.feedback if isinstance(part, IndividualFeedback)), None)


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
