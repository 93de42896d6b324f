"""Simulated judges and the labels that people give to their verdicts: worlds in which the truth is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.statistics import LevelCounts, VerdictCells
from touchstone.statistics.tallies import LEVELS


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJudge:
    """A judge by the confidences it tells, how often it tells each, and how often people agree with it there."""

    name: str
    confidences: tuple[float, ...]
    shares: tuple[float, ...]
    agreed: tuple[float, ...]

    def agreement_from(self, confidence: float) -> float:
        """The true agreement with its verdicts of at least this confidence."""
        held = [place for place, told in enumerate(self.confidences) if told >= confidence]
        return sum(self.shares[p] * self.agreed[p] for p in held) / sum(self.shares[p] for p in held)

    def share_from(self, confidence: float) -> float:
        """The share of its verdicts with at least this confidence."""
        return sum(share for told, share in zip(self.confidences, self.shares, strict=True) if told >= confidence)

    def levels(self, labels: int, draw: np.random.Generator) -> Sequence[LevelCounts]:
        """The counts of a card with so many labels, at the levels of every card."""
        counts: NDArray[np.int64] = draw.multinomial(labels, self.shares)
        agreed = draw.binomial(counts, self.agreed)
        told = np.array(self.confidences)
        return [
            LevelCounts(
                confidence=level, labels=int(counts[told >= level].sum()), agreed=int(agreed[told >= level].sum())
            )
            for level in LEVELS
        ]


JUDGES = (
    SimulatedJudge(
        name="well calibrated",
        confidences=(0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0),
        shares=(0.05, 0.1, 0.1, 0.2, 0.2, 0.15, 0.1, 0.1),
        agreed=(0.62, 0.72, 0.82, 0.91, 0.955, 0.98, 0.99, 0.998),
    ),
    SimulatedJudge(
        name="overconfident",
        confidences=(0.8, 0.9, 0.95, 0.99, 1.0),
        shares=(0.1, 0.3, 0.3, 0.2, 0.1),
        agreed=(0.8, 0.94, 0.945, 0.949, 0.949),
    ),
    SimulatedJudge(
        name="useless", confidences=(0.8, 0.9, 0.95, 1.0), shares=(0.1, 0.2, 0.5, 0.2), agreed=(0.5, 0.5, 0.5, 0.5)
    ),
    SimulatedJudge(
        name="sharp", confidences=(0.5, 0.6, 0.9, 1.0), shares=(0.2, 0.1, 0.3, 0.4), agreed=(0.55, 0.6, 0.99, 0.995)
    ),
)


def labelled_verdicts(
    *, verdicts: int, labels: int, share: float, sensitivity: float, specificity: float, draw: np.random.Generator
) -> tuple[int, VerdictCells]:
    """Verdicts on things of which `share` is positive: how many the judge calls so, and a random sample's labels."""
    truly = int(draw.binomial(verdicts, share))
    both = int(draw.binomial(truly, sensitivity))
    neither = int(draw.binomial(verdicts - truly, specificity))
    judge_only, person_only = verdicts - truly - neither, truly - both
    found = draw.multivariate_hypergeometric([both, judge_only, person_only, neither], labels)
    return both + judge_only, _cells(found)


def chosen_labels(
    *, positive: int, negative: int, sensitivity: float, specificity: float, draw: np.random.Generator
) -> VerdictCells:
    """Labels that people gave to so many things that are positive and negative, of their own choice."""
    both, neither = draw.binomial(positive, sensitivity), draw.binomial(negative, specificity)
    return _cells((both, negative - neither, positive - both, neither))


def _cells(counts: Sequence[int] | NDArray[np.int64]) -> VerdictCells:
    both, judge_only, person_only, neither = map(int, counts)
    return VerdictCells(both=both, judge_only=judge_only, person_only=person_only, neither=neither)
