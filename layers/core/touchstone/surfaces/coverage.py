"""How deeply questions or cards deal with each concept of a source.

The metrics `quiz_coverage` and `flashcard_coverage` share this module.

A judge gives each concept a depth from 0 (no question is about it) to 3 (the concept must be understood), and names the
questions that show it. A concept's value is depth / 3, weighted by its pillar. Depths are used instead of yes and no
because the taxonomies of learning aims tell recalling from understanding and using (Anderson & Krathwohl 2001, "A
taxonomy for learning, teaching, and assessing").

Ten concepts share a call. If there are more questions than a judge can be shown at once, they are shown in groups, and
the deepest group counts. So if a concept is tested only by several groups together, it has the depth of the best group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.judges.spends import JudgedBy, single_judge
from touchstone.material import Source
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult, Topic
from touchstone.surfaces.numbered import EntriesByItem, Numbered, Numbers, ask_each, is_blank
from touchstone.surfaces.topics import of_topics, shown, topics_of
from touchstone.together import gather_all

DEEPEST = 3
SUGGESTED_BELOW = 2
"""Concepts less deep than this have a suggestion of what to ask."""
CONCEPTS_A_CALL = 10
CONCEPT_CHARS, ENTRY_CHARS = 15_000, 30_000
"""Most characters of concepts, and of questions or cards, in one call. Together they fit into a judge's window."""
FENCE_CHARS = 60
"""The characters that the fence around one text takes in a prompt."""
TOKENS_A_CONCEPT = 300

type CoverageMetric = Literal["quiz_coverage", "flashcard_coverage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageEntry:
    """A question or a card as it is shown to a judge of coverage."""

    id: str
    asks: str
    answers: tuple[str, ...]
    choices: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """The characters that the entry takes in a prompt."""
        texts = (self.asks, *self.answers, *self.choices)
        return sum(len(text) + 1 for text in texts) + FENCE_CHARS * 3


class ConceptDepth(Numbered):
    """What a judge says of one concept. `tested_by` are numbers of questions or cards in the call."""

    tested_by: list[int]
    reason: str
    depth: int
    suggestion: str | None


class DepthReply(JudgeReply):
    """What a judge says of all concepts of a call."""

    concepts: list[ConceptDepth]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupEntry:
    """A judge's words on a concept beside one group of questions or cards. `judge` is None if it is not known."""

    of: ConceptDepth
    group: Sequence[CoverageEntry]
    judge: JudgedBy | None


async def depth_coverage(
    metric: CoverageMetric, entries: Sequence[CoverageEntry], source: Source, measuring: Measuring
) -> MetricResult:
    """Measure how deeply the concepts of a source are dealt with. The metrics say what the score means."""
    topics = await topics_of(source, measuring)
    groups = list(grouped(entries, lambda one: one.chars, most=ENTRY_CHARS))
    parts = grouped(topics.topics, lambda one: one.chars, most=CONCEPT_CHARS, count=CONCEPTS_A_CALL)
    found = await gather_all(_of_concepts(metric, part, groups, measuring) for part in parts)
    return Labelled.of([of_topics(topics), *found]).result(metric)


async def _of_concepts(
    metric: CoverageMetric, concepts: Sequence[Topic], groups: Sequence[Sequence[CoverageEntry]], measuring: Measuring
) -> Labelled:
    """The labels of the concepts of one call, from all groups of questions or cards."""
    replies = await gather_all(_of_group(metric, concepts, group, measuring) for group in groups)
    items, unscored = [], []
    for concept in concepts:
        entries = [
            _GroupEntry(of=one.entries[concept.id], group=group, judge=one.judge)
            for one, group in zip(replies, groups, strict=True)
            if concept.id in one.entries
        ]
        missing = [item for one in replies for item in one.unscored if item.item == concept.id]
        if entries and (not missing or max(one.of.depth for one in entries) == DEEPEST):
            items.append(_label(concept, entries))
        else:
            unscored.append(missing[0])
    return Labelled(
        items=tuple(items), unscored=tuple(unscored), spends=tuple(spend for one in replies for spend in one.spends)
    )


async def _of_group(
    metric: CoverageMetric, concepts: Sequence[Topic], group: Sequence[CoverageEntry], measuring: Measuring
) -> EntriesByItem[ConceptDepth]:
    texts = {one.id: one.text for one in concepts}
    return await ask_each(
        measuring,
        metric,
        DepthReply,
        things=Numbers(ids=tuple(texts), noun="Concept", texts=texts),
        entries=lambda reply: reply.concepts,
        faults_of=lambda one: _faults(one, len(group)),
        tokens_each=TOKENS_A_CONCEPT,
        values={
            "concepts": [shown(one) for one in concepts],
            "entries": [
                {"asks": one.asks, "choices": "\n".join(one.choices), "answers": "\n".join(one.answers)}
                for one in group
            ],
        },
    )


def _label(concept: Topic, entries: Sequence[_GroupEntry]) -> ItemLabel:
    """The label of a concept: that of the group with the greatest depth.

    At the greatest possible depth the judge of that group gave the label. At any other depth another group could have
    been deeper, so that the judges of all groups gave it together.
    """
    first = max(entries, key=lambda one: one.of.depth)
    deepest = first.of
    tested = [one.group[number - 1].id for one in entries for number in one.of.tested_by]
    reason = deepest.reason.strip()
    return ItemLabel(
        item=concept.id,
        label=f"DEPTH_{deepest.depth}",
        value=deepest.depth / DEEPEST,
        reason=f"{', '.join(tested)}: {reason}" if tested else reason,
        text=concept.text,
        suggestion=deepest.suggestion if deepest.depth < SUGGESTED_BELOW else None,
        weight=concept.weight,
        judge=first.judge if deepest.depth == DEEPEST else single_judge(one.judge for one in entries),
    )


def _faults(one: ConceptDepth, entries: int) -> Iterator[str]:
    """What breaks the rules in one concept's entry, each fault in one sentence."""
    if not 0 <= one.depth <= DEEPEST:
        yield f"The depth of concept {one.number} is {one.depth}; it is 0, 1, 2 or {DEEPEST}."
    if any(not 1 <= number <= entries for number in one.tested_by) or len(set(one.tested_by)) < len(one.tested_by):
        yield f"What tests concept {one.number} is given by numbers from 1 to {entries}, each once."
    if (one.depth == 0) != (not one.tested_by):
        yield f"Concept {one.number} has depth {one.depth}: give what tests it above 0, and nothing at 0."
    if is_blank(one.reason):
        yield f"The reason of concept {one.number} is blank."
    if one.depth < SUGGESTED_BELOW and is_blank(one.suggestion):
        yield f"The suggestion of concept {one.number} is missing; say what should be asked."
