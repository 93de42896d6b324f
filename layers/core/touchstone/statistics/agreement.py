"""Agreement: of a judge with itself, of two, and of several.

A vote of None is a judge that failed: it is left out and counted, never taken for a label.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.errors import InputError
from touchstone.statistics.intervals import Z_95, score_interval, wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRate:
    """How often a verdict did not survive the swap of the two variants.

    `rate` is 0-1, with the Wilson interval of 95 %; both are None where no pair was judged in both orders. `unjudged`
    pairs lack a verdict in one order or both.
    """

    rate: float | None
    interval: tuple[float, float] | None
    flipped: int
    judged: int
    unjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement beyond chance: 1 is complete, 0 is what chance would give, below 0 is less than that (at least -1).

    `value`, `interval` (95 %) and `standard_error` are None where both used one and the same label throughout, or
    nothing was labelled by both: agreement by chance is then complete, and kappa is undefined. `observed` is the share
    of agreement, 0-1. `unpaired` things lack one label or both.
    """

    value: float | None
    interval: tuple[float, float] | None
    standard_error: float | None
    observed: float | None
    paired: int
    unpaired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """Agreement of any number of judges with votes missing: 1 is complete, 0 is what chance would give, down to -1.

    `value` is None where fewer than two votes can be compared, or all votes are the same, which says nothing of whether
    the judges can tell things apart. `units` have at least two votes, `votes` is how many those are; `unpaired` units
    have fewer and cannot count.
    """

    value: float | None
    units: int
    votes: int
    unpaired: int


def flip_rate(verdicts: Iterable[tuple[str | None, str | None]]) -> FlipRate:
    """The flip rate of pairs judged in both orders.

    Both verdicts name the variant (or the tie), not the place at which it stood. A tie in one order alone is a flip.
    """
    given = list(verdicts)
    judged = [(one, other) for one, other in given if one is not None and other is not None]
    flipped = sum(one != other for one, other in judged)
    return flip_rate_of_counts(flipped=flipped, judged=len(judged), unjudged=len(given) - len(judged))


def flip_rate_of_counts(*, flipped: int, judged: int, unjudged: int) -> FlipRate:
    """As `flip_rate`, of counts."""
    return FlipRate(
        rate=flipped / judged if judged else None,
        interval=wilson_interval(flipped, judged) if judged else None,
        flipped=flipped,
        judged=judged,
        unjudged=unjudged,
    )


def cohen_kappa(labels: Iterable[tuple[str | None, str | None]]) -> Kappa:
    """Cohen's kappa of two who labelled the same things: (po - pe) / (1 - pe), po observed and pe by chance.

    J. Cohen, Educ. Psychol. Meas. 20 (1960), 37-46. The standard error is that of J. Fleiss, J. Cohen and B. Everitt,
    Psychol. Bull. 72 (1969), 323-327. The interval is Wilson's for po, with as many trials as give po that standard
    error, carried over to kappa at the pe found. value ± 1.96 standard errors is the same for many labels, but for few,
    or near 1, it covers kappa far too seldom (60 % where 100 things are labelled at a true kappa of 0.95 and nine
    tenths are of one class), shrinks to a point where all agree, and passes 1.
    """
    given = list(labels)
    cells = Counter((one, other) for one, other in given if one is not None and other is not None)
    return kappa_of_counts(cells, unpaired=len(given) - cells.total())


def kappa_of_counts(cells: Mapping[tuple[str, str], int], *, unpaired: int = 0) -> Kappa:
    """As `cohen_kappa`, of counts: how many things the one gave this label and the other that one."""
    rows, columns = Counter[str](), Counter[str]()
    for (one, other), times in cells.items():
        rows[one] += times
        columns[other] += times
    count = rows.total()
    observed = sum(times for (one, other), times in cells.items() if one == other) / count if count else None
    agreed_by_chance = sum(rows[label] * columns[label] for label in rows)
    if observed is None or agreed_by_chance == count * count:
        return Kappa(value=None, interval=None, standard_error=None, observed=observed, paired=count, unpaired=unpaired)
    chance = agreed_by_chance / (count * count)
    value = (observed - chance) / (1 - chance)
    error = _kappa_error(cells, rows, columns, kappa=value, chance=chance)
    # As many trials as would give a plain share the standard error that po has; all of them where it has none.
    variance = (1 - chance) ** 2 * error**2
    trials = observed * (1 - observed) / variance if variance and 0 < observed < 1 else count
    lower, upper = score_interval(observed, trials, z=Z_95)
    return Kappa(
        value=value,
        interval=(max(-1.0, (lower - chance) / (1 - chance)), (upper - chance) / (1 - chance)),
        standard_error=error,
        observed=observed,
        paired=count,
        unpaired=unpaired,
    )


