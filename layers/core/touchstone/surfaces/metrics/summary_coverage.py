"""summary_coverage: does a summary deal with all major topics of its source?

Score: the mean of the topics' values (COVERED 1, MENTIONED 0.5, MISSING 0) over the topics that were judged, as a
percentage (0-100); None if none was judged. The topics are the source's pillars, whatever their weights. If it has
none, they are the major topics that a judge finds in its text. COVERED: the summary says what matters of the topic.
MENTIONED: it only names or touches the topic. Both labels quote the summary word for word. Every label but COVERED has
a suggestion of what to add. Units of content and how far a summary has them: Nenkova & Passonneau 2004, "Evaluating
content selection in summarization: the pyramid method".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.judges.fence import contains_verbatim
from touchstone.material import Source, Summary
from touchstone.surfaces.grounding import Grounded
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult, Topic
from touchstone.surfaces.numbered import Numbers, ask_each, is_blank, labelled
from touchstone.surfaces.topics import of_topics, shown, topics_of
from touchstone.together import gather_all

TOPICS_A_CALL = 10
TOPIC_CHARS = 15_000
"""Most characters of topics in one call, beside the summary."""
TOKENS_A_TOPIC = 350

type TopicLabel = Literal["COVERED", "MENTIONED", "MISSING"]
VALUES: Mapping[TopicLabel, float] = {"COVERED": 1.0, "MENTIONED": 0.5, "MISSING": 0.0}


class TopicCoverage(Grounded):
    """What a judge says of one topic. `quote`: the summary's own words on it, None where it has none."""

    label: TopicLabel
    suggestion: str | None


class TopicCoverageReply(JudgeReply):
    """What a judge says of all topics of a call."""

    topics: list[TopicCoverage]


async def summary_coverage(summary: Summary, source: Source, measuring: Measuring) -> MetricResult:
    """Measure a summary against its source. Topics whose call failed are unscored; the other topics count."""
    topics = await topics_of(source, measuring)
    groups = grouped(topics.topics, lambda one: one.chars, most=TOPIC_CHARS, count=TOPICS_A_CALL)
    found = await gather_all(_of_topics(group, summary, measuring) for group in groups)
    return Labelled.of([of_topics(topics), *found]).result("summary_coverage")


async def _of_topics(topics: Sequence[Topic], summary: Summary, measuring: Measuring) -> Labelled:
    names = {one.id: one.text for one in topics}

    def label(topic: str, entry: TopicCoverage) -> ItemLabel:
        return ItemLabel(
            item=topic,
            label=entry.label,
            value=VALUES[entry.label],
            reason=entry.reason.strip(),
            confidence=entry.confidence,
            text=names[topic],
            evidence=(entry.quote or "").strip() if entry.label != "MISSING" else None,
            suggestion=entry.suggestion if entry.label != "COVERED" else None,
        )

    reply = await ask_each(
        measuring,
        "summary_coverage",
        TopicCoverageReply,
        things=Numbers(ids=tuple(names), noun="Topic", texts=names),
        entries=lambda reply: reply.topics,
        faults_of=lambda one: _faults(one, summary.text),
        tokens_each=TOKENS_A_TOPIC,
        values={"topics": [shown(one) for one in topics], "summary": summary.text},
    )
    return labelled(reply, label)


def _faults(one: TopicCoverage, summary: str) -> Iterator[str]:
    """What breaks the rules in one topic's entry, each fault in one sentence."""
    if is_blank(one.reason):
        yield f"The reason of topic {one.number} is blank."
    if one.label != "MISSING" and not contains_verbatim(one.quote or "", summary):
        yield f"The quote of topic {one.number} does not occur in the summary; copy what it says there exactly."
    if one.label != "COVERED" and is_blank(one.suggestion):
        yield f"The suggestion of topic {one.number} is missing; say what to add."
