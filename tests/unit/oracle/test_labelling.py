"""Which gate checks may be labelled, and whose card a label of them counts for."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.records import a_spend
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy
from touchstone.oracle.labelling import judged_criterion, submission_ref
from touchstone.oracle.model import Brief, CriterionCheck, GateCheck
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task, TaskRequest
from touchstone.statistics import JudgeKey

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TASK, SUBMISSION = "01M7YCR9J0YEPNXK2F1F80QC0C", "01M7YCR9J0YEPNXK2F1F80QC0D"
CRITERIA = ("Names its sources.", "Ends with advice.")


def a_task(**fields: Any) -> Task:
    request = TaskRequest(
        brief=Brief(description="A report.", acceptance_criteria=CRITERIA),
        path="fastest_first",
        owner="buyer",
        deadline=NOW + timedelta(hours=1),
    )
    given: dict[str, Any] = {"state": "final", "created_at": NOW, "deadline": request.deadline}
    return Task(tenant="acme", id=TASK, request=request, **(given | fields))


def a_submission(**fields: Any) -> Submission:
    """A submission that meets the first criterion alone."""
    checks = (
        CriterionCheck(criterion=criterion, passed=not number, reason="So.")
        for number, criterion in enumerate(CRITERIA)
    )
    given: dict[str, Any] = {
        "state": "gate_failed",
        "gate": GateCheck(criteria_checks=tuple(checks)),
        "spends": (a_spend(purpose="digest", model="fast"), a_spend(purpose="gate", model="strong")),
    }
    return Submission(
        tenant="acme",
        task_id=TASK,
        id=SUBMISSION,
        submitter="ann",
        submitted_at=NOW,
        revision=1,
        text_key="acme/x",
        **(given | fields),
    )


def test_each_criterion_is_a_thing_of_its_own() -> None:
    first, second = (judged_criterion(a_task(), a_submission(), item) for item in ("1", "2"))
    assert (first.verdict, second.verdict, first.classes) == ("pass", "fail", ("pass", "fail"))
    assert first.judge == JudgeKey(model="strong", tier="strong", prompt_version="0" * 16, kind="gate_check")


def test_a_text_that_says_nothing_was_checked_without_a_judge_and_one_nobody_checked_has_no_verdict() -> None:
    blank = judged_criterion(a_task(), a_submission(spends=()), "1").judge
    assert blank is not None
    assert blank.model == "checks"
    unchecked = judged_criterion(a_task(), a_submission(state="unscored", gate=None, spends=()), "1")
    assert (unchecked.verdict, unchecked.judge) == (None, None)


def test_two_models_that_both_checked_the_gate_are_told_apart_where_the_check_says_which_counts() -> None:
    spends = (a_spend(purpose="gate", model="strong"), a_spend(purpose="gate", model="other"))
    submission = a_submission(spends=spends)
    assert judged_criterion(a_task(), submission, "1").judge is None
    assert submission.gate is not None
    for said, tier in ((JudgedBy(model="other", prompt_version="1" * 16), "strong"), (BY_CHECKS, None)):
        gate = submission.gate.model_copy(update={"judge": said})
        judge = judged_criterion(a_task(), submission.model_copy(update={"gate": gate}), "1").judge
        assert judge == JudgeKey(**said.model_dump(), tier=tier, kind="gate_check")


@pytest.mark.parametrize("item", ["0", "3", "one", ""])
def test_a_criterion_that_is_not_there_is_not_found(item: str) -> None:
    with pytest.raises(NotFoundError, match="counted from 1"):
        judged_criterion(a_task(), a_submission(), item)


@pytest.mark.parametrize("state", ["open", "scoring"])
def test_nothing_is_told_of_a_submission_before_its_task_is_decided(state: str) -> None:
    with pytest.raises(ConflictError, match="not decided"):
        judged_criterion(a_task(state=state), a_submission(), "1")


def test_a_label_names_the_task_and_the_submission() -> None:
    ref = submission_ref("acme", f"{TASK}.{SUBMISSION}")
    assert (ref.tenant, ref.task_id, ref.id) == ("acme", TASK, SUBMISSION)
    assert submission_ref("acme", TASK).id == ""
