"""How far a judge's labels have come towards their aim, and how many are still needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from touchstone.statistics.card_views import card_id
from touchstone.statistics.cards import judge_card
from touchstone.statistics.corrected import MIN_CORRECTING_LABELS
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.statistics.thresholds import WANTED_AGREEMENT

type LabelAim = Literal["first_rate", "narrower_rate", "rate_reached", "threshold", "threshold_reached", "no_threshold"]
"""The aim of the next labels. `first_rate`: a first corrected rate. `narrower_rate`: a rate whose interval is half as
wide. `rate_reached`: more labels make the interval no narrower. `threshold`: a confidence from which on the judge can
be relied on. `threshold_reached`: the threshold is found. `no_threshold`: labels show that there is none, or none can
be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelProgress:
    """How far a judge's labels have come: `labels` of `needed` for the next aim.

    `needed` is None if no more are needed.
    """

    judge: JudgeKey
    card: str
    aim: LabelAim
    labels: int
    needed: int | None

    @property
    def missing(self) -> int:
        """The number of labels still needed; 0 if none are."""
        return 0 if self.needed is None else max(0, self.needed - self.labels)


def rate_progress(judge: JudgeKey, tally: CardTally) -> LabelProgress:
    """The progress of a judge's random sample: first to a corrected rate, then to an interval half as wide."""
    labels = sum(tally.sampled.values())
    aim, needed = _rate_aim(tally, labels)
    return LabelProgress(judge=judge, card=card_id(judge), aim=aim, labels=labels, needed=needed)


def threshold_progress(judge: JudgeKey, tally: CardTally, *, wanted: float = WANTED_AGREEMENT) -> LabelProgress:
    """The progress of a judge's labels towards a threshold of its confidence."""
    found = judge_card(tally, wanted=wanted).threshold
    aim: LabelAim = "threshold_reached" if found.state == "found" else "threshold" if found.needed else "no_threshold"
    return LabelProgress(judge=judge, card=card_id(judge), aim=aim, labels=found.labels, needed=found.needed)


def label_progress(
    tallies: Mapping[JudgeKey, CardTally], *, kind: str, sample: Literal["random", "unsure"], wanted: float
) -> tuple[LabelProgress, ...]:
    """The progress of all judges of one kind of verdict: first the judge that needs the fewest further labels.

    Judges that need no more labels come last. With `unsure`, checks are left out: they have no threshold, since they
    are either right or silent.
    """
    of_kind = {key: tally for key, tally in tallies.items() if key.kind == kind and tally != CardTally()}
    if sample == "random":
        found = [rate_progress(key, tally) for key, tally in of_kind.items()]
    else:
        judges = ((key, tally) for key, tally in of_kind.items() if key.tier is not None)
        found = [threshold_progress(key, tally, wanted=wanted) for key, tally in judges]
    return tuple(sorted(found, key=lambda one: (one.needed is None, one.missing, one.judge.model, one.card)))


def _rate_aim(tally: CardTally, labels: int) -> tuple[LabelAim, int | None]:
    if labels < MIN_CORRECTING_LABELS:
        return "first_rate", MIN_CORRECTING_LABELS
    corrected = [rate.corrected for rate in judge_card(tally).rates if rate.corrected is not None]
    more = [each.to_halve for each in corrected if each.to_halve is not None]
    return ("narrower_rate", labels + max(more)) if more else ("rate_reached", None)
