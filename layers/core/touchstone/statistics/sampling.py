"""Which verdicts people should label next: a random sample for rates, unsure verdicts for thresholds, never mixed.

If people label verdicts that a judge was unsure of, those verdicts are missing from the rest. A later random draw from
the rest would hold too few of them, and the rates that it corrects would be wrong. So each verdict belongs to one of
two pools, by a hash of its name alone: random samples are drawn from one pool, unsure verdicts from the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest

from touchstone.statistics.tallies import Sample
from touchstone.statistics.thresholds import DEFAULT_MIN_CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCandidate:
    """A verdict that nobody has labelled.

    `name` is unique among the verdicts of the tenant. `confidence` is the judge's, 0-1; None if the judge told none.
    `sure_from` is the confidence threshold of the judge; None if it has no threshold.
    """

    name: str
    confidence: float | None = None
    sure_from: float | None = None

    @property
    def distance(self) -> float:
        """The distance of the confidence from the one at which the judge begins to be sure; 0 without a confidence."""
        border = DEFAULT_MIN_CONFIDENCE if self.sure_from is None else self.sure_from
        return 0.0 if self.confidence is None else abs(self.confidence - border)


def next_to_label(candidates: Iterable[LabelCandidate], *, sample: Sample, count: int) -> list[LabelCandidate]:
    """At most `count` of the candidates, sorted so that the one to label first comes first.

    `random`: a random sample of all verdicts that the candidates come from. It is the same at every call, so that
    nobody can draw again until the sample suits. `unsure`: the candidates whose confidence is nearest to the one at
    which their judge begins to be sure; a rate computed from them is biased. Raises `ValueError` for `chosen`: people
    choose these verdicts, no draw does.
    """
    if sample == "chosen":
        raise ValueError("what a person chooses is not drawn")
    pool = (one for one in candidates if pool_of(one.name) == sample)
    if sample == "random":
        return nsmallest(count, pool, key=lambda one: _drawn(one.name))
    return nsmallest(count, pool, key=lambda one: (one.distance, _drawn(one.name)))


def pool_of(name: str) -> Sample:
    """The pool that a verdict is in. It depends on the name alone, not on what was said of the verdict."""
    return "random" if _drawn(name)[0] % 2 else "unsure"


def _drawn(name: str) -> bytes:
    return sha256(name.encode("utf-8", "surrogatepass")).digest()
