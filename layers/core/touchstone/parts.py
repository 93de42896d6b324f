"""The parts of a job (pairs of an experiment, cases of an audit). Each part is tried by itself."""

from abc import abstractmethod
from datetime import datetime
from typing import Self

from touchstone.attempts import Attempts
from touchstone.references import Reference
from touchstone.strict import Strict


class Part(Strict):
    """One part of a job and its progress.

    `at` is when its last step was (UTC). `over`: the part is not tried again. `cost_usd` is what its tries cost in US
    dollars, without the `unpriced_calls`.
    """

    tenant: str
    number: int
    at: datetime
    attempts: Attempts = Attempts()
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    over: bool = False

    @property
    @abstractmethod
    def whole(self) -> Reference:
        """The job that this part belongs to."""

    @property
    @abstractmethod
    def because(self) -> str | None:
        """Why the last try of this part left something open, None if it left nothing open."""

    @property
    def id(self) -> str:
        """The part's name among all records: the job's id and the part's number."""
        return f"{self.whole.id}-{self.number}"

    def begun(self, *, now: datetime) -> Self:
        """The part with one more try begun; this very object if no try may begin now."""
        attempts = None if self.over else self.attempts.begun(now=now)
        return self if attempts is None else self.model_copy(update={"attempts": attempts, "at": now})


class PartsProgress(Strict):
    """The progress of all parts of a job, counted at each step of a part.

    `done` counts the parts that are over. `turns` are the turns of agents, if agents work on the parts. `cost_usd` is
    the cost of all tries in US dollars, without the `unpriced_calls`. `at` is the moment of the latest step, and
    `until` is when the part of that step is tried again (UTC); both are None before the first step. `because` is why
    that step left something open, None if it left nothing open.
    """

    done: int = 0
    turns: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    at: datetime | None = None
    until: datetime | None = None
    because: str | None = None

    @property
    def paid(self) -> dict[str, float]:
        """The costs that the job's record keeps once all parts are over."""
        return {"cost_usd": self.cost_usd, "unpriced_calls": self.unpriced_calls}
