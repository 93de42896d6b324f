"""The sweep: what a crash left behind is taken up again or brought to an end, and the backlog is measured."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.answers.model import AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.operations.finishing import OUT_OF_TIME, finish_skipped
from touchstone.records import (
    ENDED,
    Answers,
    Backlog,
    DeferredEvaluation,
    DeferredQueue,
    Evaluations,
    UnfinishedAnswer,
)
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a waiting or running record has lost whoever carried it."""
UNFINISHED_AFTER = timedelta(minutes=45)
"""Solving is given up after 30 minutes, a chunk of a batch after 15: whoever worked on an older answer is gone."""
NO_ANSWER = "The work on this problem was interrupted before there was an answer; ask again."
QUEUE_KEEPS = timedelta(days=14)
RESEND_EVERY = QUEUE_KEEPS - timedelta(days=1)
"""The age, and each multiple of it, at which a message is sent again: before the queue would forget it."""
RESEND_WINDOW = timedelta(minutes=30)
"""Two sweeps' time: a request comes of that age in one sweep or two, and in no other."""
MOST = 200
"""Records taken up in one sweep; the next one, a quarter of an hour later, takes the rest."""
MOST_RESENT = 2_000
"""Messages sent in one sweep, within its five minutes. One too many is just not sent: the drain goes by the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep found: the deferred backlog, the age of its oldest, and how many records were taken up again.

    `oldest_seconds` is 0.0 where nothing is deferred. `ended` are answers whose work had stopped and that now have an
    end; `stuck` counts those that could not be given one, and are tried again by the next sweep.
    """

    backlog: Backlog
    oldest_seconds: float
    restarted: int
    resent: int
    ended: tuple[AnswerRecord, ...]
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Looks for answers and deep evaluations that nothing carries any more."""

    answers: Answers
    evaluations: Evaluations
    queue: DeferredQueue
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> Swept:
        """Restart what stalled, end what was abandoned, send again what the queue forgets, and measure the backlog."""
        restarted, backlog = self._restart(), self.evaluations.backlog()
        ended, stuck = self._end()
        oldest = backlog.oldest_requested_at
        age = timedelta(0) if oldest is None else max(timedelta(0), self.clock() - oldest)
        return Swept(
            backlog=backlog,
            oldest_seconds=age.total_seconds(),
            restarted=restarted,
            resent=self._resend(age),
            ended=ended,
            stuck=stuck,
        )

    def _restart(self) -> int:
        stalled = self.evaluations.stalled(older_than=STALLED_AFTER, limit=MOST)
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"{self.clock():%Y%m%d%H}"
        for pending in stalled:
            self.workflows().evaluate(tenant=pending.tenant, answer_id=pending.answer_id, run=run)
        return len(stalled)

    def _end(self) -> tuple[tuple[AnswerRecord, ...], int]:
        ended: list[AnswerRecord] = []
        stuck = 0
        for unfinished in self.answers.unfinished(older_than=UNFINISHED_AFTER, limit=MOST):
            try:
                record = self._ended(unfinished)
            except TouchstoneError:
                stuck += 1  # one record that cannot be read or written must not keep the others from their end
            else:
                ended += [] if record is None else [record]
        return tuple(ended), stuck

    def _ended(self, unfinished: UnfinishedAnswer) -> AnswerRecord | None:
        """The answer with an end: what it has, unverified where nobody decided; None where it had one already."""
        tenant, answer_id = unfinished.tenant, unfinished.answer_id
        record = self.answers.get(tenant=tenant, answer_id=answer_id)
        if record.stage in ENDED:
            return None
        if record.attempts:
            return finish_skipped(self.answers, record, reason="timed_out", sentence=OUT_OF_TIME)
        return self.answers.fail(tenant=tenant, answer_id=answer_id, failure=NO_ANSWER)

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
