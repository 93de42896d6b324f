"""Judge cards as their reader sees them, the same through every door."""

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
    card,
)
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.statistics.thresholds import WANTED_AGREEMENT, ConfidenceThreshold, ThresholdState

CARD_ID_DIGITS = 16
VERSION_DIGITS = 8
_TOLD_OTHERWISE = {"alpha", "calls", "threshold"}
"""What a card in one line tells by other fields, or by one figure of many."""


class _View(BaseModel):
    """What is shown: fixed once it is made."""

    model_config = ConfigDict(frozen=True)


class JudgeCardView(_View):
    """A judge, tier, prompt version and kind of verdict: agreement with people's labels, calibration, flips, calls.

    `model` is the one that answered, or `checks` where a proof decided, `retrieved` where an earlier verdict was used
    again. `undecided` things have a label and no verdict. `people` is how often two people agree who labelled the same
    thing, beside which the judge's agreement stands. `alpha` is the agreement of several judges of whom this one was
    one (Krippendorff's alpha, over `units` things), its value null where none was asked so, or all said the same.
    `threshold` is the confidence from which on its verdicts decide, and `threshold_version` the word for it in the
    verdicts that it let pass. `rates` are how often it gives each class, and how often people would.
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
    """A card in one line.

    `labels` verdicts have a person's label; with fewer than 30 (`state` is `not_enough_labels`) there is no `kappa`,
    with fewer than 30 that told a confidence no `ece`. `threshold` is the confidence from which on its verdicts decide,
    null where none was found, for what `threshold_state` says. `people_agree` is how often two people agree, `alpha`
    the agreement of several judges of whom this one was one. Shares,
    the interval of kappa included, are 0-1 (kappa at least -1); `verdict_cost_usd` is US dollars, null where `unpriced`
    calls have no known price. Null: not known.
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
            **view.model_dump(include=set(cls.model_fields) & set(JudgeCardView.model_fields) - _TOLD_OTHERWISE),
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
    """The name of a judge's card in addresses: a hash of whose it is (16 hex digits)."""
    return hashlib.sha256(json.dumps(astuple(key)).encode()).hexdigest()[:CARD_ID_DIGITS]


def threshold_version(key: JudgeKey, found: ConfidenceThreshold) -> str:
    """Which threshold of which card this is: a hash of both (8 hex digits), another one whenever labels change it."""
    told = json.dumps([card_id(key), found.confidence, found.labels, found.agreed, found.wanted, found.silent_below])
    return hashlib.sha256(told.encode()).hexdigest()[:VERSION_DIGITS]


def shown_cards(tallies: dict[JudgeKey, CardTally], *, wanted: float = WANTED_AGREEMENT) -> tuple[JudgeCardView, ...]:
    """The cards of what was counted, by kind, model, tier and prompt version; none of a judge that counts nothing.

    `wanted` is the agreement (0-1) that their thresholds are to show.
    """
    keys = sorted(tallies, key=lambda key: (key.kind, key.model, key.tier or "", key.prompt_version or ""))
    return tuple(
        JudgeCardView.of(key, card(tallies[key], wanted=wanted)) for key in keys if tallies[key] != CardTally()
    )
