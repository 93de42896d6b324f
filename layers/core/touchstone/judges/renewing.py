"""Known replies that fit their schema and are of no use to the job: they are asked for anew.

The cache holds every reply that fits its schema, since only the job knows its own rules. A reply of no use stays known
to the work that paid for it, so that each of its tries and each replay of its batches ends alike. Other work that finds
the reply asks once more, and the new reply takes its place.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, JudgeQuestion, Reply


@dataclass(frozen=True, slots=True)
class WorkJudge:
    """A judge that is asked for one piece of work, in several tries or by batches. The work began at `began` (UTC)."""

    inner: Judge
    began: datetime

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.inner.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.inner.model

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask. Raises as any judge does."""
        return await self.inner.ask(replace(question, began=self.began), deadline=deadline)


def judge_for_work(judge: Judge, began: datetime | None) -> Judge:
    """The judge as it is asked for a piece of work that began then (UTC). None: as it is asked for work of one try."""
    return judge if began is None else WorkJudge(judge, began)
