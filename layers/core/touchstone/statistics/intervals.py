"""Confidence intervals of a share."""

from math import sqrt

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution: a two-sided interval of 95 %."""


def wilson_interval(successes: int, trials: int, *, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a share, both bounds 0-1. Without trials it is (0.0, 1.0), since nothing is known then.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212: (p +
    z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). It stays inside 0-1 and keeps its coverage for small n and for
    shares near 0 and 1, where p ± z·sqrt(p(1-p)/n) fails.

    Raises `ValueError` unless 0 <= successes <= trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is impossible")
    if trials == 0:
        return (0.0, 1.0)
    return score_interval(successes / trials, trials, z=z)


def score_interval(share: float, trials: float, *, z: float = Z_95) -> tuple[float, float]:
    """The interval of `wilson_interval` for a share (0-1) and a number of trials above 0 that need not be whole.

    The share always lies inside. Raises `ValueError` for a share outside 0-1 or a number of trials that is not above 0.
    """
    if not (0 <= share <= 1 and trials > 0):
        raise ValueError(f"a share of {share} in {trials} trials is impossible")
    shrink = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    # Rounding must not leave 1e-17 where a bound is 0, and must not put the share itself outside.
    return (max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def wilson_lower(successes: int, trials: int, *, z: float = Z_95) -> float:
    """The lower bound of `wilson_interval`: a cautious estimate of the share. It is 0.0 without trials."""
    return wilson_interval(successes, trials, z=z)[0]
