"""The threshold of a judge: from which confidence on people agree with its verdicts as often as is wanted."""

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from touchstone.errors import SettingsError
from touchstone.statistics.intervals import binomial_lower, refutes_share, shows_share

WANTED_AGREEMENT = 0.95
"""The share of a judge's sure verdicts that people must agree with, if `TOUCHSTONE_AGREEMENT` is not set."""
CERTAINTY = 0.95
"""How certain it must be that the agreement above a threshold is the wanted one."""
REFUTATION_CERTAINTY = 0.999
"""How certain it must be that a judge is too low if fewer labels than `fewest_labels` say so. Labels come one by one
and are tested each time: with this certainty, 0.4 % of judges that are just good enough are silenced at some time
before they have 93 labels."""
DEFAULT_MIN_CONFIDENCE = 0.8
"""The confidence (0-1) from which on a verdict is believed without labels. Every job asks this confidence of its
judges."""
EVEN_CHANCE = 0.5
"""How certain the wanted agreement must be above a level of believed verdicts that is too low. The judge's own
confidence has proved worth nothing there, so a higher confidence alone is no longer enough."""
MIN_NEW_LABELS = 10
"""Labels that a level must have in addition to the labels of the level tested before it. Otherwise it would pass by the
labels of that level, and a judge would be believed at a confidence that nobody has looked at."""
VARIABLE = "TOUCHSTONE_AGREEMENT"
MOST_LABELS = 1_000_000
"""The most labels ever searched for; nobody gives more. An agreement that needs more cannot be shown."""

type ThresholdState = Literal["found", "below_wanted", "not_enough_labels"]
"""The result of the search. `below_wanted`: the labels show that people agree with fewer verdicts than is wanted.
`not_enough_labels`: too few labels to test any level, or the labels show neither that people agree too seldom nor that
they agree often enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCounts:
    """The labelled verdicts of at least this `confidence`: their number, and how many of them people agree with."""

    confidence: float
    labels: int
    agreed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceThreshold:
    """What labels say of the confidence from which on a judge can be relied on.

    `confidence` is the threshold, 0-1, null if none is found. The state `below_wanted` means that people agree too
    seldom with verdicts whose confidence is below `silent_below`. Those verdicts decide nothing, and the others are
    believed as without labels. If `silent_below` is null in that state, the judge decides nothing at all. `labels` and
    `agreed` are the numbers of labels and of agreeing labels at the threshold and above. Without a threshold, they are
    those at the level that decided the state; if no level could be tested, those at the lowest level. `bound` is the
    lower bound of the agreement there, at `certainty`; null without a label. `needed` is the fewest labels at such a
    level that would show the wanted agreement if people go on to agree as often. If no level could be tested, it is
    the fewest labels with which one is tested (`fewest_labels`), whatever they say. It is null if a threshold is found
    or the judge is shown to be below the wanted agreement, or if no number of labels would show it.
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

    @property
    def tested(self) -> bool:
        """Whether there are enough labels to test a level."""
        return self.labels >= fewest_labels(self.wanted, self.certainty)


def threshold_of(
    levels: Sequence[LevelCounts], *, wanted: float = WANTED_AGREEMENT, certainty: float = CERTAINTY
) -> ConfidenceThreshold:
    """The lowest confidence from which on people agree with a judge's verdicts at the wanted rate.

    J. Jung, F. Brahman, Y. Choi, "Trust or Escalate: LLM judges with provable guarantees for human agreement", ICLR
    2025 (arXiv 2407.18370): fixed-sequence testing. The levels are tested from the highest confidence downwards, up to
    the first that fails. Each test is the exact bound of Clopper and Pearson at the whole certainty. The last level
    that passed is the threshold. Since the order is fixed before any label is seen, the chance that the agreement above
    a threshold is lower than `wanted` is at most 1 - `certainty`, however many levels there are.

    A level is passed over if it has fewer labels than `fewest_labels`, or fewer than `MIN_NEW_LABELS` of its own. This
    depends on the number of the labels and not on what they say, so that the guarantee holds. Without it a few labels
    at the top would end every search.

    If there is no threshold, the search for a level that is too low begins. If a level with at least `fewest_labels`
    labels has an upper bound below `wanted`, the highest level with such a bound and at least `MIN_NEW_LABELS` labels
    is shown to be too low. Otherwise it is the highest level whose bound is below `wanted` with the certainty
    `REFUTATION_CERTAINTY`. Verdicts below the next higher level then decide nothing. If the level is one that would be
    believed without labels, verdicts decide nothing up to the next level at which the wanted agreement is certain to
    `EVEN_CHANCE`, if there is one.

    `levels` are a fixed grid, whatever the labels say. Raises `ValueError` for a share outside 0-1.
    """
    if not (0 < wanted < 1 and 0 < certainty < 1):
        raise ValueError(f"an agreement of {wanted} at a certainty of {certainty} cannot be shown")
    falling = sorted(levels, key=lambda level: -level.confidence)
    fewest = fewest_labels(wanted, certainty)
    passed: LevelCounts | None = None
    failed: LevelCounts | None = None
    for level in falling:
        if level.labels < (fewest if passed is None else max(fewest, MIN_NEW_LABELS + passed.labels)):
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
    """The fewest labels with which a level is tested. They would show the wanted agreement despite one mistake.

    There are at least `MIN_NEW_LABELS`. This is 93 at 0.95. Fewer labels, 59, would do if people agree with all of the
    verdicts. But then one mistake among the first ones ended the search: with 200 labels a judge that is right in 99 %
    of cases got a threshold in 59 % of simulations instead of 75 %.
    """
    fewest = _least(lambda labels: shows_share(wanted, labels - 1, labels, certainty=certainty), start=2)
    return max(MIN_NEW_LABELS, fewest or MOST_LABELS)


