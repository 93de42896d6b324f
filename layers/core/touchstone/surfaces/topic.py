"""A topic of a source, and all that were found in one."""

from dataclasses import dataclass

from touchstone.judges.spends import Spend
from touchstone.surfaces.model import UnscoredItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, or concept, that material on the source should deal with.

    `id` is its number from 1. `passages` are what is shown of those that teach it, and `left_out` the number of
    characters that are not: they tell what its name means, and coverage is a matter of the topic as a whole.
    """

    id: str
    text: str
    weight: float = 1.0
    passages: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def chars(self) -> int:
        """What it takes in a prompt."""
        return len(self.text) + sum(len(passage) for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of a source in its order; `unscored` are sections in which nobody could look for any."""

    topics: tuple[Topic, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()
