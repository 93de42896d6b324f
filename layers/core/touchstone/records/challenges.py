"""Challenges to the rankings of contests, in their task's partition of the table.

A challenge is stored in one transaction with its task. The task counts it, and its result stays open until the
challenge is decided.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Never

from touchstone.oracle.challenge import Challenge, ChallengeRequest
from touchstone.oracle.task import Task, challenged
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import CHALLENGES, key_of
from touchstone.records.table import partition
from touchstone.records.tasks import TASK
from touchstone.references import Reference


class Challenges(JobStore[Challenge, Never]):
    """The challenges to all rankings.

    Every method raises `NotFoundError` for a record that this tenant does not have, and `StoreError` if the store
    fails. All methods are safe to repeat.
    """

    def add(
        self,
        task: Reference,
        *,
        challenge_id: str,
        request: ChallengeRequest,
        is_own: Callable[[Task], bool] = lambda _: False,
    ) -> Challenge:
        """Make a challenge; a repeat returns the stored one, even after the challenge period.

        `is_own` tells whether the challenge is to the challenger's own place, and raises the error by which it is
        refused. It is asked again whenever another challenge to the ranking came first, so what it counts is exact.
        Raises `ConflictError` if the ranking takes no challenge, or if the id belongs to another request.
        """
        now = self._clock()
        record = Challenge(
            tenant=task.tenant,
            task_id=task.id,
            id=challenge_id,
            challenger=request.challenger,
            submission_id=request.submission_id,
            reason=request.reason,
            created_at=now,
        )
        key = key_of(record.ref)
        if (stored := self._records.find(task.tenant, key)) is not None:
            return self._records.same(stored, record)
        self._beside(TASK).change(
            task.tenant,
            key_of(task),
            lambda one: challenged(one, challenge_id, own=is_own(one), now=now),
            also_write=lambda _: (self._records.inserting(record),),
        )
        return self._records.same(self._records.read(task.tenant, key), record)

    def of_task(self, task: Reference) -> tuple[Challenge, ...]:
        """All challenges to a task's ranking, oldest first, strongly consistent."""
        found = partition(self._table, "the challenges", key_of(task)["pk"], begins=CHALLENGES)
        records = (self._records.of_item(task.tenant, item).record for item in found)
        return tuple(sorted(records, key=lambda one: one.created_at))


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
