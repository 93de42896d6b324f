"""HORIZONTAL: on one dimension, the finalists side by side, by labels drawn at random, asked in two orders.

    first order   X Y Z     second order   Y Z X     score = mean of both

In the second order no entry keeps its place (of two entries it is the reverse). A judge that looks at places alone then
either differs by more than `TOLERATED` or ranks two entries the other way round, and the dimension is `unstable`; with
an order and its reverse the middle of three would keep its place, and its advantage would never show.

Entries are shown without the passages that speak to whoever grades or accuse rivals, so that none can gain by them and
no rival can lose.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from touchstone.checks import is_contentless
from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import Judge, Question
from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import contains_verbatim, visible
from touchstone.judges.spends import Spend
from touchstone.oracle.asking import Checked, NotScored, ask_checked
from touchstone.oracle.bands import Band, band_of
from touchstone.oracle.entries import Entry
from touchstone.oracle.model import Brief, Dimension, RiskFlag, Strict
from touchstone.oracle.ranking import FINALISTS
from touchstone.oracle.replies import faults_of_evidence, faults_of_score
from touchstone.oracle.wording import language_of_task, prompt

LABELS = ("X", "Y", "Z")
"""What entries are called: not A to E, which are bands."""
LEAST_ENTRIES = 2
TOLERATED = 10
"""Points by which two orders may differ over an entry: half a band."""
BASE_OUTPUT_TOKENS, TOKENS_AN_ENTRY = 1024, 768


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


class PlacedScore(Strict):
    """What a judge said of the entry with a label. `feedback` compares it with the others, by their labels."""

    label: str
    band: Band
    score: int
    evidence: str
    feedback: str


class OrderRead(Strict):
    """One reply: the order in which entries were shown, by their labels, and what was said of each, in that order."""

    order: tuple[str, ...]
    scores: tuple[PlacedScore, ...]
    provider: str
    model: str
    prompt_version: str


class ComparedEntry(Strict):
    """An entry's result on the dimension. `score` (0-100, may be a half) is the mean of both orders.

    `band` is that score's. `evidence` and `feedback` are those of the order in which it scored lower.
    """

    submission_id: str
    label: str
    score: float
    band: Band
    evidence: str
    feedback: str
    risk_flags: tuple[RiskFlag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The entries on one dimension, in the order of their labels, and both replies that the numbers come from.

    `labels` says which submission had which label. `unstable`: the two orders differed by more than `TOLERATED` over an
    entry, or ranked two entries the other way round.
    """

    dimension: str
    labels: Mapping[str, str]
    entries: tuple[ComparedEntry, ...]
    orders: tuple[OrderRead, OrderRead]
    unstable: bool
    spends: tuple[Spend, ...]


async def compare(
    dimension: Dimension,
    entries: Sequence[Entry],
    *,
    brief: Brief,
    judge: Judge,
    deadline: Deadline,
    rng: Random,
    use_cache: bool = True,
) -> Compared | NotScored:
    """Compare two or three entries on one dimension. `rng` draws the labels.

    `NotScored`: one of the two orders has no valid reply; half a comparison would be one that position decides. Raises
    `InputError` for another number of entries, for two of one submission, or for one of which nothing is left to show.
    """
    _refuse(entries)
    labelled = dict(zip(LABELS, rng.sample(list(entries), len(entries)), strict=False))
    first = tuple(labelled)
    spends: tuple[Spend, ...] = ()
    orders: list[OrderRead] = []
    for order in (first, (*first[1:], *first[:1])):
        found = await _ask(dimension, labelled, order, brief=brief, judge=judge, deadline=deadline, use_cache=use_cache)
        spends += found.spends
        if isinstance(found, NotScored):
            return NotScored(reason=found.reason, faults=found.faults, error=found.error, spends=spends)
        orders.append(_order_read(found, order))
    return Compared(
        dimension=dimension.id,
        labels={label: entry.submission_id for label, entry in labelled.items()},
        entries=tuple(_entry(label, entry, orders) for label, entry in labelled.items()),
        orders=(orders[0], orders[1]),
        unstable=_unstable(first, orders),
        spends=spends,
    )


