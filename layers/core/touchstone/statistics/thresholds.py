"""From which confidence on a judge's verdicts agree with people as often as is wanted: a threshold from labels."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from touchstone.errors import SettingsError
from touchstone.statistics.exact import binomial_lower, refutes_share, shows_share

WANTED_AGREEMENT = 0.95
"""The share of a judge's sure verdicts that people are to agree with, where `TOUCHSTONE_AGREEMENT` says nothing."""
CERTAINTY = 0.95
"""How certain it is that the agreement above a threshold is the wanted one."""
CLEARLY = 0.999
"""How certain it must be that a judge is too low where fewer than `fewest_labels` say so: labels that come one by one
are looked at each time, and 0.4 % of judges that are just good enough are silenced at some time before they have 93."""
BELIEVED_FROM = 0.8
"""The confidence from which on a verdict is believed without labels."""
AS_LIKELY_AS_NOT = 0.5
"""How certain the wanted agreement must be above a level of believed verdicts that is too low: what the judge says of
its confidence has been shown to be worth nothing, so that its word for a higher one no longer does."""
OWN_LABELS = 10
"""Labels that a level must have beside those of the level tested before it: else it would pass by theirs, and a judge
be believed at a confidence at which nobody has looked."""
VARIABLE = "TOUCHSTONE_AGREEMENT"
MOST_LABELS = 1_000_000
"""Nobody gives more: what would take more labels than this to show cannot be shown."""

type ThresholdState = Literal["found", "below_wanted", "not_enough_labels"]
"""`below_wanted`: the labels show that people agree with fewer verdicts than is wanted. `not_enough_labels`: too few to
test any, or they show neither this nor that it is as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCounts:
    """The labelled verdicts whose confidence is at least this: how many, and with how many of them people agree."""

    confidence: float
    labels: int
    agreed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceThreshold:
    """What labels say of the confidence from which a judge can be relied on.

    `confidence` is the threshold, 0-1, None where none is found. `below_wanted` is shown for verdicts whose confidence
    is below `silent_below`: those decide nothing, and the others are believed as without labels. It is None where that
    is true of no verdict, and the judge decides nothing at all. `labels` and `agreed` are those at the threshold and
    above; without one those at the level that decided, and where none could be tested those at the lowest. `bound` is
    the lower bound of the agreement there, at `certainty`; None without a label. `needed` is how many labels at such a
    level would show the wanted agreement, if people go on to agree as often; None where one is found or where that
    would not do.
    """

    state: ThresholdState
    confidence: float | None
    labels: int
    agreed: int
    bound: float | None
    wanted: float
    needed: int | None
    silent_below: float | None = None
    certainty: float = CERTAINTY


def threshold_of(
    levels: Sequence[LevelCounts], *, wanted: float = WANTED_AGREEMENT, certainty: float = CERTAINTY
) -> ConfidenceThreshold:
    """The lowest confidence from which on a judge's verdicts agree with people at the wanted rate.

    J. Jung, F. Brahman, Y. Choi, "Trust or Escalate: LLM judges with provable guarantees for human agreement", ICLR
    2025 (arXiv 2407.18370): fixed-sequence testing. The levels are tested from the highest confidence downwards, each
    by the exact bound of Clopper and Pearson at the whole certainty, up to the first that fails; the last one that
    passed is the threshold. Since the order is fixed before any label is seen, the chance that the agreement above a
    threshold is lower than `wanted` is at most 1 - `certainty`, however many levels there are.

    A level with fewer labels than `fewest_labels` is passed over, and one with fewer than `OWN_LABELS` of its own. That
    looks at how many labels there are and not at what they say, so that the guarantee stays; else a few labels at the
    top would end every search.

    Without a threshold, the highest level whose upper bound lies below `wanted` is the one that is shown to be too low,
    if one of those levels has enough labels; with fewer, the highest that is `CLEARLY` so. Verdicts up to the next
    level decide nothing; where the level is one that would be believed, up to the next at which the wanted agreement is
    `AS_LIKELY_AS_NOT`, if there is one.

    `levels` are a fixed grid, whatever the labels say. Raises `ValueError` for a share that is none.
    """
    if not (0 < wanted < 1 and 0 < certainty < 1):
        raise ValueError(f"an agreement of {wanted} at a certainty of {certainty} cannot be shown")
    falling = sorted(levels, key=lambda level: -level.confidence)
    fewest = fewest_labels(wanted, certainty)
    passed: LevelCounts | None = None
    failed: LevelCounts | None = None
    for level in falling:
        if level.labels < max(fewest, OWN_LABELS + (0 if passed is None else passed.labels)):
            continue
        if not shows_share(wanted, level.agreed, level.labels, certainty=certainty):
            failed = level
            break
        passed = level
    below = _shown_below(falling, wanted, certainty) if passed is None else None
    lowest = falling[-1] if falling else LevelCounts(confidence=0.0, labels=0, agreed=0)
    shown = passed or below or failed or lowest
    needed = None
    if passed is None and below is None:
        needed = fewest if failed is None else _needed(failed, wanted, certainty)
    return ConfidenceThreshold(
        state="found" if passed is not None else "below_wanted" if below is not None else "not_enough_labels",
        confidence=None if passed is None else passed.confidence,
        labels=shown.labels,
        agreed=shown.agreed,
        bound=binomial_lower(shown.agreed, shown.labels, certainty=certainty) if shown.labels else None,
        wanted=wanted,
        needed=needed,
        silent_below=None if below is None else _silent_below(falling, below, wanted),
        certainty=certainty,
    )


@cache
def fewest_labels(wanted: float = WANTED_AGREEMENT, certainty: float = CERTAINTY) -> int:
    """The fewest labels that show the wanted agreement although people disagree with one of the verdicts.

    93 at 0.95. Fewer, 59, would do where they agree with all: but then one mistake among the first ended the search,
    and with 200 labels a judge that is right in 99 % of cases got a threshold in 59 % of simulations instead of 75 %.
    """
    return _least(lambda labels: shows_share(wanted, labels - 1, labels, certainty=certainty), start=2) or (MOST_LABELS)


def wanted_agreement() -> float:
    """The agreement that `TOUCHSTONE_AGREEMENT` wants, 0.95 without it. Raises `SettingsError` for what is no share."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return WANTED_AGREEMENT
    try:
        wanted = float(said)
    except ValueError:
        wanted = 0.0
    if not 0.5 <= wanted <= 0.999:  # noqa: PLR2004 - the sentence says both
        raise SettingsError(f"{VARIABLE} must be a share from 0.5 to 0.999, such as 0.95; it is {said!r}.")
    return wanted


