"""Which verdicts people should label next: a random sample for rates, the unsure for thresholds, never mixed up.

Whoever labels what a judge was unsure of takes these out of what is left, so that a later random draw from the rest
would hold too few of them, and the rates that it corrects would be wrong. So each verdict belongs to one of two pools,
by a hash of its name alone: random samples are drawn from the one, unsure verdicts looked for in the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest

from touchstone.statistics.tallies import Sample
from touchstone.statistics.thresholds import BELIEVED_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCandidate:
    """A verdict that nobody has labelled. `name` tells it from all others of its tenant; `confidence` is the judge's,
    0-1, None where it did not say; `sure_from` is the threshold of its judge, None without one.
    """

    name: str
    confidence: float | None = None
    sure_from: float | None = None

    @property
    def distance(self) -> float:
        """How far the judge was from the confidence at which it begins to be sure; 0 where it did not say."""
        border = BELIEVED_FROM if self.sure_from is None else self.sure_from
        return 0.0 if self.confidence is None else abs(self.confidence - border)


def next_to_label(candidates: Iterable[LabelCandidate], *, sample: Sample, count: int) -> list[LabelCandidate]:
    """At most `count` of the candidates, the one to label first at the beginning.

    `random`: a random sample of all verdicts that the candidates are of, the same one however often it is asked for, so
    that nobody can draw again until it suits. `unsure`: those whose confidence is nearest to where their judge begins
    to be sure; what they say of a rate is biased. Raises `ValueError` for `chosen`, which nobody draws.
    """
    if sample == "chosen":
        raise ValueError("what a person chooses is not drawn")
    pool = (one for one in candidates if pool_of(one.name) == sample)
    if sample == "random":
        return nsmallest(count, pool, key=lambda one: _drawn(one.name))
    return nsmallest(count, pool, key=lambda one: (one.distance, _drawn(one.name)))


def pool_of(name: str) -> Sample:
    """In which of the two pools a verdict is, whatever was said of it."""
    return "random" if _drawn(name)[0] % 2 else "unsure"


def _drawn(name: str) -> bytes:
    return sha256(name.encode("utf-8", "surrogatepass")).digest()
