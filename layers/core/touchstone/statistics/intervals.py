"""Confidence intervals of a share, and exact bounds by the incomplete beta function, without scipy."""

from math import exp, lgamma, log, log1p, sqrt

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


def wilson_lower(successes: int, trials: int) -> float:
    """The lower bound of `wilson_interval`: a cautious estimate of the share. It is 0.0 without trials."""
    return wilson_interval(successes, trials)[0]


_TINY = 1e-300
"""Takes the place of 0 in a denominator of the continued fraction."""
_STEPS = 10_000
"""The most steps. The fraction takes some √(a + b): this is enough for any number of labels that people could give."""
_SETTLED = 1e-14
"""The fraction is finished when a step changes it by less than this share of itself."""
_HALVINGS = 60
"""Halvings of an interval of length 1. The bound is then exact to the last digits of a float."""


def binomial_lower(successes: int, trials: int, *, certainty: float = 0.95) -> float:
    """The one-sided lower bound of a share, 0-1: the true share lies at or above it with at least this certainty.

    C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 26 (1934), 404-413: the share p at which `successes` or more have the probability 1 - certainty,
    I_p(successes, trials - successes + 1). The bound is 0.0 without a success. Raises `ValueError` for impossible
    counts.
    """
    if not (0 <= successes <= trials and 0 < certainty < 1):
        raise ValueError(f"{successes} successes in {trials} trials at a certainty of {certainty} is impossible")
    if successes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if shows_share(middle, successes, trials, certainty=certainty) else (low, middle)
    return low


def shows_share(share: float, successes: float, trials: int, *, certainty: float = 0.95) -> bool:
    """Whether `binomial_lower` is at least this share (0-1). It is the same test in a fraction of the time.

    `successes` may lie between two whole numbers; the bound is then between theirs.
    """
    return successes > 0 and incomplete_beta(share, successes, trials - successes + 1) <= 1 - certainty


def refutes_share(share: float, successes: int, trials: int, *, certainty: float = 0.95) -> bool:
    """Whether the one-sided upper bound of Clopper and Pearson is at most this share (0-1)."""
    return shows_share(1 - share, trials - successes, trials, certainty=certainty)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0-1, for 0 <= x <= 1 and a, b > 0.

    It is computed by its continued fraction with the method of W. Lentz (Numerical Recipes, 3rd edition, 6.4), on the
    side of the mean where the fraction converges fast.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    fraction, above, below = 1.0, 1.0, 0.0
    for step in range(_STEPS):
        half = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        below = 1 / _kept(1 + term * below)
        above = _kept(1 + term / above)
        fraction *= above * below
        if abs(above * below - 1) < _SETTLED:
            break
    return min(1.0, front * (fraction - 1))


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
