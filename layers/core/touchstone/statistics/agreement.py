"""Agreement of a judge with itself, of two judges, and of several judges.

A vote of None is a judge that failed. It is left out and counted, and is never taken for a label.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.errors import InputError
from touchstone.statistics.intervals import Z_95, score_interval, wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRate:
    """How often a verdict changed when the order of the two variants was swapped.

    `rate` is 0-1, and `interval` is the Wilson interval of 95 %. Both are null if no pair was judged in both orders.
    `unjudged` pairs lack a verdict in one order or in both.
    """

    rate: float | None
    interval: tuple[float, float] | None
    flipped: int
    judged: int
    unjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement beyond chance: 1 is complete, 0 is what chance would give, below 0 is less than that (at least -1).

    `value`, `interval` (95 %) and `standard_error` are null if both used one and the same label throughout, or if
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
    """The agreement of any number of judges, where votes may be missing: 1 is complete, 0 is chance, the least is -1.

    `value` is null if fewer than two votes can be compared, or if all votes are the same: that does not show whether
    the judges can tell things apart. `units` is the number of units with at least two votes, and `votes` is the number
    of their votes. `unpaired` units have fewer votes and cannot count.
    """

    value: float | None
    units: int
    votes: int
    unpaired: int


def flip_rate(verdicts: Iterable[tuple[str | None, str | None]]) -> FlipRate:
    """The flip rate of pairs judged in both orders.

    Both verdicts name the variant (or the tie), not the place at which the variant stood. A tie in only one of the two
    orders is a flip.
    """
    given = list(verdicts)
    judged = [(one, other) for one, other in given if one is not None and other is not None]
    flipped = sum(one != other for one, other in judged)
    return flip_rate_of_counts(flipped=flipped, judged=len(judged), unjudged=len(given) - len(judged))


def flip_rate_of_counts(*, flipped: int, judged: int, unjudged: int) -> FlipRate:
    """The same as `flip_rate`, from counts."""
    return FlipRate(
        rate=flipped / judged if judged else None,
        interval=wilson_interval(flipped, judged) if judged else None,
        flipped=flipped,
        judged=judged,
        unjudged=unjudged,
    )


def cohen_kappa(labels: Iterable[tuple[str | None, str | None]]) -> Kappa:
    """Cohen's kappa of two labellers of the same things: (po - pe) / (1 - pe), po observed agreement, pe by chance.

    J. Cohen, Educ. Psychol. Meas. 20 (1960), 37-46. The standard error is that of J. Fleiss, J. Cohen and B. Everitt,
    Psychol. Bull. 72 (1969), 323-327. The interval is Wilson's interval of po, carried over to kappa at the pe found.
    Its number of trials is the one that gives po that standard error. The usual interval, value ± 1.96 standard errors,
    is the same for many labels. For few labels, or near 1, it covers kappa far too seldom (60 % where 100 things are
    labelled at a true kappa of 0.95 and nine tenths are of one class), shrinks to a point where all labels agree, and
    passes 1.
    """
    given = list(labels)
    cells = Counter((one, other) for one, other in given if one is not None and other is not None)
    return kappa_of_counts(cells, unpaired=len(given) - cells.total())


def kappa_of_counts(cells: Mapping[tuple[str, str], int], *, unpaired: int = 0) -> Kappa:
    """The same as `cohen_kappa`, from counts.

    `cells` gives for each pair (label of the first, label of the second) the number of things labelled so.
    """
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
    # The number of trials at which a plain share has the standard error of po; all things if po is 0 or 1 or has no
    # error.
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
    return math.sqrt(max(0.0, squared))  # if agreement is complete, rounding leaves an error of either sign


def nominal_alpha(units: Iterable[Sequence[str | None]]) -> Alpha:
    """Krippendorff's alpha of labels. Each unit is one thing: the labels that the judges gave it.

    K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011): 1 - Do / De. Do is the disagreement within
    units, De the disagreement expected if the votes were dealt at random. Two labels are either equal or not.
    """
    return _alpha(units, _unequal_pairs)


def nominal_alpha_of_counts(units: Mapping[tuple[str, ...], int]) -> Alpha:
    """The same as `nominal_alpha`, from counts: the number of things for each combination of labels.

    No vote is None.
    """
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
    """Krippendorff's alpha of scores: like `nominal_alpha`, but two scores disagree by the square of their difference.

    Raises `InputError` if a score is not finite.
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
    """The number of ordered pairs of votes that differ."""
    return len(votes) ** 2 - sum(times**2 for times in Counter(votes).values())


def _squared_differences(votes: Sequence[float]) -> float:
    """The sum of squared differences over all ordered pairs: 2 × count × the sum of squares about the mean."""
    if min(votes, default=0.0) == max(votes, default=0.0):  # all equal: a rounded mean would leave a difference
        return 0.0
    mean = math.fsum(votes) / len(votes)
    return 2 * len(votes) * math.fsum((vote - mean) ** 2 for vote in votes)
