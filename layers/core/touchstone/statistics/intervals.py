"""Confidence intervals of a share."""

from math import sqrt

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution: a two-sided interval of 95 %."""


def wilson_interval(successes: int, trials: int, *, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a share, both bounds 0-1; (0.0, 1.0) without trials, since nothing is known then.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212:
    (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). It stays inside 0-1 and keeps its coverage for small n and for
    shares near 0 and 1, where p ± z·sqrt(p(1-p)/n) fails.

    Raises `ValueError` unless 0 <= successes <= trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is impossible")
    if trials == 0:
        return (0.0, 1.0)
    share = successes / trials
    shrink = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    # At the ends the exact bounds are 0 and 1; rounding would leave 1e-17 there.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    upper = 1.0 if successes == trials else min(1.0, centre + half)
    return (lower, upper)


def wilson_lower(successes: int, trials: int, *, z: float = Z_95) -> float:
    """The lower bound of `wilson_interval`: what a share is worth after so many trials, 0.0 without any."""
    return wilson_interval(successes, trials, z=z)[0]
