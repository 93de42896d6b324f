"""Judge cards as a reader sees them. They are the same in every interface."""

import hashlib
import json
from dataclasses import astuple
from typing import Literal

from pydantic import BaseModel, ConfigDict

from touchstone.statistics.agreement import Alpha, FlipRate
from touchstone.statistics.cards import (
    Agreement,
    Calibration,
    CallFigures,
    ClassRate,
    JudgeCard,
    NotEnoughLabels,
    Share,
    judge_card,
)
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.statistics.thresholds import WANTED_AGREEMENT, ConfidenceThreshold, ThresholdState

CARD_ID_DIGITS = 16
VERSION_DIGITS = 8
_SHOWN_OTHERWISE = {"alpha", "calls", "threshold"}
"""Fields of a card that its summary in one line shows in other fields, or as one figure of several."""


class _View(BaseModel):
    """A view for a reader; it does not change once it is made."""

    model_config = ConfigDict(frozen=True)


class JudgeCardView(_View):
    """The card of one judge, tier, prompt version and kind of verdict: agreement, calibration, flips and calls.

    `model` is the model that answered. It is `checks` if a proof decided, and `retrieved` if an earlier verdict was
    used again. `agreement` is with people's labels. `undecided` things have a label and no verdict. `people` is how
    often two people who labelled the same thing agree; compare the judge's agreement with it. `alpha` is the agreement
    of several judges, this one among them (Krippendorff's alpha, over `units` things). Its value is null if no such
    group was asked, or all said the same. `threshold` is the confidence from which on the judge's verdicts decide, and
    `threshold_version` is the word for it in the verdicts that passed. `rates` are how often the judge gives each
    class, and how often people would.
    """

    id: str
    kind: str
    model: str
    tier: str | None
    prompt_version: str | None
    labels: int
    undecided: int
    agreement: Agreement | NotEnoughLabels
    people: Share
    alpha: Alpha
    threshold: ConfidenceThreshold
    threshold_version: str
    rates: tuple[ClassRate, ...]
    calibration: Calibration | NotEnoughLabels
    flips: FlipRate
    calls: CallFigures

    @classmethod
    def of(cls, key: JudgeKey, found: JudgeCard) -> "JudgeCardView":
        """The view of a card."""
        return cls(
            id=card_id(key),
            kind=key.kind,
            model=key.model,
            tier=key.tier,
            prompt_version=key.prompt_version,
            labels=found.labels,
            undecided=found.undecided,
            agreement=found.agreement,
            people=found.people,
            alpha=found.alpha,
            threshold=found.threshold,
            threshold_version=threshold_version(key, found.threshold),
            rates=found.rates,
            calibration=found.calibration,
            flips=found.flips,
            calls=found.calls,
        )


class JudgeSummary(_View):
    """A judge's card in one line. A field is null if its value is not known.

    `labels` verdicts have a person's label. With fewer than 30 (`state` is `not_enough_labels`) there is no `kappa`.
    With fewer than 30 that have a confidence there is no `ece`. `threshold` is the confidence from which on the judge's
    verdicts decide; it is null if none was found, and `threshold_state` says why. `people_agree` is how often two
    people agree, and `alpha` is the agreement of several judges, this one among them. Shares are 0-1; kappa and its
    interval may be as low as -1. `verdict_cost_usd` is US dollars, null if `unpriced` calls have no known price.
    """

    id: str
    kind: str
    model: str
    tier: str | None
    prompt_version: str | None
    state: Literal["measured", "not_enough_labels"]
    labels: int
    undecided: int
    kappa: float | None
    kappa_lower: float | None
    kappa_upper: float | None
    people_agree: float | None
    alpha: float | None
    threshold: float | None
    threshold_state: ThresholdState
    ece: float | None
    flip_rate: float | None
    calls: int
    unreadable_share: float | None
    latency_ms: float | None
    verdict_cost_usd: float | None
    unpriced: int

    @classmethod
    def of(cls, view: JudgeCardView) -> "JudgeSummary":
        """A card in one line."""
        kappa = view.agreement.kappa if isinstance(view.agreement, Agreement) else None
        lower, upper = (None, None) if kappa is None or kappa.interval is None else kappa.interval
        return cls(
            **view.model_dump(include=set(cls.model_fields) & set(JudgeCardView.model_fields) - _SHOWN_OTHERWISE),
            state=view.agreement.state,
            kappa=None if kappa is None else kappa.value,
            kappa_lower=lower,
            kappa_upper=upper,
            people_agree=view.people.value,
            alpha=view.alpha.value,
            threshold=view.threshold.confidence,
            threshold_state=view.threshold.state,
            ece=view.calibration.diagram.ece if isinstance(view.calibration, Calibration) else None,
            flip_rate=view.flips.rate,
            calls=view.calls.calls,
            unreadable_share=view.calls.unreadable_share.value,
            latency_ms=view.calls.latency_ms,
            verdict_cost_usd=view.calls.verdict_cost_usd,
            unpriced=view.calls.unpriced,
        )


def card_id(key: JudgeKey) -> str:
    """The name of a judge's card in addresses: a hash of the judge's key (16 hex digits)."""
    return hashlib.sha256(json.dumps(astuple(key)).encode()).hexdigest()[:CARD_ID_DIGITS]


def threshold_version(key: JudgeKey, found: ConfidenceThreshold) -> str:
    """The version of a card's threshold: a hash of card and threshold (8 hex digits).

    It changes when labels change them.
    """
    content = json.dumps([card_id(key), found.confidence, found.labels, found.agreed, found.wanted, found.silent_below])
    return hashlib.sha256(content.encode()).hexdigest()[:VERSION_DIGITS]


def shown_cards(tallies: dict[JudgeKey, CardTally], *, wanted: float = WANTED_AGREEMENT) -> tuple[JudgeCardView, ...]:
    """The cards of the tallies, sorted by kind, model, tier and prompt version. An empty tally has no card.

    `wanted` is the agreement (0-1) that the thresholds of the cards must show.
    """
    keys = sorted(tallies, key=lambda key: (key.kind, key.model, key.tier or "", key.prompt_version or ""))
    return tuple(
        JudgeCardView.of(key, judge_card(tallies[key], wanted=wanted)) for key in keys if tallies[key] != CardTally()
    )
