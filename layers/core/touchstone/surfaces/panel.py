"""Which label of an item counts if several judges may be asked, and what happens if none does.

one          ──> the judge is as sure as people's labels require, or there are no such labels ──> its label
                 it is not as sure ──> the next judge, of another provider
                 neither is sure enough ──> unscored: unsure
two or three
  classes    ──> more than half of the judges wanted agree ──> that class, in the words of the first of them
                 judges that failed could still make up a majority ──> unscored: their failure, which may pass
                 different classes ──> unscored: split
  scores     ──> the median, if more than half of the judges wanted give one; unscored as long as a judge that failed
                 could move it
until sure   ──> one judge after the other; for each item the first judge that is sure enough decides

The next judge is asked only about the items that are not decided. Judges do not say how sure they are of scores: if
judges are asked in turn, the first one alone decides scores.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from touchstone.errors import PERMANENT_REASONS
from touchstone.judges.base import Judge, JudgeCount, asks_in_turn, most_judges
from touchstone.judges.panel import IsolatedJudge, JudgePanel
from touchstone.judges.spends import BY_CHECKS, Spend
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds, SureFrom, check_confidence, why_unsure
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.statistics.thresholds import DEFAULT_MIN_CONFIDENCE
from touchstone.statistics.votes import panel_score, panel_vote
from touchstone.surfaces.catalogue import Material, Metric
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import (
    TIER,
    TRIVIAL,
    Claims,
    ItemLabel,
    ItemVote,
    MetricResult,
    Topics,
    UnscoredItem,
    result,
)
from touchstone.surfaces.names import MetricName
from touchstone.text.language import Language
from touchstone.together import gather_all

if TYPE_CHECKING:
    from touchstone.judges.opening import Judges

SCORES: frozenset[MetricName] = frozenset({"summary_coherence", "quiz_coverage", "flashcard_coverage"})
"""The metrics whose items get a number from a judge, in a label such as `3` or `DEPTH_2`. The labels of all other
metrics are classes, which have no middle."""
NO_JUDGE = "misconfigured"
"""The reason of the empty vote that stands for a judge that does not exist."""

type _ItemResult = ItemLabel | UnscoredItem


def metric_judges(judges: "Judges", wanted: JudgeCount) -> JudgePanel:
    """The judges of metrics: as many as are wanted, each of another provider, or as many as there are.

    If one judge is wanted there are two: the judge, and the one that is asked if the first is not sure enough.
    """
    most = most_judges(wanted)
    able = judges.distinct(TIER, max(most, 2))
    return JudgePanel(wanted=most, available=able, remedy=judges.remedy, in_turn=asks_in_turn(wanted))


async def measured_by_several(
    metric: Metric,
    material: Material,
    source: Source | None,
    judges: JudgePanel,
    *,
    measuring: Callable[[Judge], Measuring],
    thresholds: JudgeThresholds = NO_THRESHOLDS,
) -> MetricResult:
    """Measure by several judges, side by side or in turn. `measuring` gives what one of them works with.

    If a metric takes material apart (into the topics of a source, the claims of a summary), the first judge does so for
    all judges, so that they speak of the same items. `thresholds` says how sure each judge must be by people's labels.
    Nothing is raised for a judge that fails. Raises `MisconfiguredError` if there are too few judges: fewer than a
    majority of those wanted, or none if they are asked in turn.
    """
    if (lacking := judges.shortage) is not None:
        raise lacking
    if judges.in_turn:
        least = DEFAULT_MIN_CONFIDENCE if judges.wanted > 1 else None
        rule = _Rule(thresholds=thresholds, least=least)
        return await _in_turn(metric, material, source, judges, measuring=measuring, rule=rule)
    asked = [measuring(judge) for judge in judges.judges]
    parts = await _taken_apart(metric, material, source, asked[0])
    results = await gather_all(
        metric.measure(material, source, parts.given(one), language=one.language) for one in asked
    )
    rule = _Rule(thresholds=thresholds)
    by_judge = [rule.judge_result(one.judge.provider, told.all_items) for one, told in zip(asked, results, strict=True)]
    by_judge += [_JudgeResult()] * (judges.wanted - len(by_judge))
    decided = [_decided(metric.name, item, by_judge, asked[0].language) for item in _in_order(results)]
    return _together(metric, parts, decided, results)


def apply_thresholds(found: MetricResult, thresholds: JudgeThresholds, language: Language) -> MetricResult:
    """One judge's result without the labels of which it is less sure than people's labels require.

    The items of those labels are unscored (`unsure`).
    """
    if found.metric in SCORES or not thresholds:
        return found
    judged = _Rule(thresholds=thresholds).judge_result(None, found.all_items)
    decided = [_first_sure(item, [judged], language) for item in judged.by_item]
    unscored = tuple(one for one in decided if isinstance(one, UnscoredItem))
    return result(found.metric, _labels(decided), unscored=unscored, spends=found.spends)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The parts that material was taken apart into; both are None if the metric takes nothing apart.

    The calls that found the parts, and the parts of the material that nobody could take apart, count once for all
    judges.
    """

    topics: Topics | None = None
    claims: Claims | None = None

    def given(self, measuring: Measuring, *, among: Collection[str] | None = None) -> Measuring:
        """The same `measuring` with the parts for a judge to speak of: those `among` these items; None: all of them.

        The parts carry no spends here: the cost of finding them is counted apart.
        """
        topics, claims = self.topics, self.claims
        if topics is not None:
            left = tuple(one for one in topics.topics if among is None or one.id in among)
            topics = Topics(topics=left)
        if claims is not None:
            claims = Claims(claims=tuple(one for one in claims.claims if among is None or one.id in among))
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


