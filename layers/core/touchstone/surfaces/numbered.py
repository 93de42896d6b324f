"""Questions about several numbered things. Each is answered exactly once, and one bad answer spoils no other."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

from touchstone.judges.calls import Checked, JudgeReply, RefusedReply
from touchstone.judges.fence import visible
from touchstone.judges.spends import JudgedBy, Spend
from touchstone.judges.sureness import Confidence
from touchstone.surfaces.measuring import Asked, Labelled, Measuring, not_labelled
from touchstone.surfaces.model import ItemLabel, UnscoredItem

BASE_OUTPUT_TOKENS = 512
"""The room of a reply beside what each thing takes."""


class Numbered(JudgeReply):
    """What a judge says of one thing, by its number in the prompt."""

    number: int


class ClassVerdict(Numbered):
    """What a judge says of one thing that it gives a class. Unless that is the best class, there is a suggestion."""

    reason: str
    label: str
    confidence: Confidence
    suggestion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The things of one call: their ids in order, and the word for one of them in a sentence (`Claim`).

    They are numbered from `first`. It is not 1 if a prompt shows more things than the call is about. `texts` are the
    things in words, by id, if nothing can be found by the ids.
    """

    ids: tuple[str, ...]
    noun: str
    first: int = 1
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> range:
        """The numbers of the things in the prompt."""
        return range(self.first, self.first + len(self.ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesByItem[E: Numbered]:
    """A judge's entry for each thing, by the thing's id; the other things are unscored.

    `judge` is None if nobody answered.
    """

    entries: Mapping[str, E] = field(default_factory=lambda: MappingProxyType({}))
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()
    judge: JudgedBy | None = None


async def ask_each[R: JudgeReply, E: Numbered](
    measuring: Measuring,
    name: Asked,
    reply_type: type[R],
    *,
    things: Numbers,
    entries: Callable[[R], Sequence[E]],
    faults_of: Callable[[E], Iterable[str]],
    tokens_each: int,
    values: Mapping[str, Any],
    more_tokens: int = 0,
) -> EntriesByItem[E]:
    """Ask about all things of a call with one prompt, which is rendered with `values`.

    `entries` takes the entries out of a reply. `faults_of` names what breaks the rules in one entry, each fault in a
    sentence. If a reply has a fault it is asked for again. After the second reply the entries without a fault are kept,
    and the things of the others are unscored. A reply has room for `tokens_each` for each thing, and for `more_tokens`.
    """

    def by_number(reply: R) -> Mapping[int, Sequence[str]]:
        return _faults(entries(reply), things, faults_of)

    def all_faults(reply: R) -> Iterable[str]:
        return chain.from_iterable(by_number(reply).values())

    room = BASE_OUTPUT_TOKENS + tokens_each * len(things.ids) + more_tokens
    found = await measuring.ask(name, reply_type, all_faults, max_output_tokens=room, **values)
    if not isinstance(found, Checked | RefusedReply):
        failed = not_labelled(things.ids, found).unscored
        unscored = tuple(one.model_copy(update={"text": things.texts.get(one.item)}) for one in failed)
        return EntriesByItem(unscored=unscored, spends=found.spends)
    faults = by_number(found.value)
    entry_of = {one.number: one for one in entries(found.value)}
    numbered = list(zip(things.numbers, things.ids, strict=True))
    return EntriesByItem(
        entries={item: entry_of[number] for number, item in numbered if number not in faults},
        unscored=tuple(
            UnscoredItem(
                item=item,
                reason="invalid_reply",
                text=things.texts.get(item),
                details=tuple(faults[number]),
                judge=found.judged_by,
            )
            for number, item in numbered
            if number in faults
        ),
        spends=found.spends,
        judge=found.judged_by,
    )


def labelled[E: Numbered](reply: EntriesByItem[E], label: Callable[[str, E], ItemLabel]) -> Labelled:
    """The labels that `label` makes of the judge's entries, in the order of the things."""
    items = tuple(label(item, one).model_copy(update={"judge": reply.judge}) for item, one in reply.entries.items())
    return Labelled(items=items, unscored=reply.unscored, spends=reply.spends)


def verdict_label(
    item: str, verdict: ClassVerdict, values: Mapping[str, float], *, text: str | None = None
) -> ItemLabel:
    """The label that a verdict gives. `values` are those of the classes, `text` is the item in words."""
    value = values[verdict.label]
    return ItemLabel(
        item=item,
        label=verdict.label,
        value=value,
        reason=verdict.reason.strip(),
        text=text,
        confidence=verdict.confidence,
        suggestion=verdict.suggestion if value < 1 else None,
    )


def verdict_faults(verdict: ClassVerdict, noun: str, values: Mapping[str, float], *, instead: str) -> Iterator[str]:
    """What every verdict must have, each fault in one sentence. `instead`: what a suggestion is asked to say."""
    if is_blank(verdict.reason):
        yield f"The reason of {noun} {verdict.number} is blank."
    if values[verdict.label] < 1 and is_blank(verdict.suggestion):
        yield f"The suggestion of {noun} {verdict.number} is missing; {instead}."


def is_blank(text: str | None) -> bool:
    """Whether a judge left out what was asked for, or wrote nothing that a reader would see."""
    return not visible(text or "").strip()


def _faults[E: Numbered](
    entries: Sequence[E], things: Numbers, faults_of: Callable[[E], Iterable[str]]
) -> Mapping[int, Sequence[str]]:
    """The faults of a reply by the number of the thing that they are about. Things without a fault are left out."""
    found: dict[int, list[str]] = defaultdict(list)
    times = Counter(one.number for one in entries)
    for number in things.numbers:
        if times[number] != 1:
            found[number].append(
                f"{things.noun} {number} is there {times[number]} times; it must be there exactly once."
            )
    for one in entries:
        if one.number not in things.numbers:
            first, last = things.numbers[0], things.numbers[-1]
            found[one.number].append(f"{things.noun} {one.number} was not asked about; judge {first} to {last}.")
        else:
            found[one.number].extend(faults_of(one))
    return {number: faults for number, faults in found.items() if faults}
