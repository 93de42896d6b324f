"""Challenges to the rankings of contests, in their task's partition of the table.

A challenge is made by one transaction with its task, which counts it and holds the result open until it is decided.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Never

from touchstone.attempts import TryEnd
from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import Spend
from touchstone.oracle import challenge as steps
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.model import IndividualScoring
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Place
from touchstone.oracle.readings import JudgeOpinion
from touchstone.oracle.task import challenged
from touchstone.oracle.unjudged import Unjudged
from touchstone.records.artifacts import Artifacts
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import CHALLENGES, key_of, task_key
from touchstone.records.table import query
from touchstone.records.tasks import TASK
from touchstone.records.versioned import Versioned

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


class Challenges(JobStore[Challenge, Never]):
    """The challenges to all rankings.

    Every method raises `NotFoundError` for what this tenant does not have, and `StoreError` where the store fails; all
    are safe to repeat.
    """

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(CHALLENGE, table, artifacts, clock=clock, pause=pause)
        self._tasks = Versioned(TASK.stored(), table, artifacts, pause=pause)

    def add(
        self, *, tenant: str, task_id: str, challenge_id: str, request: ChallengeRequest, own: bool = False
    ) -> Challenge:
        """Make a challenge; a repeat returns the stored one, even after its time. `own`: to the challenger's own place.

        Raises `ConflictError` where the ranking takes no challenge, or the id belongs to another request.
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
        self._tasks.change(
            tenant,
            task_key(tenant, task_id),
            lambda task: challenged(task, challenge_id, own=own, now=now),
            beside=lambda _: (self._records.inserting(record),),
        )
        return self._records.same(self._records.read(tenant, key), record)

    def of_task(self, *, tenant: str, task_id: str) -> tuple[Challenge, ...]:
        """All challenges to a task's ranking, oldest first, strongly consistent."""
        found = query(
            self._table,
            "the challenges",
            KeyConditionExpression="pk = :pk AND begins_with(sk, :challenge)",
            ExpressionAttributeValues={":pk": task_key(tenant, task_id)["pk"], ":challenge": CHALLENGES},
            ConsistentRead=True,
        )
        records = (self._records.of_item(tenant, item).record for item in found)
        return tuple(sorted(records, key=lambda one: one.created_at))

    def begin_rescoring(self, challenge: Challenge) -> tuple[Challenge, bool]:
        """Begin a try to score again, and whether it may be made: of many at once exactly one may."""
        return self.begin(challenge.ref, lambda one: steps.begun(one, now=self._clock()))

    def put_back(
        self, challenge: Challenge, *, why: Unjudged, until: datetime, ended: TryEnd, spends: Sequence[Spend] = ()
    ) -> Challenge:
        """Keep that a try brought nothing, and why; `ended` is what it tells of the work."""
        return self._step(challenge, lambda one: steps.put_back(one, why, until=until, ended=ended, spends=spends))

    def carry(self, challenge: Challenge, *, until: datetime) -> Challenge:
        """Note that somebody carries it on, who looks at it again at `until`; so the sweep leaves it."""
        return self._step(challenge, lambda one: steps.carried(one, until))

    def choose(self, challenge: Challenge, provider: str) -> Challenge:
        """Keep who scores again; a repeat keeps the first."""
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
            challenge,
            lambda one: steps.rescored(one, scoring, readings=readings, passages=passages, spends=spends),
        )

    def to_compare(self, challenge: Challenge, finalists: Sequence[str]) -> Challenge:
        """Keep who must be compared again because of it."""
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

    def leave(self, challenge: Challenge, *, why: Unjudged, spends: Sequence[Spend] = ()) -> Challenge:
        """Keep that nobody could judge, and why: the ranking stands."""
        return self._step(challenge, lambda one: steps.unresolved(one, why, now=self._clock(), spends=spends))

    def settle(self, challenge: Challenge) -> Challenge:
        """Note that the task and its submissions say what was decided; so the sweep leaves it."""
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