def _part_with(metric: Metric, material: Material, items: Collection[str]) -> Material:
    """The part of some material that a judge must see to speak of these items: their questions or cards.

    A summary stays whole. Its claims and topics are narrowed instead, and whether a sentence is a repetition depends on
    the other sentences.
    """
    match material:
        case Quiz(questions=questions):
            ids = {one.rpartition("#")[0] for one in items} if metric.name == "quiz_distractor_quality" else items
            return material.model_copy(update={"questions": tuple(one for one in questions if one.id in ids)})
        case Deck(cards=cards):
            return material.model_copy(update={"cards": tuple(one for one in cards if one.id in items)})
        case Summary():
            return material


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """How sure judges must be: by `thresholds`; for a judge without a threshold by `least`, None for no minimum."""

    thresholds: JudgeThresholds
    least: float | None = None

    def judge_result(self, provider: str | None, results: Iterable[_ItemResult]) -> "_JudgeResult":
        """The labels of one judge, and which of them do not count because it is not sure enough."""
        by_item, unsure = dict[str, _ItemResult](), dict[str, SureFrom | None]()
        for one in results:
            by_item[one.item] = one
            if not isinstance(one, ItemLabel) or one.confidence is None:
                continue
            by = one.judge
            sure_from = None if by is None else self.thresholds.get((by.model, by.prompt_version))
            match check_confidence(one.confidence, sure_from, least=self.least):
                case "by_labels":
                    by_item[one.item] = one.model_copy(update={"sure_from": sure_from})
                case "unsure":
                    unsure[one.item] = sure_from
                case "without_labels":
                    pass
        return _JudgeResult(provider=provider, by_item=by_item, unsure=unsure)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeResult:
    """The result of asking one judge, by item. `provider` None: there is no judge in this place.

    `unsure` are the items of which the judge is not sure enough, each with the threshold that says so; None: `least`
    does.
    """

    provider: str | None = None
    by_item: Mapping[str, _ItemResult] = MappingProxyType({})
    unsure: Mapping[str, SureFrom | None] = MappingProxyType({})

    def given(self, item: str) -> ItemLabel | None:
        """The judge's label of an item, whether it counts or not; None if it gave none."""
        found = self.by_item.get(item)
        return found if isinstance(found, ItemLabel) else None

    def label(self, item: str) -> ItemLabel | None:
        """The judge's label of an item; None if it gave none that counts."""
        return None if item in self.unsure else self.given(item)

    def silence(self, item: str) -> UnscoredItem | None:
        """Why the judge gave an item no label, if it was asked about it; else None."""
        found = self.by_item.get(item)
        return found if isinstance(found, UnscoredItem) else None

    def pending(self, item: str) -> bool:
        """Whether the judge gave the item no label and may give one at another try."""
        silent = self.silence(item)
        return silent is not None and silent.reason not in PERMANENT_REASONS

    def vote(self, item: str) -> ItemVote:
        """The vote on an item that is stored."""
        if (label := self.given(item)) is not None:
            unsure = item in self.unsure
            return ItemVote(
                provider=self.provider,
                judge=label.judge,
                label=label.label,
                value=label.value,
                reason=label.reason,
                confidence=label.confidence,
                unsure=unsure,
                sure_from=self.unsure[item] if unsure else label.sure_from,
            )
        if (silent := self.silence(item)) is not None:
            return ItemVote(provider=self.provider, judge=silent.judge, unscored=silent.reason, because=silent.details)
        return ItemVote(provider=self.provider, unscored=NO_JUDGE)


