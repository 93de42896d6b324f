"""What judges said of entries side by side on one dimension, as records keep it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

from touchstone.judges.spends import Spend
from touchstone.oracle.bands import Band
from touchstone.oracle.model import DimensionVote, RiskFlag
from touchstone.strict import Strict

PURPOSE: Final = "horizontal"
"""What the calls of a comparison are for."""
LEAST_ENTRIES = 2
"""Fewer have nothing beside them."""
TOLERATED = 10
"""Points by which two orders may differ over an entry: half a band."""


class PlacedScore(Strict):
    """What a judge said of the entry with a label. `feedback` compares it with the others, by their labels."""

    label: str
    band: Band
    score: int
    evidence: str
    feedback: str


class OrderRead(Strict):
    """One reply: the order in which entries were shown, by their labels, and what was said of them, in that order.

    `scores` are those of the entries that were scored, see `Compared.unscored`.
    """

    order: tuple[str, ...]
    scores: tuple[PlacedScore, ...]
    provider: str
    model: str
    prompt_version: str


class ComparedEntry(Strict):
    """An entry's result on the dimension. `score` (0-100, may be a half) is the mean of both orders.

    `band` is that score's. `evidence` and `feedback` are those of the order in which it scored lower.
    """

    submission_id: str
    label: str
    score: float
    band: Band
    evidence: str
    feedback: str
    risk_flags: tuple[RiskFlag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The entries on one dimension, in the order of their labels, and both replies that the numbers come from.

    Of several judges `orders` has two of each that said something, one judge after the other, and `silent` why the
    others said nothing; the scores are the medians of theirs.

    `labels` says which submission had which label. `unstable`: the two orders of a judge differed by more than
    `TOLERATED` over an entry, or ranked two entries the other way round. `unscored`, by submission and only where a
    part was enough: what broke the rules in what was said of it; it is not among `entries`, and the sentences call
    it by its label.
    """

    dimension: str
    labels: Mapping[str, str]
    entries: tuple[ComparedEntry, ...]
    orders: tuple[OrderRead, ...]
    unstable: bool
    unscored: Mapping[str, tuple[str, ...]]
    spends: tuple[Spend, ...]
    silent: tuple[DimensionVote, ...] = ()


def by_judge(orders: Sequence[OrderRead]) -> Iterator[tuple[OrderRead, OrderRead]]:
    """The two replies of each judge."""
    yield from batched(orders, 2, strict=True)
