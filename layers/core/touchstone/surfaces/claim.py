"""A claim of a summary, and all that were found in one."""

from dataclasses import dataclass

from touchstone.judges.spends import JudgedBy, Spend
from touchstone.surfaces.model import UnscoredItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An atomic claim; `id` is its number from 1, and `judge` who made it one and said whether it is trivial."""

    id: str
    text: str
    trivial: bool
    judge: JudgedBy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims of a summary in its order, each once; `unscored` are sentences that nobody took apart."""

    claims: tuple[Claim, ...]
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()
