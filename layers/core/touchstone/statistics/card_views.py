"""Judge cards as their reader sees them, the same through every door."""

import hashlib
import json
from dataclasses import astuple
from typing import Literal

from pydantic import BaseModel, ConfigDict

from touchstone.statistics.agreement import FlipRate
from touchstone.statistics.cards import Agreement, Calibration, CallFigures, JudgeCard, NotEnoughLabels, card
from touchstone.statistics.tallies import CardTally, JudgeKey

CARD_ID_DIGITS = 16


class _View(BaseModel):
    """What is shown: fixed once it is made."""

    model_config = ConfigDict(frozen=True)


class JudgeCardView(_View):
    """A judge, tier, prompt version and kind of verdict: agreement with people's labels, calibration, flips, calls.

    `model` is the one that answered, or `checks` where a proof decided, `retrieved` where an earlier verdict was used
    again. `undecided` things have a label and no verdict.
    """

    id: str
    kind: str
    model: str
    tier: str | None
    prompt_version: str | None
    labels: int
    undecided: int
    agreement: Agreement | NotEnoughLabels
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
            calibration=found.calibration,
            flips=found.flips,
            calls=found.calls,
        )


class JudgeSummary(_View):
    """A card in one line.

    `labels` verdicts have a person's label; with fewer than 30 (`state` is `not_enough_labels`) there is no `kappa`,
    with fewer than 30 that told a confidence no `ece`. Shares, the interval of kappa included, are 0-1 (kappa at least
    -1); `verdict_cost_usd` is US dollars, null where `unpriced` calls have no known price. Null: not known.
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
            **view.model_dump(include=set(cls.model_fields) & set(JudgeCardView.model_fields) - {"calls"}),
            state=view.agreement.state,
            kappa=None if kappa is None else kappa.value,
            kappa_lower=lower,
            kappa_upper=upper,
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


def shown_cards(tallies: dict[JudgeKey, CardTally]) -> tuple[JudgeCardView, ...]:
    """The cards of what was counted, by kind, model, tier and prompt version; none of a judge that counts nothing."""
    keys = sorted(tallies, key=lambda key: (key.kind, key.model, key.tier or "", key.prompt_version or ""))
    return tuple(JudgeCardView.of(key, card(tallies[key])) for key in keys if tallies[key] != CardTally())
