"""Several judges of one metric: what follows from what each of them says of each item.

classes ─> more than half of those wanted agree ──> that class, as the first of them puts it
           judges that failed could still make up a majority ──> unscored: their failure, which may pass
           different classes ──> unscored: split
scores  ─> the median, of more than half of those wanted; unscored as long as a judge that failed could move it
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from touchstone.errors import LASTING
from touchstone.judges.base import Judge
from touchstone.judges.panel import JudgePanel
from touchstone.judges.spends import BY_CHECKS, Spend
from touchstone.material import Source, Summary
from touchstone.statistics.votes import panel_score, panel_vote
from touchstone.surfaces.catalogue import Material, Metric
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import (
    TIER,
    Claims,
    ItemLabel,
    ItemVote,
    MetricName,
    MetricResult,
    Topics,
    UnscoredItem,
    result,
)
from touchstone.text.language import Language

if TYPE_CHECKING:
    from touchstone.judges.opening import Judges

SCORES: frozenset[MetricName] = frozenset({"summary_coherence", "quiz_coverage", "flashcard_coverage"})
"""The metrics whose items a judge gives a number, in a label such as `3` or `DEPTH_2`; the labels of all others are
classes without a middle."""
TRIVIAL = "TRIVIAL"
"""The class of a claim that whoever took the summary apart has set aside: nobody votes on it."""
NOBODY = "misconfigured"
"""Why a judge that there is not says nothing."""

type _Said = ItemLabel | UnscoredItem


def metric_judges(judges: "Judges", wanted: int) -> JudgePanel:
    """As many judges of metrics as are wanted, each of another provider, or as many as there are."""
    return JudgePanel(wanted=wanted, able=judges.several(TIER, wanted), remedy=judges.remedy)


async def measured_by_several(
    metric: Metric,
    material: Material,
    source: Source | None,
    judges: JudgePanel,
    *,
    measuring: Callable[[Judge], Measuring],
) -> MetricResult:
    """Measure by several judges side by side; `measuring` is what one of them works with.

    What a metric takes material apart into (the topics of a source, the claims of a summary) the first judge finds for
    all, so that they speak of the same items. Raises nothing for a judge that fails; `MisconfiguredError` where there
    are fewer than a majority takes.
    """
    if (lacking := judges.lacking) is not None:
        raise lacking
    asked = [measuring(judge) for judge in judges.asked]
    parts = await _taken_apart(metric, material, source, asked[0])
    results = await asyncio.gather(
        *(metric.measure(material, source, parts.given(one), language=one.language) for one in asked)
    )
    seats = [
        _Seat(provider=one.judge.provider, said={each.item: each for each in told.all_items})
        for one, told in zip(asked, results, strict=True)
    ]
    seats += [_Seat()] * (judges.wanted - len(seats))
    decided = [_decided(metric.name, item, seats, asked[0].language) for item in _in_order(results)]
    return result(
        metric.name,
        tuple(one for one in decided if isinstance(one, ItemLabel)),
        unscored=(*parts.unscored, *(one for one in decided if isinstance(one, UnscoredItem))),
        spends=(*parts.spends, *(spend for one in results for spend in one.spends)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What some material was taken apart into, None where its metric takes nothing apart, and what that adds once."""

    topics: Topics | None = None
    claims: Claims | None = None

    def given(self, measuring: Measuring) -> Measuring:
        """With the parts for a judge to speak of; what finding them cost is counted beside."""
        topics = None if self.topics is None else replace(self.topics, unscored=(), spends=())
        claims = None if self.claims is None else replace(self.claims, unscored=(), spends=())
        return replace(measuring, topics=topics, claims=claims)

    @property
    def unscored(self) -> tuple[UnscoredItem, ...]:
        return tuple(item for one in (self.topics, self.claims) if one is not None for item in one.unscored)

    @property
    def spends(self) -> tuple[Spend, ...]:
        return tuple(spend for one in (self.topics, self.claims) if one is not None for spend in one.spends)


async def _taken_apart(metric: Metric, material: Material, source: Source | None, first: Measuring) -> _Parts:
    if metric.of_topics and source is not None:
        from touchstone.surfaces.topics import topics_of

        return _Parts(topics=await topics_of(source, first))
    if metric.name == "summary_faithfulness" and isinstance(material, Summary):
        from touchstone.surfaces.claims import claims_of

        return _Parts(claims=await claims_of(material, first))
    return _Parts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seat:
    """What came of asking one judge, by item; `provider` None: there is nobody to sit here."""

    provider: str | None = None
    said: Mapping[str, _Said] = MappingProxyType({})

    def label(self, item: str) -> ItemLabel | None:
        """What it gave an item; None where it gave nothing."""
        said = self.said.get(item)
        return said if isinstance(said, ItemLabel) else None

    def silence(self, item: str) -> UnscoredItem | None:
        """Why it said nothing of an item, where it was asked."""
        said = self.said.get(item)
        return said if isinstance(said, UnscoredItem) else None

    def pending(self, item: str) -> bool:
        """Whether it said nothing, and may say something at another try."""
        silent = self.silence(item)
        return silent is not None and silent.reason not in LASTING

    def vote(self, item: str) -> ItemVote:
        """What is kept of it."""
        if (said := self.label(item)) is not None:
            return ItemVote(
                provider=self.provider, judge=said.judge, label=said.label, value=said.value, reason=said.reason
            )
        if (silent := self.silence(item)) is not None:
            return ItemVote(provider=self.provider, judge=silent.judge, unscored=silent.reason, because=silent.details)
        return ItemVote(provider=self.provider, unscored=NOBODY)