async def _in_turn(
    metric: Metric,
    material: Material,
    source: Source | None,
    judges: JudgePanel,
    *,
    measuring: Callable[[Judge], Measuring],
    rule: _Rule,
) -> MetricResult:
    """The result of asking one judge after the other, each about the items that those before it did not decide.

    If one judge is wanted, a second one is asked only about items of which the first is not sure enough. Items on which
    the first one failed are not passed on.
    """
    alone = judges.wanted == 1
    first, *others = judges.available
    # Judges tell no confidence for numbers, so the first judge's numbers stand, as with a single judge.
    others = [] if metric.name in SCORES else others[: 1 if alone else judges.wanted - 1]
    asked = measuring(first if alone else IsolatedJudge(first))
    language = asked.language
    parts = await _taken_apart(metric, material, source, asked)
    results = [await metric.measure(material, source, parts.given(asked), language=language)]
    by_judge = [rule.judge_result(first.provider, results[0].all_items)]
    order = _in_order(results)
    for other in map(IsolatedJudge, others):
        left = [item for item in order if _in_question(item, by_judge, alone=alone)]
        if not left:
            break
        asked = measuring(other)
        part = _part_with(metric, material, left)
        found = await metric.measure(part, source, parts.given(asked, among=left), language=language)
        results.append(found)
        by_judge.append(rule.judge_result(other.provider, (one for one in found.all_items if one.item in left)))
    return _together(metric, parts, [_first_sure(item, by_judge, language) for item in order], results)


def _in_question(item: str, by_judge: Sequence[_JudgeResult], *, alone: bool) -> bool:
    """Whether another judge must be asked about an item."""
    first = by_judge[0].by_item[item]
    if isinstance(first, UnscoredItem) and (alone or first.reason == "no_source"):
        return False
    return all(judged.label(item) is None for judged in by_judge)


def _first_sure(item: str, by_judge: Sequence[_JudgeResult], language: Language) -> _ItemResult:
    """The label of the first judge that is sure enough of an item; if there is none, why nobody decided it."""
    asked = [judged for judged in by_judge if item in judged.by_item]
    votes = tuple(judged.vote(item) for judged in asked)
    for judged in asked:
        if (label := judged.label(item)) is not None:
            return label if len(asked) == 1 else label.model_copy(update={"votes": votes})
    given = [label for judged in asked if (label := judged.given(item)) is not None]
    silent = [found for judged in asked if (found := judged.silence(item)) is not None]
    if not given and len(silent) == 1:
        return silent[0]
    text = next((judged.by_item[item].text for judged in asked if judged.by_item[item].text is not None), None)
    pending = next((judged.silence(item) for judged in asked if judged.pending(item)), None)
    if pending is not None:
        return pending.model_copy(update={"text": text, "votes": votes})
    if given:
        return _unsure(item, asked, text, language).model_copy(update={"votes": votes})
    return silent[-1].model_copy(update={"text": text, "votes": votes})


def _together(
    metric: Metric, parts: _Parts, decided: Sequence[_ItemResult], results: Sequence[MetricResult]
) -> MetricResult:
    """The result of the decided items, with every call that was paid for them."""
    return result(
        metric.name,
        _labels(decided),
        unscored=(*parts.unscored, *(one for one in decided if isinstance(one, UnscoredItem))),
        spends=(*parts.spends, *(spend for one in results for spend in one.spends)),
    )


def _labels(decided: Sequence[_ItemResult]) -> tuple[ItemLabel, ...]:
    return tuple(one for one in decided if isinstance(one, ItemLabel))


def _in_order(results: Sequence[MetricResult]) -> Sequence[str]:
    """The items of all results, in the order of the result with most items.

    An item that this result lacks follows its neighbour in the other result. Items without any label come last.
    """
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


def _decided(metric: MetricName, item: str, by_judge: Sequence[_JudgeResult], language: Language) -> _ItemResult:
    """The decision on one item about which judges were asked side by side."""
    first = next(found for judged in by_judge if (found := judged.by_item.get(item)) is not None)
    if isinstance(first, ItemLabel) and (first.judge == BY_CHECKS or first.label == TRIVIAL):
        return first
    if isinstance(first, UnscoredItem) and first.reason == "no_source":
        return first
    votes = tuple(judged.vote(item) for judged in by_judge)
    decide = _score if metric in SCORES else _class
    decided = decide(item, by_judge)
    if decided is not None:
        return decided.model_copy(update={"votes": votes})
    return _undecided(item, by_judge, language, scored=metric in SCORES).model_copy(update={"votes": votes})


