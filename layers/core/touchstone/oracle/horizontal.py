"""HORIZONTAL: the finalists side by side on one dimension, by labels drawn at random, asked in two orders.

    first order   X Y Z     second order   Y Z X     score = mean of both

In the second order no entry keeps its place; with two entries it is the reverse. So a judge that looks only at places
either gives scores that differ by more than `MAX_ORDER_DIFFERENCE` or ranks two entries the other way round, and the
dimension is `unstable`. With an order and its reverse, the middle one of three entries would keep its place, and its
advantage would never show. Of three entries, the second stands before the third both times: if that may have decided
between them, the dimension is `unstable`, too.

Entries are shown without the passages that speak to whoever grades or that accuse rivals. So no entry can gain by such
a passage, and no rival can lose.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from touchstone.checks import is_contentless
from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import Judge
from touchstone.judges.calls import MOST_FAULTS, Checked, JudgeReply, NotScored, RefusedReply
from touchstone.judges.fence import contains_verbatim, visible
from touchstone.judges.spends import Spend
from touchstone.oracle.bands import Band, band_of
from touchstone.oracle.compared import (
    LEAST_ENTRIES,
    MAX_ORDER_DIFFERENCE,
    PURPOSE,
    ComparedEntry,
    ComparisonResult,
    OrderRead,
    PlacedScore,
)
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.judging import Judging
from touchstone.oracle.model import Brief, Dimension, RiskFlag
from touchstone.oracle.ranking import FINALISTS
from touchstone.oracle.replies import faults_of_evidence, faults_of_score

LABELS = ("X", "Y", "Z")
"""The labels of entries. They are not A to E, because those are bands."""
BASE_OUTPUT_TOKENS, TOKENS_PER_ENTRY = 1024, 768


class PlacedReply(JudgeReply):
    """What a judge says of one entry beside the others. The order of the fields is the order of the work."""

    label: str
    evidence: str
    comparison: str
    band: Band
    score: int


class HorizontalReply(JudgeReply):
    """What a judge says of all entries on one dimension."""

    entries: list[PlacedReply]


type _UsableReply = Checked[HorizontalReply] | RefusedReply[HorizontalReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparing:
    """The values that are the same in both orders. `labelled` maps labels to entries."""

    task: Judging
    dimension: Dimension
    labelled: Mapping[str, FinalistEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class _BothOrders:
    """Both replies, each with its order; the faults of entries by label; and every call that was paid for."""

    replies: tuple[tuple[tuple[str, ...], _UsableReply], ...]
    faulty: Mapping[str, tuple[str, ...]]
    spends: tuple[Spend, ...]


async def compare(
    dimension: Dimension,
    entries: Sequence[FinalistEntry],
    *,
    brief: Brief,
    judge: Judge,
    deadline: Deadline,
    rng: Random,
    partial: bool = False,
    use_cache: bool = True,
) -> ComparisonResult | NotScored:
    """Compare two or three entries on one dimension. `rng` draws the labels.

    `partial` is for a caller's last try. If a reply still breaks rules after the repair round, the entries whose own
    part obeys all rules are taken from it. An entry is scored if it is taken in both orders;
    `ComparisonResult.unscored` names the others.

    `NotScored`: one of the two orders has no reply that can be used, or no entry is left. Half a comparison would be
    decided by position. Raises `InputError` for another number of entries, for two entries of one submission, and for
    an entry of which nothing is left to show.
    """
    check_comparable(entries)
    task = Judging(brief=brief, judge=judge, deadline=deadline, use_cache=use_cache)
    return await compare_in_both_orders(task, dimension, entries, rng=rng, partial=partial)


async def compare_in_both_orders(
    task: Judging, dimension: Dimension, entries: Sequence[FinalistEntry], *, rng: Random, partial: bool
) -> ComparisonResult | NotScored:
    """Compare entries that can be compared, as `compare` does, by the judge of `task`."""
    labelled = dict(zip(LABELS, rng.sample(list(entries), len(entries)), strict=False))
    asking = _Comparing(task=task, dimension=dimension, labelled=labelled)
    both = await _ask_both(asking, partial=partial)
    if isinstance(both, NotScored):
        return both
    kept = {label: entry for label, entry in labelled.items() if label not in both.faulty}
    first, second = (_order_read(found, order, kept) for order, found in both.replies)
    return ComparisonResult(
        dimension=dimension.id,
        labels={label: entry.submission_id for label, entry in labelled.items()},
        entries=tuple(_entry(label, entry, (first, second)) for label, entry in kept.items()),
        orders=(first, second),
        unstable=_unstable(tuple(kept), (first, second)),
        unscored={labelled[label].submission_id: faults for label, faults in both.faulty.items()},
        spends=both.spends,
    )


async def _ask_both(asking: _Comparing, *, partial: bool) -> _BothOrders | NotScored:
    """Ask in both orders, one after the other. The second is not asked if the first leaves nothing to compare."""
    first = tuple(asking.labelled)
    replies: list[tuple[tuple[str, ...], _UsableReply]] = []
    faulty: dict[str, tuple[str, ...]] = {}
    spends: tuple[Spend, ...] = ()
    for order in (first, (*first[1:], *first[:1])):
        found = await _ask(asking, order)
        spends += found.spends
        if isinstance(found, NotScored):
            if not (partial and isinstance(found, RefusedReply)):
                return replace(found, spends=spends)
            for label, faults in _faulty_entries(found.value, asking.labelled).items():
                faulty[label] = tuple(dict.fromkeys((*faulty.get(label, ()), *faults)))[:MOST_FAULTS]
            if len(faulty) == len(first):
                all_faults = tuple(fault for faults in faulty.values() for fault in faults)[:MOST_FAULTS]
                return replace(found, faults=all_faults, spends=spends)
        replies.append((order, found))
    return _BothOrders(replies=tuple(replies), faulty=faulty, spends=spends)


def check_comparable(entries: Sequence[FinalistEntry]) -> None:
    """Raise `InputError` for entries that cannot be compared; see `compare`."""
    if not LEAST_ENTRIES <= len(entries) <= FINALISTS:
        raise InputError(f"{LEAST_ENTRIES} or {FINALISTS} entries can be compared, not {len(entries)}.")
    if len({entry.submission_id for entry in entries}) != len(entries):
        raise InputError("An entry cannot be compared with itself.")
    for entry in entries:
        if is_contentless(entry.material.text):
            raise InputError(f"Nothing of submission {entry.submission_id} is left to be compared.")


async def _ask(asking: _Comparing, order: Sequence[str]) -> _UsableReply | NotScored:
    shown = [_shown(label, asking.labelled[label], asking.dimension) for label in order]
    return await asking.task.ask(
        PURPOSE,
        HorizontalReply,
        lambda reply: _faults(reply, asking.labelled),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_PER_ENTRY * len(shown),
        description=asking.task.brief.description,
        dimension=asking.dimension.model_dump(include={"id", "name", "description"}),
        entries=shown,
    )


def _shown(label: str, entry: FinalistEntry, dimension: Dimension) -> dict[str, object]:
    """An entry as the prompt shows it.

    Evidence that was cut out of the shown text is omitted, because it anchors nothing.
    """
    anchor = next(one for one in entry.individual if one.dimension == dimension.id)
    evidence = anchor.evidence if contains_verbatim(anchor.evidence, entry.material.text) else ""
    return {"label": label, "band": anchor.band, "evidence": evidence, **entry.material.values(dimension.id)}


def _order_read(found: _UsableReply, order: tuple[str, ...], kept: Container[str]) -> OrderRead:
    by_label = {one.label: one for one in found.value.entries}
    return OrderRead(
        order=order,
        scores=tuple(
            PlacedScore(
                label=label,
                band=by_label[label].band,
                score=by_label[label].score,
                evidence=by_label[label].evidence.strip(),
                feedback=by_label[label].comparison.strip(),
            )
            for label in order
            if label in kept
        ),
        provider=found.provider,
        model=found.model,
        prompt_version=found.prompt_version,
    )


def _of(label: str, orders: Sequence[OrderRead]) -> list[PlacedScore]:
    return [one for order in orders for one in order.scores if one.label == label]


def _entry(label: str, entry: FinalistEntry, orders: Sequence[OrderRead]) -> ComparedEntry:
    first, second = _of(label, orders)
    lower = min(first, second, key=lambda one: one.score)
    score = (first.score + second.score) / 2
    disagree: tuple[RiskFlag, ...] = (
        ("orders_disagree",) if abs(first.score - second.score) > MAX_ORDER_DIFFERENCE else ()
    )
    return ComparedEntry(
        submission_id=entry.submission_id,
        label=label,
        score=score,
        band=band_of(score),
        evidence=lower.evidence,
        feedback=lower.feedback,
        risk_flags=(*entry.risk_flags, *disagree),
    )


def _unstable(labels: Sequence[str], orders: Sequence[OrderRead]) -> bool:
    scores = {label: [one.score for one in _of(label, orders)] for label in labels}
    if any(abs(first - second) > MAX_ORDER_DIFFERENCE for first, second in scores.values()):
        return True
    return any(
        (scores[one][0] - scores[other][0]) * (scores[one][1] - scores[other][1]) < 0
        for one, other in combinations(labels, 2)
    ) or _decided_by_places(scores, orders)


def _decided_by_places(scores: Mapping[str, Sequence[int]], orders: Sequence[OrderRead]) -> bool:
    """Whether two entries that stood in the same order twice may owe their ranking to it.

    The second of three entries stands right before the third in both orders, so that nothing changes if a place is
    worth something. What a place is worth, is the median change of all entries for each place that they moved up. The
    two are decided by places if they would rank otherwise without it.
    """
    _, *kept = orders[0].order
    if len(kept) != 2 or not scores.keys() >= set(kept):  # noqa: PLR2004 - of two entries none keeps its place
        return False
    from touchstone.statistics.votes import median  # on first use: it loads the exact arithmetic of fractions

    moved = [
        (second - first) / (orders[0].order.index(label) - orders[1].order.index(label))
        for label, (first, second) in scores.items()
    ]
    before, after = kept
    gap = (sum(scores[before]) - sum(scores[after])) / 2
    without = gap - (median(moved).score or 0.0)
    return (gap > 0, gap < 0) != (without > 0, without < 0)


def _faults(reply: HorizontalReply, labelled: Mapping[str, FinalistEntry]) -> Iterator[str]:
    """Yield each fault of a judge's reply in one sentence; nothing if the reply obeys all rules."""
    if unknown := sum(one.label not in labelled for one in reply.entries):
        yield f"{unknown} of the labels belong to no entry; the entries are {', '.join(labelled)}."
    for faults in _faulty_entries(reply, labelled).values():
        yield from faults


def _faulty_entries(reply: HorizontalReply, labelled: Mapping[str, FinalistEntry]) -> dict[str, list[str]]:
    """The faults in what a judge said of each entry, by label. Entries without a fault are left out."""
    found = {label: list(_faults_of_entry(reply, label, entry)) for label, entry in labelled.items()}
    return {label: faults for label, faults in found.items() if faults}


def _faults_of_entry(reply: HorizontalReply, label: str, entry: FinalistEntry) -> Iterator[str]:
    replies = [one for one in reply.entries if one.label == label]
    if len(replies) != 1:
        yield f"Entry {label} is there {len(replies)} times; score every entry exactly once."
    which = f"entry {label}"
    for one in replies:
        yield from faults_of_score(one.band, one.score, which=which)
        yield from faults_of_evidence(one.evidence, (entry.material.text, entry.text), which=which)
        if not visible(one.comparison).strip():
            yield f"The comparison of {which} is blank."
