"""The judgements of submissions: each step is one transaction with the state of its task.

Submissions are judged while their task is open or being scored, and scored again while its ranking may be challenged.
The transaction of a step checks that the task is still in such a state, so that a decided result does not change.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Never

from touchstone.attempts import TryEnd
from touchstone.judges.spends import Spend
from touchstone.oracle import submission as steps
from touchstone.oracle.model import GateCheck, IndividualScoring, JudgeOpinion, Unjudged
from touchstone.oracle.passages import Passage
from touchstone.oracle.submission import FinalistComparison, Submission, SubmissionState
from touchstone.oracle.task import TaskState
from touchstone.records.jobs import Job
from touchstone.records.keys import Key, key_of, task_key
from touchstone.records.table import Action, OfKind, read
from touchstone.records.versioned import Versioned
from touchstone.references import Reference

BEING_JUDGED: frozenset[TaskState] = frozenset({"open", "scoring"})
"""The states of a task in which its submissions are checked, scored and compared."""
CHALLENGED: frozenset[TaskState] = frozenset({"challenge"})
"""The states of a task in which a submission may be scored again."""

type Step = Callable[[Submission], Submission]


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

    def put_back(
        self,
        ref: Reference,
        *,
        why: Unjudged,
        until: datetime,
        ended: TryEnd,
        spends: Sequence[Spend] = (),
        during: frozenset[TaskState] = BEING_JUDGED,
    ) -> Submission:
        """Record that a try brought nothing, and why; `ended` is what that says about the work."""

        def step(one: Submission) -> Submission:
            return steps.put_back(one, why, until=until, ended=ended, spends=spends)

        return self.judged(ref, step, spends=spends, during=during)

    def gate(self, ref: Reference, *, check: GateCheck, spends: Sequence[Spend] = ()) -> Submission:
        """Keep the result of the gate check; a repeat keeps the first."""
        return self.judged(ref, lambda one: steps.gated(one, check, spends=spends), spends=spends)

    def score(
        self,
        ref: Reference,
        *,
        scoring: IndividualScoring,
        race: bool = False,
        readings: Sequence[JudgeOpinion] = (),
        passages: Sequence[Passage] = (),
        spends: Sequence[Spend] = (),
    ) -> Submission:
        """Keep the scores and what they were made of; a repeat keeps the first. `race`: see `submission.scored`.

        Raises `ConflictError` for a submission that did not pass its gate.
        """

        def step(one: Submission) -> Submission:
            return steps.scored(one, scoring, race=race, readings=readings, passages=passages, spends=spends)

        return self.judged(ref, step, spends=spends)

    def give_up(self, ref: Reference, *, why: Unjudged, spends: Sequence[Spend] = ()) -> Submission:
        """Record that nobody could judge the submission, and why. A judged submission stays as it is."""
        return self.judged(ref, lambda one: steps.given_up(one, why, spends=spends), spends=spends)

    def compare(
        self,
        ref: Reference,
        *,
        comparisons: Sequence[FinalistComparison],
        uncompared: Sequence[str] = (),
        why: Unjudged | None = None,
        spends: Sequence[Spend] = (),
    ) -> Submission:
        """Keep the comparisons of a finalist with the other finalists; a repeat keeps the first.

        Raises `ConflictError` for a submission that was not scored.
        """

        def step(one: Submission) -> Submission:
            return steps.compared(one, comparisons, uncompared=uncompared, why=why, spends=spends)

        return self.judged(ref, step, spends=spends)

    def rescore(
        self,
        ref: Reference,
        *,
        scoring: IndividualScoring,
        readings: Sequence[JudgeOpinion] = (),
        passages: Sequence[Passage] = (),
        spends: Sequence[Spend] = (),
    ) -> Submission:
        """Keep the scores that a challenge brought, while the ranking may be challenged; otherwise nothing changes.

        Raises `ConflictError` for a submission that did not pass its gate.
        """

        def step(one: Submission) -> Submission:
            return steps.rescored(one, scoring, readings=readings, passages=passages, spends=spends)

        return self.judged(ref, step, spends=spends, during=CHALLENGED)

    def change(self, ref: Reference, step: Step) -> Submission:
        """Take a step whatever has happened to the task. Return the submission after it."""
        return self._records.change(ref.tenant, key_of(ref), step)

    def judged(
        self, ref: Reference, step: Step, *, spends: Sequence[Spend] = (), during: frozenset[TaskState] = BEING_JUDGED
    ) -> Submission:
        """Take a step while the submission's task is in a state of `during`. Return the submission after it.

        The same transaction checks that the task is still in such a state, so that a decided result does not change.
        """
        task = task_key(ref.tenant, ref.task_id)

        def in_time(one: Submission) -> Submission:
            item = read(self._table, task, "the task")
            if item is not None and item["state"] in during:
                return step(one)
            return steps.overtaken(one, spends=spends)

        def still(after: Submission) -> Sequence[Action]:
            return () if after.state == "overtaken" else (_in_state(task, during),)

        return self._records.change(ref.tenant, key_of(ref), in_time, also_write=still)


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
