"""What the source says of each claim or card: the judge is asked passage by passage and quotes word for word.

A passage is a section of the source (the whole source if it can be shown to a judge at once), or the passage that a
card says it was made from. The order of `Rule.values` is the order of precedence: the item gets the first label in it
that any passage gave. If an item could not be asked about in some passage, it gets the very first label or none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.judges.fence import contains_verbatim
from touchstone.judges.spends import JudgedBy, single_judge
from touchstone.judges.sureness import Confidence
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.numbered import EntriesByItem, Numbered, Numbers, ask_each, is_blank
from touchstone.together import gather_all

TOKENS_AN_ITEM = 350
ITEM_CHARS = 15_000
"""Most characters of items in one call, beside a passage of at most `MAX_SECTION_CHARS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedItem:
    """A claim or card as it stands in a prompt. `values` are the values that the template names."""

    id: str
    values: Mapping[str, str]
    text: str | None = None


class Grounded(Numbered):
    """What a judge says of one item, from one passage. `quote`: the passage's own words, None where it has none."""

    quote: str | None
    reason: str
    label: str
    confidence: Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule[R: JudgeReply, E: Grounded]:
    """How a metric grounds its items.

    `values` gives the value of each label, in the order of precedence. Labels in `quoted` must quote the passage.
    Labels in `suggested` must have a suggestion, and `suggestion` takes it from an entry; it returns None if none is
    asked for.
    """

    metric: MetricName
    reply_type: type[R]
    entries: Callable[[R], Sequence[E]]
    noun: str
    values: Mapping[str, float]
    quoted: frozenset[str]
    a_call: int
    suggestion: Callable[[E], str | None] = lambda _entry: None
    suggested: frozenset[str] = frozenset()


async def ground[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], items: Sequence[GroundedItem], passages: Sequence[str], measuring: Measuring
) -> Labelled:
    """Label items against passages, several items a call, all calls side by side."""
    groups = list(grouped(items, lambda one: sum(map(len, one.values.values())), most=ITEM_CHARS, count=rule.a_call))
    return Labelled.of(await gather_all(_of_group(rule, group, passages, measuring) for group in groups))


async def _of_group[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], group: Sequence[GroundedItem], passages: Sequence[str], measuring: Measuring
) -> Labelled:
    replies = await gather_all(
        _of_passage(rule, group, passage, (place, len(passages)), measuring)
        for place, passage in enumerate(passages, start=1)
    )
    items, unscored = [], []
    for item in group:
        entries = [(one.entries[item.id], one.judge) for one in replies if item.id in one.entries]
        missing = [left for one in replies for left in one.unscored if left.item == item.id]
        settled = _settled(rule, entries, whole=not missing)
        if settled is None:
            unscored.append(missing[0])
        else:
            items.append(_label(rule, item, settled))
    return Labelled(
        items=tuple(items), unscored=tuple(unscored), spends=tuple(spend for one in replies for spend in one.spends)
    )


async def _of_passage[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], group: Sequence[GroundedItem], passage: str, place: tuple[int, int], measuring: Measuring
) -> EntriesByItem[E]:
    texts = {item.id: item.text for item in group if item.text is not None}
    values: Mapping[str, Any] = {
        "items": [dict(item.values) for item in group],
        "passage": passage,
        "section": place[0],
        "sections": place[1],
    }
    return await ask_each(
        measuring,
        rule.metric,
        rule.reply_type,
        things=Numbers(ids=tuple(item.id for item in group), noun=rule.noun, texts=texts),
        entries=rule.entries,
        faults_of=lambda one: _faults(rule, one, passage),
        tokens_each=TOKENS_AN_ITEM,
        values=values,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled[E: Grounded]:
    """The entry that settles an item, the judge that gave it (None for several), and the confidence (0-1)."""

    entry: E
    judge: JudgedBy | None
    confidence: float


def _settled[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], entries: Sequence[tuple[E, JudgedBy | None]], *, whole: bool
) -> _Settled[E] | None:
    """The entry that settles an item; None if a passage that was not judged may settle it.

    The first label in the order of precedence needs no other passage. With any other label, each judged passage could
    have given an earlier one: the label is then the verdict of all judges of passages, and its confidence is the lowest
    of theirs. If several passages give the same label, the entry with the highest confidence is taken.
    """
    order = list(rule.values)
    first = min(entries, key=lambda one: (order.index(one[0].label), -one[0].confidence), default=None)
    if first is None:
        return None
    entry, judge = first
    if entry.label == order[0]:
        return _Settled(entry=entry, judge=judge, confidence=entry.confidence)
    least = min(one.confidence for one, _ in entries)
    return _Settled(entry=entry, judge=single_judge(one for _, one in entries), confidence=least) if whole else None


def _label[R: JudgeReply, E: Grounded](rule: Rule[R, E], item: GroundedItem, settled: _Settled[E]) -> ItemLabel:
    entry, label = settled.entry, settled.entry.label
    return ItemLabel(
        item=item.id,
        label=label,
        value=rule.values[label],
        reason=entry.reason.strip(),
        text=item.text,
        evidence=(entry.quote or "").strip() if label in rule.quoted else None,
        suggestion=rule.suggestion(entry) if label in rule.suggested else None,
        judge=settled.judge,
        confidence=settled.confidence,
    )


def _faults[R: JudgeReply, E: Grounded](rule: Rule[R, E], one: E, passage: str) -> Iterator[str]:
    """What breaks the rules in one item's entry, each fault in one sentence."""
    noun, label = rule.noun.lower(), one.label
    if is_blank(one.reason):
        yield f"The reason of {noun} {one.number} is blank."
    if label in rule.quoted and not contains_verbatim(one.quote or "", passage):
        yield f"The quote of {noun} {one.number} does not occur in the passage; copy what it says there exactly."
    if label in rule.suggested and is_blank(rule.suggestion(one)):
        yield f"The suggestion of {noun} {one.number} is missing; say what to write instead."
