"""What the source says of each claim or card: asked passage by passage, quoted word for word, and put together.

A passage is a section of the source (the whole of it, where a judge can be shown it at once) or the one that a card
says it was made from. What any passage settles is settled: `precedence` puts the labels in order, and the first of them
that a passage gave is the item's. An item that some passage could not be asked about has that first label or none.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import contains_verbatim
from touchstone.judges.spends import JudgedBy, sole
from touchstone.material import Source
from touchstone.material.source import sections_of
from touchstone.surfaces.measuring import Labelled, Measuring, grouped
from touchstone.surfaces.model import ItemLabel, MetricName
from touchstone.surfaces.numbered import Heard, Numbered, Numbers, ask_each, is_blank

BASE_OUTPUT_TOKENS, TOKENS_AN_ITEM = 512, 350
ITEM_CHARS = 15_000
"""Most characters of items in one call, beside a passage of at most `MAX_SECTION_CHARS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedItem:
    """A claim or card, as it stands in a prompt: `values` are what the template names."""

    id: str
    values: Mapping[str, str]
    text: str | None = None


class Grounded(Numbered):
    """What a judge says of one item, from one passage. `quote`: the passage's own words, None where it has none."""

    quote: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule[R: JudgeReply, E: Grounded]:
    """How a metric grounds its items.

    `values` are what each label counts for, in the order of precedence; labels in `quoted` must quote the passage.
    `suggested` says which suggestion an entry makes and must make; None where none is asked for.
    """

    metric: MetricName
    reply_type: type[R]
    entries: Callable[[R], Sequence[E]]
    label: Callable[[E], str]
    noun: str
    values: Mapping[str, float]
    quoted: frozenset[str]
    a_call: int
    suggestion: Callable[[E], str | None] = lambda _entry: None
    suggested: frozenset[str] = frozenset()


def sections_shown(source: Source) -> tuple[str, ...]:
    """The sections of a source that a judge is shown, one a call."""
    return tuple(section for section in sections_of(source.text) if section.strip())


async def ground[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], items: Sequence[GroundedItem], passages: Sequence[str], measuring: Measuring
) -> Labelled:
    """Label items against passages, several items a call, all calls side by side."""
    groups = list(grouped(items, _chars, most=ITEM_CHARS, count=rule.a_call))
    found = await asyncio.gather(*(_of_group(rule, group, passages, measuring) for group in groups))
    return Labelled(
        items=tuple(item for one in found for item in one.items),
        unscored=tuple(item for one in found for item in one.unscored),
        spends=tuple(spend for one in found for spend in one.spends),
    )


def _chars(item: GroundedItem) -> int:
    return sum(len(text) for text in item.values.values())


async def _of_group[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], group: Sequence[GroundedItem], passages: Sequence[str], measuring: Measuring
) -> Labelled:
    heard = await asyncio.gather(
        *(
            _of_passage(rule, group, passage, (place, len(passages)), measuring)
            for place, passage in enumerate(passages, start=1)
        )
    )
    items, unscored = [], []
    for item in group:
        said = [(one.said[item.id], one.judge) for one in heard if item.id in one.said]
        missing = [left for one in heard for left in one.unscored if left.item == item.id]
        settled = _settled(rule, said, whole=not missing)
        if settled is None:
            unscored.append(missing[0].model_copy(update={"text": item.text}))
        else:
            items.append(_label(rule, item, *settled))
    return Labelled(
        items=tuple(items),
        unscored=tuple(unscored),
        spends=tuple(spend for one in heard for spend in one.spends),
    )


async def _of_passage[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], group: Sequence[GroundedItem], passage: str, place: tuple[int, int], measuring: Measuring
) -> Heard[E]:
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
        things=Numbers(ids=tuple(item.id for item in group), noun=rule.noun),
        entries=rule.entries,
        faults_of=lambda one: _faults(rule, one, passage),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_AN_ITEM * len(group),
        values=values,
    )


def _settled[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], said: Sequence[tuple[E, JudgedBy | None]], *, whole: bool
) -> tuple[E, JudgedBy | None] | None:
    """The entry that settles an item, and whose verdict that is.

    None where what settles it may be in a passage that was not judged. The first label of all needs no other passage;
    any other one is the verdict of all who judged one, since each could have given an earlier label.
    """
    order = list(rule.values)
    first = min(said, key=lambda one: order.index(rule.label(one[0])), default=None)
    if first is None:
        return None
    entry, judge = first
    if rule.label(entry) == order[0]:
        return entry, judge
    return (entry, sole(one for _, one in said)) if whole else None


def _label[R: JudgeReply, E: Grounded](
    rule: Rule[R, E], item: GroundedItem, said: E, judge: JudgedBy | None
) -> ItemLabel:
    label = rule.label(said)
    return ItemLabel(
        item=item.id,
        label=label,
        value=rule.values[label],
        reason=said.reason.strip(),
        text=item.text,
        evidence=(said.quote or "").strip() if label in rule.quoted else None,
        suggestion=rule.suggestion(said) if label in rule.suggested else None,
        judge=judge,
    )


def _faults[R: JudgeReply, E: Grounded](rule: Rule[R, E], one: E, passage: str) -> Iterator[str]:
    """What breaks the rules in what was said of one item, each fault in one sentence."""
    noun, label = rule.noun.lower(), rule.label(one)
    if is_blank(one.reason):
        yield f"The reason of {noun} {one.number} is blank."
    if label in rule.quoted and not contains_verbatim(one.quote or "", passage):
        yield f"The quote of {noun} {one.number} does not occur in the passage; copy what it says there exactly."
    if label in rule.suggested and is_blank(rule.suggestion(one)):
        yield f"The suggestion of {noun} {one.number} is missing; say what to write instead."
