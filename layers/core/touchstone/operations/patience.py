"""Judges for work that nobody waits for: a full minute is waited out, where a caller would be told `unverified`."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel

from touchstone.answers.verification import VERIFY_SECONDS
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import FailedCall, JudgeError, LimitError, QuotaExceededError
from touchstone.judges.base import Judge, Purpose, Question, Reply, Tier
from touchstone.judges.opening import Judges

type Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientJudge:
    """A judge that waits for the next slot of the minute, as long as the deadline admits.

    `seconds` bounds one call, since the deadline is that of the whole wait; None: the deadline bounds it.
    """

    judge: Judge
    seconds: float | None
    clock: Clock
    sleep: Sleep

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.judge.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.judge.model

    async def ask[T: BaseModel](self, question: Question[T], *, deadline: Deadline) -> Reply[T]:
        """Ask; raises as any judge does, `QuotaExceededError` where the slot lies behind the deadline."""
        failed: tuple[FailedCall, ...] = ()
        while True:
            seconds = deadline.remaining if self.seconds is None else min(self.seconds, deadline.remaining)
            try:
                reply = await self.judge.ask(question, deadline=Deadline.after(seconds))
                return replace(reply, failed_calls=(*failed, *reply.failed_calls))
            except (JudgeError, LimitError) as error:
                error.failed_calls = failed = (*failed, *error.failed_calls)
                if not isinstance(error, QuotaExceededError) or error.window != "minute" or error.until is None:
                    raise
                pause = max(0.0, (error.until - self.clock()).total_seconds())
                if pause >= deadline.remaining:
                    raise
                await self.sleep(pause)


class PatientJudges(Judges):
    """As `Judges`, but each one waits for the minute's next slot."""

    def get(self, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        """The judge for a tier of a provider, made patient."""
        seconds = VERIFY_SECONDS if tier == "verify" else None
        judge = super().get(provider, tier, purpose=purpose)
        return PatientJudge(judge=judge, seconds=seconds, clock=system_clock, sleep=asyncio.sleep)
