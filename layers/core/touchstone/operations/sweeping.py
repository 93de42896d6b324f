"""The sweep: what a crash left behind is taken up again or brought to an end, and the backlog is measured."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.operations.again import WAITS_FOR, AgainMessage
from touchstone.operations.finishing import fail_or_finish
from touchstone.operations.jobs.sweep import MOST, Sweep, SweptJob
from touchstone.records import (
    Answers,
    Backlog,
    DeferredEvaluation,
    DeferredQueue,
    Evaluations,
)
from touchstone.references import Reference
from touchstone.workflows import Workflows

UNFINISHED_AFTER = timedelta(minutes=45)
"""Solving is given up after 30 minutes, a chunk of a batch after 15: whoever worked on an older answer is gone."""
GIVEN_UP_AFTER = timedelta(days=1)
"""After the days of its tries an answer that came by a message is verified a last time; nobody did so for so long."""
NO_ANSWER = "The work on this problem was interrupted before there was an answer; ask again."
QUEUE_KEEPS = timedelta(days=14)
RESEND_EVERY = QUEUE_KEEPS - timedelta(days=1)
"""The age, and each multiple of it, at which a message is sent again: before the queue would forget it."""
RESEND_WINDOW = timedelta(minutes=30)
"""Two sweeps' time: a request comes of that age in one sweep or two, and in no other."""
MOST_PASSED_OVER = 1_000
"""Records that cannot be given an end, read past in one sweep. Being the oldest they come first each time, and must not
keep the others from theirs."""
MOST_RESENT = 2_000
"""Messages sent in one sweep, within its five minutes. One too many is just not sent: the drain goes by the records."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptAnswers:
    """What a sweep found: the deferred backlog, the age of its oldest, and how many records were taken up again.

    `oldest_seconds` is 0.0 where nothing is deferred. `ended` are answers whose work had stopped and that now have an
    end; `stuck` counts the answers that could not be given one and the evaluations that could not be started again: all
    are tried again by the next sweep.
    """

    backlog: Backlog
    oldest_seconds: float
    restarted: int
    resent: int
    ended: tuple[AnswerRecord, ...]
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSweep:
    """Looks for answers and deep evaluations that nothing carries any more.

    `again` sends the message by which an answer that waits, and came by a message, is verified once more.
    """

    answers: Answers
    evaluations: Evaluations
    queue: DeferredQueue
    workflows: Callable[[], Workflows]
    again: Callable[[AgainMessage], None]
    clock: Clock = system_clock

    def run(self) -> SweptAnswers:
        """Restart what stalled, end what was abandoned, send again what the queue forgets, and measure the backlog."""
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
        """The answers that were given an end, and how many could not be."""
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
        """The answer with an end: what it has, unverified where nobody decided; None where it is tried once more, or
        has had its end already.
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
    # Its type only: the words of an unreadable record's error quote it.
    logger.error("Answer %s of %s could not be given an end: %s", stuck.id, stuck.tenant, type(error).__name__)
