"""Tests of several metrics at once: without a correction of the p-values, some metric differs by chance alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.errors import InputError

FAMILY_LEVEL = 0.05
"""How often at least one metric may be declared different although none is: the family-wise error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """One hypothesis of a family. `p_value` and `adjusted` (never below `p_value`) are 0-1.

    Both are None if there was no test; the hypothesis is then no part of the family. `rejected`: a difference is
    declared.
    """

    p_value: float | None
    adjusted: float | None
    rejected: bool


def holm(p_values: Mapping[str, float | None], *, level: float = FAMILY_LEVEL) -> dict[str, Corrected]:
    """The corrected p-values by name, in the order given. `level` (0-1) is the family-wise error that is kept.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979), 65-70: of m
    p-values in ascending order the k-th is multiplied by m - k + 1 and never falls below the one before it. The
    correction holds whatever the dependence between the metrics, and rejects all that Bonferroni's rejects. Equal
    p-values stay equal, so that the order of the metrics changes nothing. A rejected hypothesis has a p-value of its
    own of at most `level`; if it comes from `paired_difference`, its interval excludes 0.

    Raises `InputError` for a p-value outside 0-1 and `ValueError` for a level outside 0-1.
    """
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1, not at {level}")
    tested = {name: p for name, p in p_values.items() if p is not None}
    for name, p in tested.items():
        if not 0 <= p <= 1:
            raise InputError(f"The p-value of {name!r} must lie between 0 and 1, not at {p}.", where=name)
    adjusted: dict[str, float] = {}
    reached = 0.0
    for before, name in enumerate(sorted(tested, key=tested.__getitem__)):
        reached = max(reached, min(1.0, (len(tested) - before) * tested[name]))
        adjusted[name] = reached
    return {
        name: Corrected(p_value=p, adjusted=adjusted.get(name), rejected=adjusted.get(name, 1.0) <= level)
        for name, p in p_values.items()
    }
