"""The sweep over answers: it restarts or ends what a crash left behind, and measures the backlog."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.operations.answers.again import WAITS_FOR, AgainMessage
from touchstone.operations.answers.finishing import fail_or_finish
from touchstone.operations.jobs.sweep import MOST, Sweep, SweptJob
from touchstone.records import Answers, Backlog, DeferredEvaluation, DeferredQueue, Evaluations
from touchstone.references import Reference
from touchstone.workflows import Workflows

UNFINISHED_AFTER = timedelta(minutes=45)
"""Solving is given up after 30 minutes, a chunk of a batch after 15. The process that worked on an older answer is
gone."""
GIVEN_UP_AFTER = timedelta(days=1)
"""How long after `WAITS_FOR` an answer that came by a message waits for its last verification. Then it is ended."""
NO_ANSWER = "The work on this problem was interrupted before there was an answer; ask again."
QUEUE_KEEPS = timedelta(days=14)
RESEND_EVERY = QUEUE_KEEPS - timedelta(days=1)
"""A message is sent again at this age and at each multiple of it, before the queue would delete it."""
RESEND_WINDOW = timedelta(minutes=30)
"""The time of two sweeps: a request reaches such an age in one sweep or two, and in no other."""
MOST_PASSED_OVER = 1_000
"""How many records that cannot be ended are passed over in one sweep. They are the oldest, so they come first each
time, and must not keep the others from their end."""
MOST_RESENT = 2_000
"""The most messages sent in one sweep, within its five minutes. A message that is left out does no harm: the drain goes
by the records."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptAnswers:
    """The result of a sweep: the deferred backlog, the age of its oldest request, and the counts of what was done.

    `oldest_seconds` is 0.0 if nothing is deferred. `ended` are answers whose work had stopped and that the sweep ended.
    `stuck` counts the answers that could not be ended and the evaluations that could not be started again; the next
    sweep tries all of them again.
    """

    backlog: Backlog
    oldest_seconds: float
    restarted: int
    resent: int
    ended: tuple[AnswerRecord, ...]
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSweep:
    """Finds answers and deep evaluations that nothing carries any more.

    `again` sends the message that has a waiting answer tried once more, if the answer came by a message.
    """

    answers: Answers
    evaluations: Evaluations
    queue: DeferredQueue
    workflows: Callable[[], Workflows]
    again: Callable[[AgainMessage], None]
    clock: Clock = system_clock

    def run(self) -> SweptAnswers:
        """Restart stalled evaluations, end abandoned answers, and measure the backlog.

        Messages that the queue would soon delete are sent again.
        """
        evaluations = SweptJob(machine="evaluate", unfinished=self._stalled)
        swept = Sweep(jobs=(evaluations,), workflows=self.workflows, clock=self.clock).run()
        backlog = self.evaluations.backlog()
        ended, without_end = self._end()
        oldest = backlog.oldest_requested_at
        age = timedelta(0) if oldest is None else max(timedelta(0), self.clock() - oldest)
        return SweptAnswers(
            backlog=backlog,
            oldest_seconds=age.total_seconds(),
            restarted=swept.restarted,
            resent=self._resend(age),
            ended=ended,
            stuck=swept.stuck + without_end,
        )

    def _stalled(self, *, older_than: timedelta, limit: int) -> tuple[Reference, ...]:
        stalled = self.evaluations.stalled(older_than=older_than, limit=limit)
        return tuple(Reference(pending.tenant, "answer", pending.answer_id) for pending in stalled)

    def _end(self) -> tuple[tuple[AnswerRecord, ...], int]:
        """The answers that this sweep ended, and how many could not be ended."""
        ended: list[AnswerRecord] = []
        stuck = 0
        for unfinished in self.answers.unfinished(older_than=UNFINISHED_AFTER, limit=MOST + MOST_PASSED_OVER):
            if len(ended) == MOST:
                break
            try:
                record = self._ended(unfinished)
            except (TouchstoneError, ValidationError) as error:
                # One record that cannot be read or written must not keep the others from their end.
                stuck += 1
                _tell(unfinished, error)
            else:
                ended += [] if record is None else [record]
        return tuple(ended), stuck

    def _ended(self, unfinished: Reference) -> AnswerRecord | None:
        """The answer as this sweep ended it: with what it has, unverified if nobody decided.

        None if the answer is tried once more, or has ended already.
        """
        record = self.answers.get(Reference(unfinished.tenant, "answer", unfinished.id))
        if record.stage in ENDED:
            return None
        if record.waiting is not None:
            waited = record.waiting
            if record.batch_id is None and self.clock() - record.created_at < WAITS_FOR + GIVEN_UP_AFTER:
                name = f"{record.id}@{waited.until.isoformat()}"
                self.again(AgainMessage(tenant=record.tenant, id=name, answer_id=record.id))
                return None
            return fail_or_finish(
                self.answers, record, failure=waited.sentence, skipped=waited.reason, sentence=waited.sentence
            )
        return fail_or_finish(self.answers, record, failure=NO_ANSWER, skipped="timed_out")

    def _resend(self, oldest: timedelta) -> int:
        now = self.clock()
        edges = (now - RESEND_EVERY * times for times in range(1, oldest // RESEND_EVERY + 1))
        return sum(self._send_requested_at(edge) for edge in edges)

    def _send_requested_at(self, edge: datetime) -> int:
        coming_of_age = self.evaluations.oldest_deferred(
            limit=MOST_RESENT, not_before=edge - RESEND_WINDOW, not_after=edge
        )
        for pending in coming_of_age:
            self.queue.send(
                DeferredEvaluation(tenant=pending.tenant, answer_id=pending.answer_id, request_id=pending.request_id)
            )
        return len(coming_of_age)


def _tell(stuck: Reference, error: Exception) -> None:
    # Log the error's type only: the message of a validation error quotes the record.
    logger.error("Answer %s of %s could not be given an end: %s", stuck.id, stuck.tenant, type(error).__name__)
