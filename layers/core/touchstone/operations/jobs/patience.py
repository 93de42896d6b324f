"""Judges for work that nobody waits for: they wait until a full minute of quota is over.

For a caller who waits, the answer would be `unverified` instead.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import BaseModel

from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import FailedCall, JudgeError, LimitError, QuotaExceededError, TimedOutError
from touchstone.judges.base import Around, Judge, JudgeQuestion, Purpose, Reply, Tier
from touchstone.judges.opening import Judges

type Sleep = Callable[[float], Awaitable[None]]
type Waits = Callable[[JudgeError | LimitError, datetime], None]
"""Called at each wait with what is waited for, and until when (UTC)."""


def _untold(error: JudgeError | LimitError, until: datetime) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientJudge(Around[Judge]):
    """A judge that waits for the next slot of the minute, as long as the deadline allows.

    The deadline limits the whole wait; the question limits the time of one try.
    """

    inner: Judge
    clock: Clock
    sleep: Sleep
    waits: Waits = _untold

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask; raises as any judge does, and `QuotaExceededError` if the next slot lies behind the deadline.

        A wait before anything was sent costs nothing and may be repeated without limit. A call that failed, and whose
        repetition a full minute prevented, is repeated once, so that the cost does not grow with the deadline. If a
        wait leaves no time to ask, the error is the one that was waited for.
        """
        paid: tuple[FailedCall, ...] = ()
        held_up: JudgeError | None = None
        waited_for: JudgeError | LimitError | None = None
        while True:
            try:
                reply = await self.inner.ask(question, deadline=deadline)
                return replace(reply, failed_calls=(*paid, *reply.failed_calls))
            except (JudgeError, LimitError) as error:
                paid = (*paid, *error.failed_calls)
                # A limit met after a failure does not hide the failure.
                raised = error if isinstance(error, JudgeError) or held_up is None else held_up
                if waited_for is not None and isinstance(error, TimedOutError) and not error.sent:
                    raised = held_up or waited_for
                raised.failed_calls = paid
                free_at = _free_at(error)
                pause = 0.0 if free_at is None else max(0.0, (free_at - self.clock()).total_seconds())
                if free_at is None or pause >= deadline.remaining:
                    raise raised from raised.__cause__
                if isinstance(error, JudgeError):
                    if held_up is not None:
                        raise
                    held_up = error
                waited_for = error
                self.waits(error, free_at)
                await self.sleep(pause)


def _free_at(error: JudgeError | LimitError) -> datetime | None:
    """When the full minute has a unit again (UTC). None if waiting for it does not help."""
    match error:
        case JudgeError():
            return error.repeat_at
        case QuotaExceededError(window="minute"):
            return error.until
        case _:
            return None


class PatientJudges(Judges):
    """As `Judges`, but each judge waits for the minute's next slot. `sleep` is how a wait passes."""

    sleep = staticmethod(asyncio.sleep)

    def get(self, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        """The judge for a tier of a provider, as a `PatientJudge`."""
        return self._patient(super().get(provider, tier, purpose=purpose))

    def named(self, provider: str, model: str) -> Judge:
        """The judge that is a model of a provider, as a `PatientJudge`."""
        return self._patient(super().named(provider, model))

    def _patient(self, judge: Judge) -> Judge:
        return PatientJudge(inner=judge, clock=system_clock, sleep=self.sleep, waits=self.waits)

    def waits(self, error: JudgeError | LimitError, until: datetime) -> None:
        """Called at each wait; it does nothing here."""
