"""A judge that keeps its failures, for whoever decides when to try again: results say in words what failed, no more."""

from dataclasses import dataclass, field

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError
from touchstone.judges.base import Judge, Question, Reply


@dataclass(frozen=True, slots=True)
class NotingJudge:
    """As the judge behind it; `failures` are the errors that its questions ended with, in their order."""

    judge: Judge
    failures: list[JudgeError | LimitError] = field(default_factory=list)

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.judge.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.judge.model

    async def ask[T: BaseModel](self, question: Question[T], *, deadline: Deadline) -> Reply[T]:
        """Ask; raises as any judge does."""
        try:
            return await self.judge.ask(question, deadline=deadline)
        except (JudgeError, LimitError) as error:
            self.failures.append(error)
            raise