def _refuse(entries: Sequence[Entry]) -> None:
    if not LEAST_ENTRIES <= len(entries) <= FINALISTS:
        raise InputError(f"{LEAST_ENTRIES} or {FINALISTS} entries can be compared, not {len(entries)}.")
    if len({entry.submission_id for entry in entries}) != len(entries):
        raise InputError("An entry cannot be compared with itself.")
    for entry in entries:
        if is_contentless(entry.material.text):
            raise InputError(f"Nothing of submission {entry.submission_id} is left to be compared.")


async def _ask(
    dimension: Dimension,
    labelled: Mapping[str, Entry],
    order: Sequence[str],
    *,
    brief: Brief,
    judge: Judge,
    deadline: Deadline,
    use_cache: bool,
) -> Checked[HorizontalReply] | NotScored:
    shown = [_shown(label, labelled[label], dimension) for label in order]

    def question(faults: Sequence[str]) -> Question[HorizontalReply]:
        return Question(
            prompt=prompt(
                "horizontal",
                language_of_task(brief),
                description=brief.description,
                dimension=dimension.model_dump(include={"id", "name", "description"}),
                entries=shown,
                faults=list(faults),
            ),
            reply_type=HorizontalReply,
            max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_AN_ENTRY * len(shown),
            use_cache=use_cache,
        )

    return await ask_checked(
        judge, question, lambda reply: list(_faults(reply, labelled)), deadline=deadline, purpose="horizontal"
    )


def _shown(label: str, entry: Entry, dimension: Dimension) -> dict[str, object]:
    """An entry as the prompt shows it. Evidence that was cut out anchors nothing, and is left away."""
    anchor = next(one for one in entry.individual if one.dimension == dimension.id)
    evidence = anchor.evidence if contains_verbatim(anchor.evidence, entry.material.text) else ""
    return {"label": label, "band": anchor.band, "evidence": evidence, **entry.material.values(dimension.id)}


def _faults(reply: HorizontalReply, labelled: Mapping[str, Entry]) -> Iterator[str]:
    """What breaks the rules in a judge's reply, each fault in one sentence; nothing where all is well."""
    told = [one.label for one in reply.entries]
    for label in labelled:
        if (times := told.count(label)) != 1:
            yield f"Entry {label} is there {times} times; score every entry exactly once."
    if unknown := sum(label not in labelled for label in told):
        yield f"{unknown} of the labels belong to no entry; the entries are {', '.join(labelled)}."
    for one in reply.entries:
        if (entry := labelled.get(one.label)) is None:
            continue
        which = f"entry {one.label}"
        yield from faults_of_score(one.band, one.score, which=which)
        yield from faults_of_evidence(one.evidence, (entry.material.text, entry.text), which=which)
        if not visible(one.comparison).strip():
            yield f"The comparison of {which} is blank."


def _order_read(found: Checked[HorizontalReply], order: tuple[str, ...]) -> OrderRead:
    said = {one.label: one for one in found.value.entries}
    return OrderRead(
        order=order,
        scores=tuple(
            PlacedScore(
                label=label,
                band=said[label].band,
                score=said[label].score,
                evidence=said[label].evidence.strip(),
                feedback=said[label].comparison.strip(),
            )
            for label in order
        ),
        provider=found.provider,
        model=found.model,
        prompt_version=found.prompt_version,
    )


def _of(label: str, orders: Sequence[OrderRead]) -> list[PlacedScore]:
    return [one for order in orders for one in order.scores if one.label == label]


def _entry(label: str, entry: Entry, orders: Sequence[OrderRead]) -> ComparedEntry:
    first, second = _of(label, orders)
    lower = min(first, second, key=lambda one: one.score)
    score = (first.score + second.score) / 2
    disagree: tuple[RiskFlag, ...] = ("orders_disagree",) if abs(first.score - second.score) > TOLERATED else ()
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
    if any(abs(first - second) > TOLERATED for first, second in scores.values()):
        return True
    return any(
        (scores[one][0] - scores[other][0]) * (scores[one][1] - scores[other][1]) < 0
        for one, other in combinations(labels, 2)
    )