def _kappa_error(
    cells: Mapping[tuple[str, str], int], rows: Counter[str], columns: Counter[str], *, kappa: float, chance: float
) -> float:
    """The large-sample standard error of kappa: equation 13 of Fleiss, Cohen and Everitt."""
    count = rows.total()
    terms = [
        share * ((1 - (rows[one] + columns[one]) / count * (1 - kappa)) ** 2)
        if one == other
        else share * ((1 - kappa) * (columns[one] + rows[other]) / count) ** 2
        for (one, other), share in ((cell, times / count) for cell, times in cells.items())
    ]
    squared = (math.fsum(terms) - (kappa - chance * (1 - kappa)) ** 2) / (count * (1 - chance) ** 2)
    return math.sqrt(max(0.0, squared))  # complete agreement leaves a rounding error of either sign


def nominal_alpha(units: Iterable[Sequence[str | None]]) -> Alpha:
    """Krippendorff's alpha of labels: each unit is one thing with the label that each judge gave it.

    K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011): 1 - Do / De, where Do is the disagreement
    within units and De the one expected if the votes had been dealt at random; two labels are equal or they are not.
    """
    return _alpha(units, _unequal_pairs)


def nominal_alpha_of_counts(units: Mapping[tuple[str, ...], int]) -> Alpha:
    """As `nominal_alpha`, of counts: how many things got these labels. No vote of these is missing."""
    pairable = {unit: times for unit, times in units.items() if len(unit) > 1}
    votes = Counter[str]()
    for unit, times in pairable.items():
        votes.update({label: times * count for label, count in Counter(unit).items()})
    within = math.fsum(times * _unequal_pairs(unit) / (len(unit) - 1) for unit, times in pairable.items())
    between = votes.total() ** 2 - sum(count**2 for count in votes.values())
    return Alpha(
        value=1 - (votes.total() - 1) * within / between if between else None,
        units=sum(pairable.values()),
        votes=votes.total(),
        unpaired=sum(units.values()) - sum(pairable.values()),
    )


def interval_alpha(units: Iterable[Sequence[float | None]]) -> Alpha:
    """Krippendorff's alpha of scores: as `nominal_alpha`, but two scores disagree by the square of their difference.

    Raises `InputError` for a score that is not finite.
    """
    given = [tuple(unit) for unit in units]
    if not all(vote is None or math.isfinite(vote) for unit in given for vote in unit):
        raise InputError("A score that is not a finite number cannot be compared.", where="votes")
    return _alpha(given, _squared_differences)


def _alpha[Vote: Hashable](
    units: Iterable[Sequence[Vote | None]], disagreement: Callable[[Sequence[Vote]], float]
) -> Alpha:
    given = [[vote for vote in unit if vote is not None] for unit in units]
    pairable = [votes for votes in given if len(votes) > 1]
    votes = [vote for unit in pairable for vote in unit]
    within = math.fsum(disagreement(unit) / (len(unit) - 1) for unit in pairable)
    between = disagreement(votes)
    return Alpha(
        value=1 - (len(votes) - 1) * within / between if between else None,
        units=len(pairable),
        votes=len(votes),
        unpaired=len(given) - len(pairable),
    )


def _unequal_pairs(votes: Sequence[Hashable]) -> float:
    """How many ordered pairs of votes differ."""
    return len(votes) ** 2 - sum(times**2 for times in Counter(votes).values())


def _squared_differences(votes: Sequence[float]) -> float:
    """The squared differences of all ordered pairs, summed: twice the count times the squares about the mean."""
    if min(votes, default=0.0) == max(votes, default=0.0):  # a rounded mean would leave a difference where none is
        return 0.0
    mean = math.fsum(votes) / len(votes)
    return 2 * len(votes) * math.fsum((vote - mean) ** 2 for vote in votes)