def wanted_agreement() -> float:
    """The wanted agreement: the value of `TOUCHSTONE_AGREEMENT`, 0.95 if it is not set.

    Raises `SettingsError` for anything but a number from 0.5 to 0.999.
    """
    setting = os.environ.get(VARIABLE, "").strip()
    if not setting:
        return WANTED_AGREEMENT
    try:
        wanted = float(setting)
    except ValueError:
        wanted = 0.0
    if not 0.5 <= wanted <= 0.999:  # noqa: PLR2004 - the sentence says both
        raise SettingsError(f"{VARIABLE} must be a share from 0.5 to 0.999, such as 0.95; it is {setting!r}.")
    return wanted


def _shown_below(falling: Sequence[LevelCounts], wanted: float, certainty: float) -> LevelCounts | None:
    """The highest level whose labels show that people agree less often than is wanted; None if no level shows it."""

    def refuted(level: LevelCounts, certain: float) -> bool:
        return refutes_share(wanted, level.agreed, level.labels, certainty=certain)

    below = [level for level in falling if level.labels >= MIN_NEW_LABELS and refuted(level, certainty)]
    if any(level.labels >= fewest_labels(wanted, certainty) for level in below):
        return below[0]
    return next((level for level in falling if refuted(level, REFUTATION_CERTAINTY)), None)


def _silent_below(falling: Sequence[LevelCounts], below: LevelCounts, wanted: float) -> float | None:
    """The lowest level above `below` whose verdicts are still believed; None if there is no such level."""
    above = [level for level in falling if level.confidence > below.confidence]
    if below.confidence >= DEFAULT_MIN_CONFIDENCE:
        above = [level for level in above if shows_share(wanted, level.agreed, level.labels, certainty=EVEN_CHANCE)]
    return min((level.confidence for level in above), default=None)


def _needed(level: LevelCounts, wanted: float, certainty: float) -> int | None:
    """The fewest labels that would show the wanted agreement; None if no number would.

    People are assumed to go on to agree with the same share of the verdicts, rounded down to whole labels. So a number
    may show it although a larger one does not, just after one more mistake. Without rounding, more labels always show
    more: the search begins at the fewest that would do then. From there it goes on mistake by mistake.
    """
    agreed, labels = level.agreed, level.labels
    mistakes = labels - agreed

    def shows(number: int) -> bool:
        return shows_share(wanted, agreed * number // labels, number, certainty=certainty)

    first = _least(
        lambda number: shows_share(wanted, agreed * number / labels, number, certainty=certainty), start=labels
    )
    while first is not None and first <= MOST_LABELS:
        made = first - agreed * first // labels
        most = made * labels // mistakes if mistakes else MOST_LABELS
        same = range(first, min(most, MOST_LABELS) + 1)  # the numbers with as many mistakes: more of them show more
        if shows(same[-1]):
            return same[bisect_left(same, True, key=shows)]
        first = same[-1] + 1
    return None


def _least(shows: Callable[[int], bool], *, start: int) -> int | None:
    """The fewest labels for which `shows` is true, by doubling and halving; None if `MOST_LABELS` do not show it.

    Whatever number shows it, every larger one must show it, too.
    """
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
