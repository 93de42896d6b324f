"""The parts that a job's work is divided into (pairs of an experiment, cases of an audit), each tried by itself."""

from abc import abstractmethod
from datetime import datetime
from typing import Self

from touchstone.attempts import Attempts
from touchstone.references import Reference
from touchstone.strict import Strict


class Part(Strict):
    """One part and how far it is. `at` is when its last step was (UTC), `over` that it is not tried again.

    `cost_usd` is what its tries cost, all but the `unpriced_calls`.
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
        """The job that it is a part of."""

    @property
    @abstractmethod
    def because(self) -> str | None:
        """Why its last try left something open, None where it did not."""

    @property
    def id(self) -> str:
        """Its name among all records."""
        return f"{self.whole.id}-{self.number}"

    def begun(self, *, now: datetime) -> Self:
        """The part with one more try; the very same where none is to be made now."""
        attempts = None if self.over else self.attempts.begun(now=now)
        return self if attempts is None else self.model_copy(update={"attempts": attempts, "at": now})


class PartsProgress(Strict):
    """How far the parts of a job are, counted as each of them goes on.

    `turns` are those of agents, where the parts are worked on by any. `cost_usd` is that of all tries, all but the
    `unpriced_calls`. `at` is when anything happened last, and `until` when the part that it happened to is tried again,
    both None before the first. `because` is why that try left something open, None where it did not.
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
        """What a record keeps of it once all is over."""
        return {"cost_usd": self.cost_usd, "unpriced_calls": self.unpriced_calls}
