"""Exact bounds of a share: Clopper and Pearson, by the incomplete beta function, without scipy."""

from math import exp, lgamma, log, log1p

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
