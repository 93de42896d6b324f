"""Gate checks as things that a person may label: does this submission meet this criterion?"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy, sole_replier
from touchstone.oracle.model import TIER
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task
from touchstone.references import Reference
from touchstone.statistics.tallies import Judged, JudgeKey

KIND: Final = "gate_check"
PASS, FAIL = "pass", "fail"
CLASSES = (PASS, FAIL)
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"gate": (KIND, TIER), "individual": ("individual_scoring", TIER)}
)
"""The calls of a submission that bring verdicts, by what they are for: the kind of the verdict, and the tier asked."""
DECIDED = frozenset({"challenge", "final"})
"""The states of a task in which its parties may read each other's work; before, a label would tell of it."""


def submission_ref(tenant: str, record_id: str) -> Reference:
    """The submission that a label names: `<task id>.<submission id>`."""
    task_id, _, submission_id = record_id.partition(".")
    return Reference(tenant, "submission", submission_id, task_id)


def judged_criterion(task: Task, submission: Submission, item: str) -> Judged:
    """Whether a submission meets a criterion, as its gate check says; `item` is the criterion's number from 1.

    Raises `NotFoundError` where its task has no such criterion, `ConflictError` until the task is decided.
    """
    criteria = task.request.brief.acceptance_criteria
    numbers = [str(number) for number in range(1, len(criteria) + 1)]
    if item not in numbers:
        raise NotFoundError(f"There is no such criterion; this task has {len(criteria)}, counted from 1.")
    if task.state not in DECIDED:
        raise ConflictError("This task is not decided yet; label its submissions when it is.")
    gate, verdict = submission.gate, None
    if gate is not None:
        verdict = (FAIL, PASS)[gate.criteria_checks[numbers.index(item)].passed]
    return Judged(classes=CLASSES, verdict=verdict, confidence=None, judge=_judge(submission))


def _judge(submission: Submission) -> JudgeKey | None:
    """Who checked the criteria, as the check says itself.

    Where it does not, by the calls: nobody is asked about a blank text, and all replies may be of one judge.
    """
    found = None if submission.gate is None else submission.gate.judge
    if found is None and submission.gate is not None and not any(one.purpose == "gate" for one in submission.spends):
        found = BY_CHECKS
    found = found or sole_replier(submission.spends, "gate")
    return None if found is None else card_key(found)


def card_key(judge: JudgedBy) -> JudgeKey:
    """Whose card a label of a check counts for. What needed no judge has no tier."""
    tier = None if judge == BY_CHECKS else TIER
    return JudgeKey(model=judge.model, tier=tier, prompt_version=judge.prompt_version, kind=KIND)
