"""Several judges of one thing: who is wanted, who can be asked, and what came of asking each.

What follows from what they say is told by `statistics.votes`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import LASTING, JudgeError, MisconfiguredError, OverloadedError, StoreError
from touchstone.judges.base import Judge, JudgeQuestion, Reply
from touchstone.judges.calls import NotScored, unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """How many judges are wanted, more than one, and who of them can be asked; `remedy` if they are too few.

    `in_turn`: one after the other until one is sure enough, `wanted` at most; else side by side.
    """

    wanted: int
    able: tuple[Judge, ...]
    remedy: str
    in_turn: bool = False

    @property
    def lacking(self) -> MisconfiguredError | None:
        """Why nobody is asked: there are fewer judges than a majority takes. None where there are enough."""
        return None if 2 * len(self.able) > self.wanted else self.too_few

    @property
    def too_few(self) -> MisconfiguredError:
        """Why a judge that is wanted is not there."""
        models = ", ".join(f"{judge.provider} {judge.model}" for judge in self.able) or "nobody"
        sentence = f"{self.wanted} judges of different providers are wanted, and only {models} can be asked;"
        return MisconfiguredError(f"{sentence} {self.remedy}.", sent=False)

    @property
    def asked(self) -> tuple["JudgeApart", ...]:
        """Those that are asked."""
        return tuple(JudgeApart(judge) for judge in self.able[: self.wanted])


@dataclass(frozen=True, slots=True)
class JudgeApart:
    """A judge whose failures are its own, the table's that hits its reservation among them.

    Raised as it is, that one would end the other judges in the middle of calls that are paid for.
    """

    behind: Judge

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.behind.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.behind.model

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask; raises as any judge does."""
        try:
            return await self.behind.ask(question, deadline=deadline)
        except StoreError as error:
            sentence = f"{self.provider} was not asked, since no quota could be reserved for it. {error}"
            raise OverloadedError(sentence, sent=False) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSeat[T]:
    """What came of asking one judge; `judge` None: there is nobody to sit here."""

    judge: Judge | None
    found: T | NotScored

    @property
    def said(self) -> T | None:
        """What it said; None where it said nothing."""
        return None if isinstance(self.found, NotScored) else self.found

    @property
    def provider(self) -> str | None:
        """Its provider; None where there is nobody."""
        return None if self.judge is None else self.judge.provider

    @property
    def pending(self) -> bool:
        """Whether it said nothing, and may say something at another try."""
        return self.judge is not None and isinstance(self.found, NotScored) and self.found.reason not in LASTING


async def seats_of[T](
    panel: JudgePanel, work: Callable[[Judge], Awaitable[T | NotScored]]
) -> tuple[PanelSeat[T], ...] | NotScored:
    """What came of asking each judge, side by side; as many seats as judges are wanted.

    Where fewer can be asked than a majority takes, nobody is, and that is said.
    """
    if (lacking := panel.lacking) is not None:
        return not_scored(lacking)
    async with asyncio.TaskGroup() as group:
        tasks = [(judge, group.create_task(_found(work, judge))) for judge in panel.asked]
    seats: list[PanelSeat[T]] = [PanelSeat(judge=judge, found=task.result()) for judge, task in tasks]
    nobody = PanelSeat[T](judge=None, found=not_scored(panel.too_few))
    return (*seats, *[nobody] * (panel.wanted - len(seats)))


async def _found[T](work: Callable[[Judge], Awaitable[T | NotScored]], judge: Judge) -> T | NotScored:
    return await work(judge)


def failure_among[T](seats: Sequence[PanelSeat[T]], *, pending: bool | None = None) -> NotScored | None:
    """A judge's failure, named as its own: one that may pass before one that lasts, and both before a seat of nobody.

    `pending`: only of those that may pass (True), or only of those that do not; None: of all.
    """
    silent = sorted(seats, key=lambda seat: (not seat.pending, seat.judge is None))
    for seat in silent:
        if isinstance(seat.found, NotScored) and pending in {None, seat.pending}:
            return replace(seat.found, failed_by=seat.provider)
    return None


def why_silent(found: NotScored) -> tuple[str, ...]:
    """Why a judge said nothing, in sentences, as its vote keeps them."""
    return found.faults if found.error is None else (str(found.error),)


def not_scored(error: JudgeError) -> NotScored:
    """What stands for a judge that was not asked for this reason."""
    return NotScored(reason=unanswered(error), faults=(), error=error, spends=())
