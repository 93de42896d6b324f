"""Several judges of one thing: how many are wanted, which can be asked, and the result of asking each.

`statistics.votes` tells what follows from their verdicts.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import PERMANENT_REASONS, MisconfiguredError, OverloadedError, StoreError
from touchstone.judges.base import Around, Judge, JudgeQuestion, Reply, Tier, WorkJudge, most_judges
from touchstone.judges.calls import NotScored, not_scored
from touchstone.together import gather_all

if TYPE_CHECKING:
    from touchstone.judges.opening import Judges


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """How many judges are wanted, and which can be asked.

    `remedy` says what to do if too few can be asked. If `in_turn`, the judges are asked one after the other until one
    is sure enough, `wanted` at most. Else they are asked side by side. If one is wanted, a second of those that can be
    asked may be asked where the first is not as sure as people's labels require.
    """

    wanted: int
    available: tuple[Judge, ...]
    remedy: str
    in_turn: bool = False

    @property
    def shortage(self) -> MisconfiguredError | None:
        """Why nobody is asked; None if there are enough judges.

        Judges who are asked side by side must be enough for a majority. If they are asked in turn, one is enough.
        """
        enough = bool(self.available) if self.in_turn else 2 * len(self.available) > self.wanted
        return None if enough else self.too_few

    @property
    def too_few(self) -> MisconfiguredError:
        """The error that says that fewer judges can be asked than are wanted, and what to do about it."""
        models = ", ".join(f"{judge.provider} {judge.model}" for judge in self.available) or "nobody"
        sentence = f"{self.wanted} judges of different providers are wanted, and only {models} can be asked;"
        return MisconfiguredError(f"{sentence} {self.remedy}.", sent=False)

    @property
    def judges(self) -> tuple["IsolatedJudge", ...]:
        """The judges that are asked: `wanted` at most."""
        return tuple(IsolatedJudge(judge) for judge in self.available[: self.wanted])

    def for_work(self, began: datetime) -> "JudgePanel":
        """The panel whose judges are asked for one piece of work, which began at `began` (UTC)."""
        return replace(self, available=tuple(WorkJudge(judge, began) for judge in self.available))


@dataclass(frozen=True, slots=True)
class IsolatedJudge(Around[Judge]):
    """A judge whose failures are its own, also if the table fails while quota is reserved for its call.

    A `StoreError`, raised as it is, would end the other judges in the middle of calls that are paid for.
    """

    inner: Judge

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask. Raises as any judge does, but `OverloadedError` in place of `StoreError`."""
        try:
            return await self.inner.ask(question, deadline=deadline)
        except StoreError as error:
            sentence = f"{self.provider} was not asked, since no quota could be reserved for it. {error}"
            raise OverloadedError(sentence, sent=False) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSeat[T]:
    """The result of asking one judge. `judge` is None if there is no judge for this seat."""

    judge: Judge | None
    result: T | NotScored

    @property
    def answer(self) -> T | None:
        """What the judge said. None if it said nothing."""
        return None if isinstance(self.result, NotScored) else self.result

    @property
    def provider(self) -> str | None:
        """The judge's provider. None if there is no judge."""
        return None if self.judge is None else self.judge.provider

    @property
    def pending(self) -> bool:
        """Whether the judge said nothing, and may say something at another try."""
        return (
            self.judge is not None
            and isinstance(self.result, NotScored)
            and self.result.reason not in PERMANENT_REASONS
        )


def panel_led_by(first: Judge, judges: "Judges", tier: Tier, wanted: int | Literal["until_sure"]) -> JudgePanel | None:
    """The several judges of a tier: `first`, then judges of other providers. None if one judge is wanted."""
    if wanted == 1:
        return None
    others = [judge for judge in judges.distinct(tier, len(judges.available())) if judge.provider != first.provider]
    most = most_judges(wanted)
    able = (first, *others)[:most]
    return JudgePanel(wanted=most, available=able, remedy=judges.remedy, in_turn=wanted == "until_sure")


async def seats_of[T](
    panel: JudgePanel, work: Callable[[Judge], Awaitable[T | NotScored]]
) -> tuple[PanelSeat[T], ...] | NotScored:
    """The results of asking all judges side by side: as many seats as judges are wanted.

    If fewer judges can be asked than a majority takes, nobody is asked, and the result is a `NotScored` that says so.
    """
    if (shortage := panel.shortage) is not None:
        return not_scored(shortage)
    found = await gather_all(work(judge) for judge in panel.judges)
    seats = [PanelSeat(judge=judge, result=one) for judge, one in zip(panel.judges, found, strict=True)]
    nobody = PanelSeat[T](judge=None, result=not_scored(panel.too_few))
    return (*seats, *[nobody] * (panel.wanted - len(seats)))


def failure_among[T](seats: Sequence[PanelSeat[T]], *, pending: bool | None = None) -> NotScored | None:
    """The failure of one seat, named as its judge's own. None if no seat failed.

    A failure that may pass comes before one that lasts, and both come before an empty seat. `pending` True considers
    only failures that may pass, False only those that do not, None all.
    """
    silent = sorted(seats, key=lambda seat: (not seat.pending, seat.judge is None))
    for seat in silent:
        if isinstance(seat.result, NotScored) and pending in {None, seat.pending}:
            return replace(seat.result, failed_by=seat.provider)
    return None


def thresholds_unread(error: StoreError) -> OverloadedError:
    """The failure of a judge that was not asked because the threshold for its sureness could not be read.

    If it were asked, its verdicts would be paid for, and could not be held against any threshold.
    """
    sentence = f"How sure the judge must be by people's labels could not be read; it was not asked. {error}"
    return OverloadedError(sentence, sent=False)
