"""What judges say of entries side by side on one dimension, as records keep it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

from touchstone.judges.spends import Spend
from touchstone.oracle.bands import Band
from touchstone.oracle.model import DimensionVote, RiskFlag
from touchstone.strict import Strict

PURPOSE: Final = "horizontal"
"""The purpose under which the calls of a comparison are recorded."""
LEAST_ENTRIES = 2
"""A single entry has no other to be compared with."""
MAX_ORDER_DIFFERENCE = 10
"""By how many points the two orders may differ over an entry: half a band."""


class PlacedScore(Strict):
    """What a judge said of the entry with a label. `feedback` compares the entry with the others, by their labels."""

    label: str
    band: Band
    score: int
    evidence: str
    feedback: str


class OrderRead(Strict):
    """One reply: the labels of the entries in the order in which they were shown, and what was said of each.

    `scores` has the same order and holds only the entries that were scored, see `ComparisonResult.unscored`.
    """

    order: tuple[str, ...]
    scores: tuple[PlacedScore, ...]
    provider: str
    model: str
    prompt_version: str


class ComparedEntry(Strict):
    """An entry's result on the dimension. `score` (0-100, may be a half) is the mean of both orders.

    `band` is the band of `score`. `evidence` and `feedback` are from the order in which it scored lower.
    """

    submission_id: str
    label: str
    score: float
    band: Band
    evidence: str
    feedback: str
    risk_flags: tuple[RiskFlag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The result of a comparison on one dimension: the entries by label, and the replies that the numbers come from.

    If several judges were asked, `orders` has two replies of each judge that answered, one judge after the other, and
    `silent` says why the others did not answer. The scores are then the medians over the judges.

    `labels` maps each label to its submission's id. `unstable`: the two orders of a judge differed by more than
    `MAX_ORDER_DIFFERENCE` over an entry, or ranked two entries the other way round, or the places may have decided
    between two entries that stood in the same order both times. `unscored` maps a submission's id to the faults in what
    was said of it, sentences that call it by its label. Such a submission is not among `entries`. It occurs only if the
    caller accepted a partial result.
    """

    dimension: str
    labels: Mapping[str, str]
    entries: tuple[ComparedEntry, ...]
    orders: tuple[OrderRead, ...]
    unstable: bool
    unscored: Mapping[str, tuple[str, ...]]
    spends: tuple[Spend, ...]
    silent: tuple[DimensionVote, ...] = ()


def pairs_by_judge(orders: Sequence[OrderRead]) -> Iterator[tuple[OrderRead, OrderRead]]:
    """Yield the two replies of each judge, as a pair."""
    yield from batched(orders, 2, strict=True)
