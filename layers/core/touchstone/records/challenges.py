"""Challenges to the rankings of contests, in their task's partition of the table.

A challenge is stored in one transaction with its task. The task counts it, and its result stays open until the
challenge is decided.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Never

from touchstone.attempts import TryEnd
from touchstone.judges.spends import Spend
from touchstone.oracle import challenge as steps
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.model import IndividualScoring, JudgeOpinion, Unjudged
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Place
from touchstone.oracle.task import challenged
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import CHALLENGES, key_of, task_key
from touchstone.records.table import partition
from touchstone.records.tasks import TASK


class Challenges(JobStore[Challenge, Never]):
    """The challenges to all rankings.

    Every method raises `NotFoundError` for a record that this tenant does not have, and `StoreError` if the store
    fails. All methods are safe to repeat.
    """

    def add(
        self, *, tenant: str, task_id: str, challenge_id: str, request: ChallengeRequest, own: bool = False
    ) -> Challenge:
        """Make a challenge; a repeat returns the stored one, even after the challenge period.

        `own`: the challenge is to the challenger's own place. Raises `ConflictError` if the ranking takes no challenge,
        or if the id belongs to another request.
        """
        now = self._clock()
        record = Challenge(
            tenant=tenant,
            task_id=task_id,
            id=challenge_id,
            challenger=request.challenger,
            submission_id=request.submission_id,
            reason=request.reason,
            created_at=now,
        )
        key = key_of(record.ref)
        if (stored := self._records.find(tenant, key)) is not None:
            return self._records.same(stored, record)
        self._beside(TASK).change(
            tenant,
            task_key(tenant, task_id),
            lambda task: challenged(task, challenge_id, own=own, now=now),
            also_write=lambda _: (self._records.inserting(record),),
        )
        return self._records.same(self._records.read(tenant, key), record)

    def of_task(self, *, tenant: str, task_id: str) -> tuple[Challenge, ...]:
        """All challenges to a task's ranking, oldest first, strongly consistent."""
        found = partition(self._table, "the challenges", task_key(tenant, task_id)["pk"], begins=CHALLENGES)
        records = (self._records.of_item(tenant, item).record for item in found)
        return tuple(sorted(records, key=lambda one: one.created_at))

    def begin_rescoring(self, challenge: Challenge) -> tuple[Challenge, bool]:
        """Begin a try to score again. The flag says whether this caller may make it: of many at once exactly one."""
        return self.begin(challenge.ref, lambda one: steps.begun(one, now=self._clock()))

    def put_back(
        self, challenge: Challenge, *, why: Unjudged, until: datetime, ended: TryEnd, spends: Sequence[Spend] = ()
    ) -> Challenge:
        """Record that a try brought nothing, and why; `ended` is what that says about the work."""
        return self._step(challenge, lambda one: steps.put_back(one, why, until=until, ended=ended, spends=spends))

    def keep_from_sweep(self, challenge: Challenge, *, until: datetime) -> Challenge:
        """Note that a process carries the challenge on and looks at it again at `until`: the sweep leaves it alone."""
        return self._step(challenge, lambda one: steps.carried(one, until))

    def choose(self, challenge: Challenge, provider: str) -> Challenge:
        """Keep the provider that scores again; a repeat keeps the first."""
        return self._step(challenge, lambda one: steps.chosen(one, provider))

    def rescore(
        self,
        challenge: Challenge,
        *,
        scoring: IndividualScoring,
        readings: Sequence[JudgeOpinion],
        passages: Sequence[Passage],
        spends: Sequence[Spend] = (),
    ) -> Challenge:
        """Keep the second opinion; a repeat keeps the first."""
        return self._step(
            challenge, lambda one: steps.rescored(one, scoring, readings=readings, passages=passages, spends=spends)
        )

    def to_compare(self, challenge: Challenge, finalists: Sequence[str]) -> Challenge:
        """Keep which finalists must be compared again because of the challenge."""
        return self._step(challenge, lambda one: steps.to_compare(one, finalists))

    def decide(
        self,
        challenge: Challenge,
        state: Literal["upheld", "rejected"],
        *,
        places: Sequence[Place] = (),
        spends: Sequence[Spend] = (),
    ) -> Challenge:
        """Keep the decision; a repeat keeps the first."""
        return self._step(
            challenge, lambda one: steps.decided(one, state, places=places, now=self._clock(), spends=spends)
        )

    def give_up(self, challenge: Challenge, *, why: Unjudged, spends: Sequence[Spend] = ()) -> Challenge:
        """Record that nobody could judge the challenge, and why: the ranking stands."""
        return self._step(challenge, lambda one: steps.unresolved(one, why, now=self._clock(), spends=spends))

    def settle(self, challenge: Challenge) -> Challenge:
        """Note that the task and its submissions have the decision, so that the sweep leaves the challenge alone."""
        return self._step(challenge, steps.settled)

    def _step(self, challenge: Challenge, step: Callable[[Challenge], Challenge]) -> Challenge:
        return self.change(challenge.ref, step)


def _due(challenge: Challenge) -> datetime | None:
    if challenge.settled:
        return None
    moments = (challenge.created_at, challenge.attempts.not_before, challenge.carried_until)
    return max(moment for moment in moments if moment is not None)


CHALLENGE = Job[Challenge, Never](
    kind="challenge",
    plural="challenges",
    model=Challenge,
    asked=lambda one: f"{one.challenger}\n{one.submission_id}\n{one.reason}",
    due=_due,
)
"""How challenges are stored."""
