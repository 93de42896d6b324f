"""Questions about several numbered things: each is answered exactly once, and one bad answer spoils no other."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from touchstone.judges.calls import Checked, JudgeReply, RefusedReply
from touchstone.judges.fence import visible
from touchstone.judges.spends import JudgedBy, Spend
from touchstone.surfaces.measuring import Asked, Labelled, Measuring, not_labelled
from touchstone.surfaces.model import ItemLabel, UnscoredItem


class Numbered(JudgeReply):
    """What a judge says of one thing, by its number in the prompt."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The things of one call: their ids in order, and what one of them is called in a sentence (`Claim`).

    They are numbered from `first`, which is not 1 where a prompt shows more than a call is about.
    """

    ids: tuple[str, ...]
    noun: str
    first: int = 1

    @property
    def numbers(self) -> range:
        """Their numbers in the prompt."""
        return range(self.first, self.first + len(self.ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard[E: Numbered]:
    """What a judge said of each thing, by its id; the others are unscored. `judge`: None where nobody answered."""

    said: Mapping[str, E] = field(default_factory=lambda: MappingProxyType({}))
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
    max_output_tokens: int,
    values: Mapping[str, Any],
) -> Heard[E]:
    """Ask about all things of a call with one prompt, which is rendered with `values`.

    `entries` takes what is said of the things out of a reply, and `faults_of` names what breaks the rules in one entry,
    each fault in a sentence. A reply with a fault is asked for again; after the second one the entries that have none
    are kept, and the others' things are unscored.
    """

    def by_number(reply: R) -> Mapping[int, Sequence[str]]:
        return _faults(entries(reply), things, faults_of)

    def all_faults(reply: R) -> list[str]:
        return [fault for faults in by_number(reply).values() for fault in faults]

    found = await measuring.ask(name, reply_type, all_faults, max_output_tokens=max_output_tokens, **values)
    if not isinstance(found, Checked | RefusedReply):
        failed = not_labelled(things.ids, found)
        return Heard(unscored=failed.unscored, spends=failed.spends)
    faults = by_number(found.value)
    said = {one.number: one for one in entries(found.value)}
    numbered = list(zip(things.numbers, things.ids, strict=True))
    return Heard(
        said={item: said[number] for number, item in numbered if number not in faults},
        unscored=tuple(
            UnscoredItem(item=item, reason="invalid_reply", details=tuple(faults[number]), judge=found.judged_by)
            for number, item in numbered
            if number in faults
        ),
        spends=found.spends,
        judge=found.judged_by,
    )


def labelled[E: Numbered](heard: Heard[E], label: Callable[[str, E], ItemLabel]) -> Labelled:
    """The labels of what was heard, in the things' order."""
    items = tuple(label(item, one).model_copy(update={"judge": heard.judge}) for item, one in heard.said.items())
    return Labelled(items=items, unscored=heard.unscored, spends=heard.spends)


def is_blank(text: str | None) -> bool:
    """Whether a judge left out what was asked for, or wrote nothing that a reader would see."""
    return not visible(text or "").strip()


def _faults[E: Numbered](
    entries: Sequence[E], things: Numbers, faults_of: Callable[[E], Iterable[str]]
) -> Mapping[int, Sequence[str]]:
    """The faults of a reply by the number of the thing that they are about; there is no number without any."""
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
