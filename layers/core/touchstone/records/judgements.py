"""The judgements of submissions: each step is one transaction with the state of its task.

Submissions are judged while their task is open or being scored, and scored again while its ranking may be challenged.
The transaction of a step checks that the task is still in such a state, so that a decided result does not change.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Never

from touchstone.judges.spends import Spend, paying
from touchstone.oracle import submission as steps
from touchstone.oracle.submission import Submission, SubmissionState, SubmissionStep
from touchstone.oracle.task import TaskState
from touchstone.records.jobs import Job
from touchstone.records.keys import Key, key_of
from touchstone.records.table import Action, OfKind, read
from touchstone.records.versioned import Versioned
from touchstone.references import Reference

BEING_JUDGED: frozenset[TaskState] = frozenset({"open", "scoring"})
"""The states of a task in which its submissions are checked, scored and compared."""
CHALLENGED: frozenset[TaskState] = frozenset({"challenge"})
"""The states of a task in which a submission may be scored again."""


class Judgements(OfKind[Job[Submission, Never]]):
    """The judgements of submissions.

    Every method raises `NotFoundError` for a reference that this tenant does not have, and `StoreError` if the store
    fails. All methods are safe to repeat, and a repeat returns the record as it is stored then. If a submission is not
    judged when its task is decided, its next step makes it `overtaken`; a judged submission stays as it is.
    """

    @cached_property
    def _records(self) -> Versioned[Submission]:
        return Versioned(self.how.stored(), self._table, self._artifacts, pause=self._pause)

    def begin(
        self, ref: Reference, *, at: SubmissionState, during: frozenset[TaskState] = BEING_JUDGED
    ) -> tuple[Submission, bool]:
        """Begin a try at the work of a state. The flag says whether this caller may make it: of many exactly one."""
        before: Submission | None = None

        def step(one: Submission) -> Submission:
            nonlocal before
            before = one
            return steps.begun(one, at=at, now=self._clock())

        after = self.judged(ref, step, during=during)
        return after, before is not None and after.attempts != before.attempts

    def change(self, ref: Reference, step: SubmissionStep) -> Submission:
        """Take a step whatever has happened to the task. Return the submission after it."""
        return self._records.change(ref.tenant, key_of(ref), step)

    def judged(
        self,
        ref: Reference,
        step: SubmissionStep,
        *,
        spends: Sequence[Spend] = (),
        during: frozenset[TaskState] = BEING_JUDGED,
    ) -> Submission:
        """Take a step while the submission's task is in a state of `during`. Return the submission after it.

        If the submission changes, `spends` are added to the calls that were paid for it. The same transaction checks
        that the task is still in such a state, so that a decided result does not change.
        """
        task = key_of(ref.task)

        def in_time(one: Submission) -> Submission:
            item = read(self._table, task, "the task")
            return step(one) if item is not None and item["state"] in during else steps.overtaken(one)

        def still(after: Submission) -> Sequence[Action]:
            return () if after.state == "overtaken" else (_in_state(task, during),)

        return self._records.change(ref.tenant, key_of(ref), paying(in_time, spends), also_write=still)


def _in_state(task: Key, states: frozenset[TaskState]) -> Action:
    values = {f":state{number}": state for number, state in enumerate(sorted(states))}
    return {
        "ConditionCheck": {
            "Key": task,
            "ConditionExpression": f"#state IN ({', '.join(values)})",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": values,
        }
    }
