"""Challenges to the rankings of contests, in their task's partition of the table.

A challenge is made by one transaction with its task, which counts it and holds the result open until it is decided.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from touchstone.attempts import TryEnd
from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import Spend
from touchstone.oracle import challenge as steps
from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.model import IndividualScoring
from touchstone.oracle.passages import Passage
from touchstone.oracle.ranking import Place
from touchstone.oracle.readings import Reading
from touchstone.oracle.task import challenged
from touchstone.oracle.unjudged import Unjudged
from touchstone.records.artifacts import Artifacts
from touchstone.records.keys import CHALLENGE, challenge_key, record_of, sortable, task_key
from touchstone.records.lists import due_until
from touchstone.records.table import Item, query
from touchstone.records.tasks import TASK
from touchstone.records.versioned import Kind, Versioned
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "CHALLENGE#unfinished"
"""The partition of the `deferred` index where challenges that are not settled are, of all tenants."""


class Challenges:
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
        self._table = table
        self._records = Versioned(CHALLENGE_KIND, table, artifacts, pause=pause)
        self._tasks = Versioned(TASK, table, artifacts, pause=pause)
        self._clock = clock

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
        key = challenge_key(tenant, task_id, challenge_id)
        if (stored := self._records.find(tenant, key)) is not None:
            return self._records.same(stored, record)
        self._tasks.change(
            tenant,
            task_key(tenant, task_id),
            lambda task: challenged(task, challenge_id, own=own, now=now),
            beside=lambda _: (self._records.inserting(record),),
        )
        return self._records.same(self._records.read(tenant, key), record)

    def get(self, *, tenant: str, task_id: str, challenge_id: str) -> Challenge:
        """A challenge."""
        return self._records.read(tenant, challenge_key(tenant, task_id, challenge_id)).record

    def of_task(self, *, tenant: str, task_id: str) -> tuple[Challenge, ...]:
        """All challenges to a task's ranking, oldest first, strongly consistent."""
        found = query(
            self._table,
            "the challenges",
            KeyConditionExpression="pk = :pk AND begins_with(sk, :challenge)",
            ExpressionAttributeValues={":pk": task_key(tenant, task_id)["pk"], ":challenge": CHALLENGE},
            ConsistentRead=True,
        )
        records = (self._records.of_item(tenant, item).record for item in found)
        return tuple(sorted(records, key=lambda one: one.created_at))

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[Reference, ...]:
        """Challenges of all tenants whose next try was due longer ago than `older_than`, oldest first.

        Read from an index: one that was settled a moment ago may still be among them.
        """
        moment = self._clock() - older_than
        found = due_until(self._table, "undecided challenges", kind=UNFINISHED, moment=moment, limit=limit)
        return tuple(_undecided_of(item) for item in found)

    def begin(self, challenge: Challenge) -> tuple[Challenge, bool]:
        """Begin a try to score again, and whether it may be made: of many at once exactly one may."""
        key = CHALLENGE_KIND.key(challenge)
        return self._records.begin(challenge.tenant, key, lambda one: steps.begun(one, now=self._clock()))

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
        readings: Sequence[Reading],
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
        return self._records.change(challenge.tenant, CHALLENGE_KIND.key(challenge), step)


def _derived(challenge: Challenge) -> Item:
    if challenge.settled:
        return {}
    moments = (challenge.created_at, challenge.attempts.not_before, challenge.carried_until)
    due = max(moment for moment in moments if moment is not None)
    return {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(due)}#{challenge.id}"}


CHALLENGE_KIND = Kind(
    name="challenge",
    model=Challenge,
    key=lambda one: challenge_key(one.tenant, one.task_id, one.id),
    asked=lambda one: f"{one.challenger}\n{one.submission_id}\n{one.reason}",
    derived=_derived,
)
"""How challenges are stored."""


def _undecided_of(item: Item) -> Reference:
    tenant, task_id = record_of(str(item["pk"]))
    return Reference(tenant, "challenge", str(item["sk"]).removeprefix(CHALLENGE), task_id)