def _class(item: str, by_judge: Sequence[_JudgeResult]) -> ItemLabel | None:
    """The class that more than half of the judges wanted give; None if there is none.

    The label is that of the first judge that gives the class.
    """
    labels = [judged.label(item) for judged in by_judge]
    found = panel_vote([None if one is None else one.label for one in labels], pending=0)
    if found.end != "agreed":
        return None
    return next(one for one in labels if one is not None and one.label == found.label)


def _score(item: str, by_judge: Sequence[_JudgeResult]) -> ItemLabel | None:
    """The median of the judges' scores.

    None if half of the judges wanted or fewer gave one, or if a judge that may still give one could move the median.
    """
    labels = [judged.label(item) for judged in by_judge]
    pending = sum(judged.pending(item) for judged in by_judge)
    middle = panel_score([None if one is None else one.value for one in labels], pending=pending)
    if middle is None:
        return None
    given = sorted((one for one in labels if one is not None), key=lambda one: one.value)
    low, high = given[(len(given) - 1) // 2], given[len(given) // 2]
    if low.value == high.value:
        return low
    return low.model_copy(update={"label": _between(low.label, high.label), "value": middle, "judge": None})


def _between(low: str, high: str) -> str:
    """The label in the middle of two labels that hold a number: `DEPTH_1.5` for `DEPTH_1` and `DEPTH_2`."""
    name, _, _ = low.rpartition(number := _NUMBER.findall(low)[-1])
    return f"{name}{(float(number) + float(_NUMBER.findall(high)[-1])) / 2:g}"


def _undecided(item: str, by_judge: Sequence[_JudgeResult], language: Language, *, scored: bool) -> UnscoredItem:
    """Why nobody decided an item.

    The first of these reasons that holds: a failure that may pass, different labels, a judge that is not sure enough, a
    lasting failure.
    """
    silent = [found for judged in by_judge if (found := judged.silence(item)) is not None]
    given = [label for judged in by_judge if (label := judged.label(item)) is not None]
    pending = [judged.silence(item) for judged in by_judge if judged.pending(item)]
    labels = [None if (label := judged.label(item)) is None else label.label for judged in by_judge]
    end = panel_vote(labels, pending=len(pending)).end
    spoken = [each for judged in by_judge if (each := judged.by_item.get(item)) is not None]
    text = next((each.text for each in spoken if each.text is not None), None)
    if pending and pending[0] is not None and (scored or end == "pending"):
        return pending[0].model_copy(update={"text": text})
    if len({one.label for one in given}) == 1 or not given:
        if any(item in judged.unsure for judged in by_judge):
            return _unsure(item, by_judge, text, language)
        if silent:
            lasting = [one for one in silent if one.reason in PERMANENT_REASONS]
            return (lasting or silent)[0].model_copy(update={"text": text})
    words = _BETWEEN[language].join(_words(item, by_judge, language))
    return UnscoredItem(item=item, reason="split", text=text, details=(_SPLIT[language].format(words),))


def _unsure(item: str, by_judge: Sequence[_JudgeResult], text: str | None, language: Language) -> UnscoredItem:
    words = _BETWEEN[language].join(_words(item, by_judge, language))
    return UnscoredItem(item=item, reason="unsure", text=text, details=(_UNSURE[language].format(words),))


def _words(item: str, by_judge: Sequence[_JudgeResult], language: Language) -> Iterator[str]:
    """Which judge gave an item which class, and why a class does not count."""
    for judged in by_judge:
        if (found := judged.given(item)) is None:
            continue
        model = judged.provider or "" if found.judge is None else found.judge.model
        words = _SAYS[language].format(model=model, label=found.label)
        if item in judged.unsure and found.confidence is not None:
            why = why_unsure(found.confidence, judged.unsure[item], language, model=model)
            words = _BUT[language].format(words, why)
        yield words


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SPLIT: Mapping[Language, str] = {"en": "The judges do not agree: {}.", "zh": "评判模型意见不一：{}。"}
_UNSURE: Mapping[Language, str] = {"en": "No judge is sure enough: {}.", "zh": "没有足够确定的评判模型：{}。"}
_SAYS: Mapping[Language, str] = {"en": "{model} says {label}", "zh": "{model} 判为 {label}"}
_BUT: Mapping[Language, str] = {"en": "{} ({})", "zh": "{}（{}）"}
_BETWEEN: Mapping[Language, str] = {"en": ", ", "zh": "，"}