def _shown_below(falling: Sequence[LevelCounts], wanted: float, certainty: float) -> LevelCounts | None:
    """The highest level whose labels show that people agree less often than is wanted; None where none does."""

    def refuted(level: LevelCounts, certain: float) -> bool:
        return refutes_share(wanted, level.agreed, level.labels, certainty=certain)

    below = [level for level in falling if level.labels >= OWN_LABELS and refuted(level, certainty)]
    if any(level.labels >= fewest_labels(wanted, certainty) for level in below):
        return below[0]
    return next((level for level in falling if level.labels and refuted(level, CLEARLY)), None)


def _silent_below(falling: Sequence[LevelCounts], below: LevelCounts, wanted: float) -> float | None:
    """The lowest level above the one that is too low whose verdicts are believed all the same; None for no such one."""
    above = [level for level in falling if level.confidence > below.confidence]
    if below.confidence >= BELIEVED_FROM:
        above = [
            level for level in above if shows_share(wanted, level.agreed, level.labels, certainty=AS_LIKELY_AS_NOT)
        ]
    return min((level.confidence for level in above), default=None)


def _needed(level: LevelCounts, wanted: float, certainty: float) -> int | None:
    """How many labels would show the wanted agreement where people agree with this share of them; None: none would."""
    share = level.agreed / level.labels
    return _least(
        lambda labels: shows_share(wanted, int(share * labels), labels, certainty=certainty), start=level.labels
    )


def _least(shows: Callable[[int], bool], *, start: int) -> int | None:
    """The fewest labels that show it, by doubling and halving; None where even the most do not."""
    high = start
    while not shows(high):
        if high >= MOST_LABELS:
            return None
        high = min(2 * high, MOST_LABELS)
    low = max(start - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