def _in_order(results: Sequence[MetricResult]) -> Sequence[str]:
    """The items of all results: in the order of the one that has most, and after their neighbours in the others."""
    fullest, *others = sorted(results, key=lambda one: -len(one.items))
    order = list(dict.fromkeys(one.item for one in fullest.items))
    known = set(order)
    for one in others:
        before: str | None = None
        for each in one.items:
            if each.item not in known:
                order.insert(0 if before is None else order.index(before) + 1, each.item)
                known.add(each.item)
            before = each.item
    return list(dict.fromkeys([*order, *(item.item for one in results for item in one.unscored)]))


def _decided(metric: MetricName, item: str, seats: Sequence[_Seat], language: Language) -> _Said:
    """What becomes of one item."""
    first = next(said for seat in seats if (said := seat.said.get(item)) is not None)
    if isinstance(first, ItemLabel) and (first.judge == BY_CHECKS or first.label == TRIVIAL):
        return first
    if isinstance(first, UnscoredItem) and first.reason == "no_source":
        return first
    votes = tuple(seat.vote(item) for seat in seats)
    decide = _score if metric in SCORES else _class
    decided = decide(item, seats)
    if decided is not None:
        return decided.model_copy(update={"votes": votes})
    return _undecided(item, seats, language, scored=metric in SCORES).model_copy(update={"votes": votes})


def _class(item: str, seats: Sequence[_Seat]) -> ItemLabel | None:
    """The class that more than half of the judges that are wanted give, as the first of them puts it."""
    labels = [seat.label(item) for seat in seats]
    found = panel_vote([None if one is None else one.label for one in labels], pending=0)
    if found.end != "agreed":
        return None
    return next(one for one in labels if one is not None and one.label == found.label)


def _score(item: str, seats: Sequence[_Seat]) -> ItemLabel | None:
    """The median of what the judges give, where more than half of those wanted give one and no other may move it."""
    labels = [seat.label(item) for seat in seats]
    pending = sum(seat.pending(item) for seat in seats)
    middle = panel_score([None if one is None else one.value for one in labels], pending=pending)
    if middle is None:
        return None
    given = sorted((one for one in labels if one is not None), key=lambda one: one.value)
    low, high = given[(len(given) - 1) // 2], given[len(given) // 2]
    if low.value == high.value:
        return low
    return low.model_copy(update={"label": _between(low.label, high.label), "value": middle, "judge": None})


def _between(low: str, high: str) -> str:
    """The label in the middle of two that hold a number, as `DEPTH_1.5` of `DEPTH_1` and `DEPTH_2`."""
    name, _, _ = low.rpartition(number := _NUMBER.findall(low)[-1])
    return f"{name}{(float(number) + float(_NUMBER.findall(high)[-1])) / 2:g}"


def _undecided(item: str, seats: Sequence[_Seat], language: Language, *, scored: bool) -> UnscoredItem:
    """Why nobody decided an item: a failure that may pass comes first, then that they differ, then one that lasts."""
    silent = [said for seat in seats if (said := seat.silence(item)) is not None]
    given = [label for seat in seats if (label := seat.label(item)) is not None]
    pending = [seat.silence(item) for seat in seats if seat.pending(item)]
    labels = [None if (label := seat.label(item)) is None else label.label for seat in seats]
    end = panel_vote(labels, pending=len(pending)).end
    spoken: tuple[_Said, ...] = (*given, *silent)
    text = next((one.text for one in spoken if one.text is not None), None)
    if pending and pending[0] is not None and (scored or end == "pending"):
        return pending[0].model_copy(update={"text": text})
    if len({one.label for one in given}) > 1 or not silent:
        words = _told(_given_by(seats, item), language)
        return UnscoredItem(item=item, reason="split", text=text, details=(_SPLIT[language].format(words),))
    lasting = [one for one in silent if one.reason in LASTING]
    return (lasting or silent)[0].model_copy(update={"text": text})


def _given_by(seats: Sequence[_Seat], item: str) -> Iterable[tuple[str, str]]:
    """Who gave an item which class."""
    for seat in seats:
        if (said := seat.label(item)) is not None:
            yield (seat.provider or "" if said.judge is None else said.judge.model), said.label


def _told(said: Iterable[tuple[str, str]], language: Language) -> str:
    return _BETWEEN[language].join(_SAYS[language].format(model=model, label=label) for model, label in said)


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SPLIT: Mapping[Language, str] = {"en": "The judges do not agree: {}.", "zh": "评判模型意见不一：{}。"}
_SAYS: Mapping[Language, str] = {"en": "{model} says {label}", "zh": "{model} 判为 {label}"}
_BETWEEN: Mapping[Language, str] = {"en": ", ", "zh": "，"}
