"""A submission's way from its arrival to its scores, whatever comes twice, too late or out of turn."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import (
    COMPARED,
    NOW,
    a_submission,
    a_task,
    failed_gate,
    passed_gate,
    scoring,
    unjudged,
)
from tests.support.records import a_spend
from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.errors import ConflictError, InputError, NotFoundError, TooLargeError
from touchstone.judges.spends import paying
from touchstone.oracle.handing_in import (
    MAX_SUBMISSION_BYTES,
    SubmissionRequest,
    check_follows,
    check_size,
    check_uploaded,
    checked_text,
    text_of_file,
)
from touchstone.oracle.model import MAX_SUBMISSION_CHARS
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import (
    MAX_REVISIONS,
    FinalistComparison,
    Submission,
    SubmissionStep,
    begun,
    compared,
    gated,
    given_up,
    overtaken,
    put_back,
    recompared,
    rescored,
    scored,
    standing,
)
from touchstone.oracle.task import ended, ranked

RECEIVED = a_submission()
FAILED = gated(RECEIVED, failed_gate())
PASSED = gated(RECEIVED, passed_gate())
SCORED = scored(PASSED, scoring(80))
UNGATED = given_up(RECEIVED, unjudged("gate"))
UNSCORED = given_up(PASSED, unjudged("scoring"))
AT = {"received": RECEIVED, "gate_failed": FAILED, "gate_passed": PASSED, "scored": SCORED, "unscored": UNSCORED}


def test_a_submission_that_meets_every_criterion_is_scored_and_one_that_does_not_keeps_its_hints() -> None:
    assert (PASSED.state, PASSED.judged) == ("gate_passed", False)
    assert (SCORED.state, SCORED.judged, SCORED.individual) == ("scored", True, scoring(80))
    assert (FAILED.state, FAILED.judged) == ("gate_failed", True)
    assert FAILED.gate == failed_gate()


def test_what_nobody_could_judge_is_unscored_with_its_reason_and_has_no_number() -> None:
    for one, failure in ((UNGATED, unjudged("gate")), (UNSCORED, unjudged("scoring"))):
        assert (one.state, one.individual, one.contender) == ("unscored", None, None)
        assert one.failure == failure


STEPS: dict[str, Callable[[Submission], Submission]] = {
    "gated": lambda one: gated(one, failed_gate()),
    "scored": lambda one: scored(one, scoring(20)),
    "begun": lambda one: begun(one, at="received", now=NOW),
    "given up": lambda one: given_up(one, unjudged("scoring")),
    "overtaken": overtaken,
}
REFUSED = {("received", "scored"), ("gate_failed", "scored")}
CHANGING = {
    ("received", "gated"),
    ("received", "begun"),
    ("received", "given up"),
    ("received", "overtaken"),
    ("gate_passed", "scored"),
    ("gate_passed", "given up"),
    ("gate_passed", "overtaken"),
}


@pytest.mark.parametrize("state", AT)
@pytest.mark.parametrize("step", STEPS)
def test_r20_a_step_changes_a_submission_once_and_only_in_its_state(state: str, step: str) -> None:
    before, take = AT[state], STEPS[step]
    if (state, step) in REFUSED:
        with pytest.raises(ConflictError, match="passed its gate"):
            take(before)
        return
    after = take(before)
    assert (after is not before) == ((state, step) in CHANGING)
    assert take(after) is after


def test_a_failed_try_is_kept_with_its_reason_and_what_succeeds_later_clears_both() -> None:
    at_work = begun(PASSED, at="gate_passed", now=NOW)
    assert (at_work.attempts.tries, at_work.attempts.not_before) == (0, NOW + LEASE)
    back = put_back(at_work, unjudged("scoring"), until=NOW, ended="unread")
    assert (back.state, back.attempts.tries, back.failure) == ("gate_passed", 1, unjudged("scoring"))
    assert put_back(at_work, unjudged("scoring"), until=NOW, ended="limited").attempts.tries == 0
    done = scored(back, scoring(80))
    assert (done.attempts.tries, done.attempts.not_before, done.failure) == (0, None, None)


def test_what_was_paid_is_kept_of_every_step_that_changed_something() -> None:
    steps: list[SubmissionStep] = [
        lambda one: gated(one, passed_gate()),
        lambda one: put_back(one, unjudged("scoring"), until=NOW, ended="unread"),
        lambda one: scored(one, scoring(80)),
        lambda one: scored(one, scoring(80)),
        lambda one: compared(one, COMPARED),
    ]
    one = RECEIVED
    for step in steps:
        one = paying(step, [a_spend()])(one)
    assert len(one.spends) == 4


def test_finalists_are_compared_once_and_only_those_with_scores() -> None:
    one = compared(SCORED, COMPARED)
    assert one.comparisons == COMPARED
    assert compared(one, ()) is one
    with pytest.raises(ConflictError, match="scored by itself"):
        compared(UNSCORED, COMPARED)


def test_a_challenge_puts_new_scores_in_place_of_the_old_once() -> None:
    again = rescored(SCORED, scoring(90))
    assert rescored(again, scoring(90)) is again
    beside = recompared(again, COMPARED)
    assert (beside.individual, beside.comparisons) == (scoring(90), COMPARED)
    assert recompared(beside, COMPARED) is beside
    assert recompared(beside, ()).comparisons == ()
    revived = rescored(UNSCORED, scoring(90))
    assert (revived.state, revived.individual, revived.failure) == ("scored", scoring(90), None)
    for one in (FAILED, UNGATED, PASSED):
        with pytest.raises(ConflictError, match="scored again"):
            rescored(one, scoring(90))
    with pytest.raises(ConflictError, match="compared again"):
        recompared(UNSCORED, COMPARED)


@pytest.mark.parametrize(("total", "passes"), [(60.0, True), (59.999999, False), (100.0, True), (0.0, False)])
def test_a_total_of_60_passes_and_less_does_not(total: float, passes: bool) -> None:
    assert scored(PASSED, scoring(80).model_copy(update={"penalized_total": total})).passes is passes
    assert not PASSED.passes


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (None, None),
        (FAILED, None),
        (UNGATED, None),
        (RECEIVED, "being checked"),
        (PASSED, "passed the gate"),
        (SCORED, "passed the gate"),
        (UNSCORED, "passed the gate"),
        (FAILED.model_copy(update={"revision": MAX_REVISIONS - 1}), None),
        (FAILED.model_copy(update={"revision": MAX_REVISIONS}), "all that a task takes"),
    ],
)
def test_only_work_that_did_not_pass_its_gate_may_be_followed_by_more(
    last: Submission | None, words: str | None
) -> None:
    if words is None:
        check_follows(last)
    else:
        with pytest.raises(ConflictError, match=words):
            check_follows(last)


def test_where_a_submission_stands_follows_from_the_ranking() -> None:
    task = a_task()
    weak = scored(PASSED, scoring(80, clarity=45))
    assert standing(weak, task) == "scored"
    scoring_task = ended(task, now=task.deadline)
    assert standing(weak, scoring_task) == "eliminated"
    assert standing(SCORED, scoring_task) == "scored"
    decided = ranked(scoring_task, [Place(submission_id=SCORED.id, rank=1, final_score=80.0)], now=task.deadline)
    assert standing(SCORED, decided) == "ranked"
    assert standing(UNSCORED, decided) == "unscored"
    assert standing(SCORED, a_task("fastest_first")) == "scored"


def test_a_contender_carries_what_a_contest_orders_by() -> None:
    contender = scored(PASSED, scoring(80, clarity=45)).contender
    assert contender is not None
    assert (contender.submitted_at, contender.eliminated_by) == (NOW, ("clarity",))


@given(st.tuples(st.integers(0, 100), st.integers(0, 100)))
def test_both_orders_count_alike_and_a_difference_above_ten_points_is_told(scores: tuple[int, int]) -> None:
    one = FinalistComparison(dimension="clarity", label="B", scores=scores, evidence="x", feedback="y")
    turned = one.model_copy(update={"scores": scores[::-1]})
    assert (one.score, one.band, one.disagrees) == (turned.score, turned.band, turned.disagrees)
    assert min(scores) <= one.score <= max(scores)
    assert one.disagrees == (abs(scores[0] - scores[1]) > 10)


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u2060", "\ufeff"])
def test_a_submission_that_shows_nothing_is_refused_kindly(text: str) -> None:
    with pytest.raises(InputError, match="says nothing") as refused:
        checked_text(text)
    assert refused.value.where == "text"
    with pytest.raises(InputError, match="says nothing") as refused:
        text_of_file(text.encode())
    assert refused.value.where == "text_key"


def test_a_submission_of_the_greatest_length_is_taken_and_one_more_character_is_not() -> None:
    text = "解" * MAX_SUBMISSION_CHARS
    assert checked_text(text) is text
    with pytest.raises(TooLargeError, match=r"1,000,001 characters; at most 1,000,000"):
        checked_text(text + "解")
    check_size(MAX_SUBMISSION_BYTES)
    with pytest.raises(TooLargeError, match="bytes"):
        text_of_file(b"x" * (MAX_SUBMISSION_BYTES + 1))


def test_a_file_is_read_as_utf8_with_or_without_a_byte_order_mark() -> None:
    assert text_of_file(b"\xef\xbb\xbf# Report") == "# Report"
    assert text_of_file("报告".encode()) == "报告"
    with pytest.raises(InputError, match="no UTF-8 text"):
        text_of_file("报告".encode("gb18030"))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"text": "x", "text_key": "acme/uploads/1"},
        {"text": "x", "submitter": ""},
        {"text": "x", "submitter": " "},
        {"text": "x", "submitter": "x" * 129},
    ],
)
def test_a_request_names_its_submitter_and_gives_a_text_or_a_file(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"exactly one|nothing|at most 128"):
        SubmissionRequest.model_validate({"submitter": "writer-1"} | fields)


def test_a_submission_is_read_back_as_it_was_stored() -> None:
    for one in (*AT.values(), compared(SCORED, COMPARED), overtaken(RECEIVED)):
        assert Submission.model_validate_json(one.model_dump_json()) == one


@pytest.mark.parametrize(
    ("key", "ok"),
    [
        ("acme/uploads/1", True),
        ("acme/uploads/a/b.md", True),
        ("acme/submissions/1.md", False),
        ("acme/records/1.json", False),
        ("acme/uploads", False),
        ("acme-2/uploads/1", False),
        ("/acme/uploads/1", False),
        ("", False),
    ],
)
def test_only_a_file_in_the_tenants_folder_of_uploads_is_one_to_be_handed_in(key: str, *, ok: bool) -> None:
    if ok:
        assert check_uploaded(key, tenant="acme") == key
    else:
        with pytest.raises(NotFoundError, match="no uploaded file"):
            check_uploaded(key, tenant="acme")


def test_a_finalist_that_nobody_could_compare_is_unscored_in_the_ranking_and_keeps_its_own_scores() -> None:
    one = compared(SCORED, COMPARED[:3], uncompared=["clarity"])
    assert (one.uncompared, compared(one, COMPARED) is one) == (("clarity",), True)
    task = ended(a_task(), now=a_task().deadline)
    placed = ranked(task, [Place(submission_id=one.id, rank=None, final_score=None)], now=task.deadline)
    assert (standing(one, placed), one.individual) == ("unscored", scoring(80))
    assert recompared(one, COMPARED).uncompared == ()


def test_tries_that_are_used_up_begin_no_other_and_giving_up_forgets_them() -> None:
    one = PASSED
    while (later := one.attempts.not_before or NOW) - NOW < RETRY_PERIOD:
        one = begun(one, at="gate_passed", now=later)
    assert begun(one, at="gate_passed", now=later) is one
    over = given_up(one, unjudged("scoring"))
    assert (over.attempts.tries, put_back(over, unjudged("gate"), until=later, ended="unread") is over) == (0, True)
    late = overtaken(one)
    assert put_back(late, unjudged("gate"), until=later, ended="limited") is late


REPEATABLE: dict[str, SubmissionStep] = STEPS | {
    "passed": paying(partial(gated, check=passed_gate()), [a_spend()]),
    "begun scoring": lambda one: begun(one, at="gate_passed", now=NOW),
    "compared": paying(partial(compared, comparisons=COMPARED), [a_spend()]),
    "rescored": lambda one: rescored(one, scoring(90)),
    "recompared": lambda one: recompared(one, COMPARED),
}


@given(st.lists(st.sampled_from(sorted(REPEATABLE)), max_size=12))
def test_r20_any_sequence_of_steps_applied_twice_is_that_sequence_applied_once(names: list[str]) -> None:
    once = RECEIVED
    for name in names:
        try:
            after = REPEATABLE[name](once)
        except ConflictError:
            continue
        assert REPEATABLE[name](after) is after
        assert not (once.judged and not after.judged)
        assert (after.individual is not None) == (after.state == "scored")
        assert len(after.spends) >= len(once.spends)
        once = after
    assert Submission.model_validate_json(once.model_dump_json()) == once
