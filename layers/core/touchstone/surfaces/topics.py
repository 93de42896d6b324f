"""The topics of a source: its pillars, or, if it has none, the topics that a judge finds in its text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from touchstone.judges.calls import Checked, JudgeReply
from touchstone.judges.fence import contains_verbatim
from touchstone.material import Source
from touchstone.material.source import sections_of
from touchstone.surfaces.measuring import Labelled, Measuring, not_labelled
from touchstone.surfaces.model import Topic, Topics
from touchstone.surfaces.numbered import is_blank
from touchstone.surfaces.wording import same
from touchstone.together import gather_all

MOST_TOPICS = 20
"""Most topics looked for in a text: as many as a person would call its major ones. With more, details would weigh as
much as major topics.

A text of several sections has this many in all, but no section has fewer than `LEAST_A_SECTION`.
"""
LEAST_A_SECTION = 3
MAX_TOPIC_CHARS = 200
BASE_OUTPUT_TOKENS, TOKENS_A_TOPIC = 512, 200
PASSAGE_CHARS = 4_000
"""How many characters of a topic's passages a judge is shown, so that it knows what the topic's name means."""


class TopicReply(JudgeReply):
    """A topic that a judge found in a section, with a passage that deals with it."""

    topic: str
    quote: str


class TopicsReply(JudgeReply):
    """The topics of one section, in its order."""

    topics: list[TopicReply]


async def topics_of(source: Source, measuring: Measuring) -> Topics:
    """The pillars of a source with their weights, or the topics that a judge finds in it.

    The topics that a judge finds have the same weight.

    A long text is read by sections. If two sections name the same topic, it is one topic. If `measuring` has topics
    that were found before, they are returned as they are.
    """
    if measuring.topics is not None:
        return measuring.topics
    if source.pillars:
        pillars = enumerate(source.pillars, start=1)
        return Topics(topics=tuple(_topic(str(n), one.concept, one.chunks, one.weight) for n, one in pillars))
    sections = source.sections
    read = await gather_all(_read(sections, place, measuring) for place in range(len(sections)))
    return Topics(
        topics=tuple(_merged([topic for part in read for topic in part.topics])),
        unscored=tuple(item for part in read for item in part.unscored),
        spends=tuple(spend for part in read for spend in part.spends),
    )


def of_topics(topics: Topics) -> Labelled:
    """What finding the topics adds to a metric's result: its calls, and the sections that no judge could read."""
    return Labelled(unscored=topics.unscored, spends=topics.spends)


def shown(topic: Topic) -> Mapping[str, object]:
    """A topic as the templates of prompts take it."""
    return {"text": topic.text, "passages": list(topic.passages), "left_out": topic.left_out}


async def _read(sections: Sequence[str], place: int, measuring: Measuring) -> Topics:
    section = sections[place]
    most = max(LEAST_A_SECTION, MOST_TOPICS // len(sections))
    found = await measuring.ask(
        "topics",
        TopicsReply,
        lambda reply: _faults(reply, section, most),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_A_TOPIC * most,
        section=section,
        number=place + 1,
        sections=len(sections),
        most=most,
    )
    if not isinstance(found, Checked):
        failed = not_labelled([f"section {place + 1}"], found)
        return Topics(unscored=failed.unscored, spends=failed.spends)
    topics = tuple(_topic("", one.topic.strip(), (one.quote.strip(),), 1.0) for one in found.value.topics)
    return Topics(topics=topics, spends=found.spends)


def _topic(number: str, text: str, chunks: tuple[str, ...], weight: float) -> Topic:
    """A topic with its passages, cut to the length that is shown."""
    shown: list[str] = []
    room = PASSAGE_CHARS
    for chunk in chunks:
        part = sections_of(chunk, most=room)[0] if room > 1 else ""
        if part:
            shown.append(part)
        room -= len(part)
    left_out = sum(map(len, chunks)) - sum(map(len, shown))
    return Topic(id=number, text=text, weight=weight, passages=tuple(shown), left_out=left_out)


def _merged(topics: list[Topic]) -> Iterator[Topic]:
    """The topics with their numbers, each name once. Topics with the same name share their passages."""
    together: dict[tuple[str, ...], Topic] = {}
    for topic in topics:
        name = same(topic.text)
        known = together.get(name)
        together[name] = replace(known, passages=(*known.passages, *topic.passages)) if known else topic
    for number, topic in enumerate(together.values(), start=1):
        yield replace(topic, id=str(number))


def _faults(reply: TopicsReply, section: str, most: int) -> Iterator[str]:
    """What breaks the rules in a list of topics, each fault in one sentence."""
    if not 1 <= len(reply.topics) <= most:
        yield f"There are {len(reply.topics)} topics; name 1 to {most}."
    names = [same(one.topic) for one in reply.topics]
    for number, one in enumerate(reply.topics, start=1):
        if is_blank(one.topic) or len(one.topic) > MAX_TOPIC_CHARS:
            yield f"The name of topic {number} is blank or longer than {MAX_TOPIC_CHARS} characters."
        if names.index(names[number - 1]) != number - 1:
            yield f"Topic {number} has the name of an earlier one; name each topic once."
        if not contains_verbatim(one.quote, section):
            yield f"The quote of topic {number} does not occur in the section; copy a passage of it exactly."
