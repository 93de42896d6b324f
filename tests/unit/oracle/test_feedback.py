"""Who reads what of a submission, at each stage of both paths, and that hidden scores cannot be read from anything."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.briefs import dimensions
from tests.support.oracle import (
    COMPARED,
    DEADLINE,
    NOW,
    a_submission,
    a_task,
    comparisons,
    failed_gate,
    passed_gate,
    scoring,
    unjudged,
)
from touchstone.oracle.events import events_between
from touchstone.oracle.feedback import (
    GateFeedback,
    IndividualFeedback,
    Reader,
    ScoringFeedback,
    SubmissionView,
    reader_of,
    view_of,
)
from touchstone.oracle.model import RiskFlag, TaskPath
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import Submission, compared, gated, given_up, overtaken, scored
from touchstone.oracle.task import Task, ended, finalised, ranked, won

RECEIVED = a_submission()
FAILED = gated(RECEIVED, failed_gate())
PASSED = gated(RECEIVED, passed_gate())
SCORED = scored(PASSED, scoring(80))
UNSCORED = given_up(PASSED, unjudged("scoring"))
SUBMISSIONS = {"received": RECEIVED, "failed": FAILED, "passed": PASSED, "scored": SCORED, "unscored": UNSCORED}


def contest(*places: Place) -> dict[str, Task]:
    """A contest at each of its stages."""
    task = a_task()
    scoring_task = ended(task, now=DEADLINE)
    challenge = ranked(scoring_task, places, now=DEADLINE)
    final = finalised(challenge, now=DEADLINE + timedelta(hours=1))
    return {"open": task, "scoring": scoring_task, "challenge": challenge, "final": final}


PLACE = Place(submission_id=SCORED.id, rank=2, final_score=74.5)
RACE = a_task("fastest_first")
TASKS: dict[TaskPath, dict[str, Task]] = {
    "quality_first": contest(PLACE),
    "fastest_first": {
        "open": RACE,
        "won": won(RACE, SCORED.id, now=NOW),
        "ended": ended(RACE, now=DEADLINE),
    },
}
type Types = dict[str, tuple[str, ...]]
GATE, SUGGESTIONS, INDIVIDUAL, SCORING = "GateFeedback", "SuggestionsFeedback", "IndividualFeedback", "ScoringFeedback"

NOTHING: Types = dict.fromkeys(SUBMISSIONS, ())
AFTER = NOTHING | {"failed": (GATE,), "scored": (INDIVIDUAL,)}
DECIDED = AFTER | {"scored": (INDIVIDUAL, SCORING)}
READ: dict[tuple[TaskPath, str, Reader], Types | None] = {
    ("quality_first", "open", "author"): NOTHING | {"failed": (GATE,), "scored": (SUGGESTIONS,)},
    ("quality_first", "open", "owner"): None,
    ("quality_first", "open", "submitter"): None,
    ("quality_first", "scoring", "author"): AFTER,
    ("quality_first", "scoring", "owner"): AFTER,
    ("quality_first", "scoring", "submitter"): AFTER,
    ("quality_first", "challenge", "author"): DECIDED,
    ("quality_first", "challenge", "owner"): DECIDED,
    ("quality_first", "challenge", "submitter"): DECIDED,
    ("quality_first", "final", "author"): DECIDED,
    ("quality_first", "final", "owner"): DECIDED,
    ("quality_first", "final", "submitter"): DECIDED,
    ("fastest_first", "open", "author"): AFTER,
    ("fastest_first", "open", "owner"): None,
    ("fastest_first", "open", "submitter"): None,
    ("fastest_first", "won", "author"): AFTER,
    ("fastest_first", "won", "owner"): AFTER,
    ("fastest_first", "won", "submitter"): AFTER,
    ("fastest_first", "ended", "author"): AFTER,
    ("fastest_first", "ended", "owner"): AFTER,
    ("fastest_first", "ended", "submitter"): AFTER,
}
"""By path, stage and reader: the feedback on a submission in each state; None: nobody there is told of any."""


def seen(submission: Submission, task: Task, reader: Reader | None = "author") -> SubmissionView:
    view = view_of(submission, task, reader)
    assert view is not None
    return view


@pytest.mark.parametrize(("path", "stage", "reader"), READ)
def test_each_reader_reads_at_each_stage_what_is_theirs(path: TaskPath, stage: str, reader: Reader) -> None:
    allowed = READ[path, stage, reader]
    task = TASKS[path][stage]
    for state, submission in SUBMISSIONS.items():
        view = view_of(submission, task, reader)
        assert view_of(submission, task, None) is None
        if allowed is None:
            assert view is None
        else:
            assert view is not None
            assert tuple(type(one).__name__ for one in view.feedback) == allowed[state]
            assert view.gate == (None if task.closed_at is None else submission.gate)


def test_every_path_stage_and_reader_is_decided() -> None:
    readers: tuple[Reader, ...] = ("author", "owner", "submitter")
    assert set(READ) == {(path, stage, who) for path, stages in TASKS.items() for stage in stages for who in readers}


def test_a_party_is_the_author_of_its_own_work_before_anything_else() -> None:
    task = a_task(owner="buyer-1")
    assert reader_of(task, RECEIVED, party="writer-1", submitted=True) == "author"
    assert reader_of(task, RECEIVED, party="buyer-1", submitted=False) == "owner"
    assert reader_of(task, RECEIVED, party="writer-2", submitted=True) == "submitter"
    assert reader_of(task, RECEIVED, party="writer-2", submitted=False) is None
    assert reader_of(task, a_submission(submitter="buyer-1"), party="buyer-1", submitted=True) == "author"


def test_a_failed_gate_tells_its_author_how_to_meet_what_was_missed() -> None:
    (feedback,) = seen(FAILED, a_task()).feedback
    assert isinstance(feedback, GateFeedback)
    assert (feedback.type, feedback.criteria_checks[0].revision_hint) == ("gate_check", "Name it.")


def test_the_author_in_an_open_contest_reads_its_two_suggestions_and_nothing_else() -> None:
    view = seen(SCORED, a_task())
    (feedback,) = json.loads(view.model_dump_json())["feedback"]
    assert feedback == {
        "type": "individual_scoring",
        "revision_suggestions": [
            {"problem": "One source only.", "suggestion": "Compare a second one.", "severity": "high"},
            {"problem": "No date.", "suggestion": "Say when.", "severity": "low"},
        ],
    }
    assert view.standing == "gate_passed"


scores = st.fixed_dictionaries({one.id: st.integers(0, 100) for one in dimensions()})
FLAGS: tuple[RiskFlag, ...] = ("addresses_the_judge", "hidden_text")
flags: st.SearchStrategy[tuple[RiskFlag, ...]] = st.lists(st.sampled_from(FLAGS), unique=True).map(tuple)


@given(one=scores, other=scores, flagged=flags)
def test_what_is_read_of_an_open_contest_is_the_same_whatever_the_scores_are(
    one: dict[str, int], other: dict[str, int], flagged: tuple[RiskFlag, ...]
) -> None:
    """Were anything of the scores, bands, flags, comparisons or of what was spent in it, the two would differ."""
    high = scored(PASSED, scoring(80, risk_flags=(), **one))
    low = compared(scored(PASSED, scoring(80, risk_flags=flagged, **other)), COMPARED)
    low = low.model_copy(update={"tries": 3})
    task = a_task()
    assert seen(high, task).model_dump_json() == seen(low, task).model_dump_json()


def test_an_author_of_a_fastest_first_task_reads_its_scores_at_once() -> None:
    (feedback,) = seen(scored(PASSED, scoring(80, clarity=45)), a_task("fastest_first")).feedback
    assert isinstance(feedback, IndividualFeedback)
    assert feedback.penalized_total == scoring(80, clarity=45).penalized_total
    assert [one.flag for one in feedback.dimension_scores] == [None, None, None, "below_expected"]


def test_penalties_are_told_by_cause() -> None:
    weak = scored(PASSED, scoring(80, credibility=45, substantiveness=40, clarity=50))
    (_, final) = seen(weak, contest()["final"], "owner").feedback
    assert isinstance(final, ScoringFeedback)
    told = [(one.dimension, one.score, one.factor) for one in final.penalty_reasons]
    assert told == [("substantiveness", 40.0, 40 / 60), ("credibility", 45.0, 0.75)]
    assert final.weighted_base == 53.75
    assert final.penalty == pytest.approx(0.5)
    assert final.final_score == pytest.approx(53.75 / 2)
    assert (final.rank, final.eliminated_by) == (None, ("substantiveness", "credibility"))
    assert seen(weak, contest()["final"]).standing == "eliminated"


def test_a_finalist_reads_the_means_of_both_orders_and_where_they_disagreed() -> None:
    place = Place(submission_id=SCORED.id, rank=1, final_score=74.5)
    finalist = compared(SCORED, COMPARED)
    (_, final) = seen(finalist, contest(place)["challenge"], "submitter").feedback
    assert isinstance(final, ScoringFeedback)
    assert [one.score for one in final.dimension_scores] == [85.0, 70.0, 82.0, 61.0]
    assert [one.band for one in final.dimension_scores] == ["B", "B", "B", "C"]
    assert (final.rank, final.final_score, final.weighted_base, final.penalty) == (1, 74.5, 74.5, 1.0)
    assert final.unscored == ()
    assert final.risk_flags == ("orders_disagree",)
    agreed = compared(SCORED, comparisons((80, 80), (70, 70), (70, 60), (61, 61)))
    (_, final) = seen(agreed, contest(place)["challenge"]).feedback
    assert isinstance(final, ScoringFeedback)
    assert final.risk_flags == ()


@pytest.mark.parametrize("missing", [1, 4])
def test_a_finalist_that_nobody_could_compare_reads_on_what_and_no_number_that_would_need_it(missing: int) -> None:
    names = [one.id for one in dimensions()]
    finalist = compared(SCORED, COMPARED[:-missing]).model_copy(update={"uncompared": tuple(names[-missing:])})
    place = Place(submission_id=SCORED.id, rank=None, final_score=None)
    for stage in ("challenge", "final"):
        (_, final) = seen(finalist, contest(place)[stage], "submitter").feedback
        assert isinstance(final, ScoringFeedback)
        assert final.unscored == tuple(names[-missing:])
        assert [(one.dimension, one.score) for one in final.dimension_scores] == list(
            zip(names, [85.0, 70.0, 82.0, 61.0], strict=True)
        )[:-missing]
        assert (final.weighted_base, final.penalty, final.final_score, final.rank) == (None, None, None, None)
        assert final.penalty_reasons == ()


def test_comparisons_are_hidden_until_the_ranking_stands() -> None:
    finalist = compared(SCORED, COMPARED)
    for stage in ("open", "scoring"):
        assert "Beside others." not in seen(finalist, contest(PLACE)[stage]).model_dump_json()


def test_a_survivor_behind_the_finalists_keeps_its_own_scores_and_its_rank() -> None:
    (_, final) = seen(SCORED, contest(PLACE)["final"]).feedback
    assert isinstance(final, ScoringFeedback)
    assert (final.rank, {one.score for one in final.dimension_scores}) == (2, {80.0})
    assert seen(SCORED, contest(PLACE)["final"]).standing == "ranked"


def test_what_nobody_could_score_says_so_and_holds_no_number() -> None:
    for task in (a_task(), contest(PLACE)["final"], RACE):
        view = seen(UNSCORED, task)
        assert (view.standing, view.unscored, view.feedback) == ("unscored", "timed_out", ())
    assert seen(overtaken(PASSED), TASKS["fastest_first"]["won"]).standing == "overtaken"
    assert seen(RECEIVED, a_task()).unscored is None


def test_no_event_holds_a_score_or_a_winner_before_the_result_is_final() -> None:
    stages = contest(Place(submission_id=SCORED.id, rank=1, final_score=74.5))
    told = events_between(None, stages["challenge"])
    assert [(one.kind, one.winner) for one in told] == [("task.closed", None)]
    assert [one.kind for one in events_between(stages["challenge"], stages["final"])] == ["result.final", "payout.due"]
    for one in events_between(None, stages["final"]):
        assert "74.5" not in one.model_dump_json()
