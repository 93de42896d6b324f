"""A judge whose replies are counted as they come, so that the user who waits sees their number and cost."""

from collections.abc import Callable, Sequence

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, JudgeQuestion, Reply

type Told = Callable[[int, float, int], None]
"""Takes the number of questions that are answered or failed so far, their cost in US dollars as far as it is known,
and the number of calls without a known price."""


class WatchedJudge:
    """Asks another judge, and calls `told` after each reply or failure."""

    def __init__(self, judge: Judge, told: Told) -> None:
        self._judge = judge
        self._told = told
        self._ended = 0
        self._cost_usd = 0.0
        self._unpriced = 0

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self._judge.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self._judge.model

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask the other judge. Raises as that judge does."""
        try:
            reply = await self._judge.ask(question, deadline=deadline)
            self._cost_usd += reply.cost_usd or 0.0
            self._unpriced += reply.cost_usd is None
            return reply
        finally:
            self._ended += 1
            self._told(self._ended, self._cost_usd, self._unpriced)


def watched(judges: Sequence[Judge], told: Told) -> tuple[WatchedJudge, ...]:
    """The judges, each watched. `told` gets the sums over the replies of all of them."""
    so_far: dict[int, tuple[int, float, int]] = {}

    def of(place: int) -> Told:
        def tell(ended: int, cost_usd: float, unpriced: int) -> None:
            so_far[place] = (ended, cost_usd, unpriced)
            answers, costs, others = zip(*so_far.values(), strict=True)
            told(sum(answers), sum(costs), sum(others))

        return tell

    return tuple(WatchedJudge(judge, of(place)) for place, judge in enumerate(judges))
