"""What judges are shown of a submission: the whole text or, if that is too long, a judge's notes on each section.

    up to MAX_SECTION_CHARS ──> shown whole
    longer ──> sections ──> each read by a judge into a digest ──> all digests are shown, in order
                                └─ one that nobody could read: not scored; nothing is ever left out silently

Whether the text or its digests are shown, evidence is checked against the text itself.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, batched
from typing import Any

from touchstone.checks import is_contentless
from touchstone.judges.calls import JudgeReply, NotScored
from touchstone.judges.fence import contains_verbatim, visible
from touchstone.judges.spends import Spend
from touchstone.material.source import MAX_SECTION_CHARS, sections_of
from touchstone.oracle.judging import Judging
from touchstone.oracle.model import Dimension
from touchstone.oracle.passages import JudgedFlag, Passage, cut_out, found_by_judge, steering_faults
from touchstone.strict import Strict
from touchstone.together import gather_all

MAX_DIGEST_CHARS = 6_000
"""Most characters of a digest. If there are many sections each digest gets less, so that all together are no longer
than one section."""
OBSERVATION_CHARS = 400
"""Most characters of an observation and its quote together, on average: a sentence each. It determines how many
observations the judge is asked for."""
OBSERVATIONS_PER_TOPIC = 3
"""Most observations of one section on one dimension or criterion. All observations on one dimension must fit beside
those on the rivals."""
CONCURRENT_SECTIONS = 4
"""How many sections are read at the same time. More would use up a minute's quota before the first fault is seen."""
MAX_OUTPUT_TOKENS = 8192
"""Twice the tokens of the longest digest in either language."""


class SteeringReply(JudgeReply):
    """A passage that speaks to whoever grades, as a judge reports it."""

    flag: JudgedFlag
    quote: str


class ObservationReply(JudgeReply):
    """What a judge notes of a section on one topic. The order of the fields is the order of the work."""

    topic: str
    quote: str
    observation: str


class DigestReply(JudgeReply):
    """A judge's digest of one section."""

    steering: list[SteeringReply]
    observations: list[ObservationReply]


class Observation(Strict):
    """What a judge noted of a section. `topic`: a dimension's id, or `criterion_1` and so on in the task's order.

    `quote` occurs in the section.
    """

    topic: str
    quote: str
    observation: str


class Digest(Strict):
    """What a judge noted of one section. `observations` is empty for a section without content."""

    observations: tuple[Observation, ...]

    def as_text(self, topic: str | None = None) -> str:
        """The digest as a later judge reads it, one line for each observation.

        `topic`: only the observations on it; None: all of them.
        """
        return "\n".join(
            f'{one.topic}: {one.observation} "{one.quote}"'
            for one in self.observations
            if topic is None or one.topic == topic
        )


class Material(Strict):
    """What judges are shown of a submission. Evidence must occur in `text`.

    Without digests the text is shown whole. The caller makes sure that it is short enough.
    """

    text: str
    digests: tuple[Digest, ...] = ()

    def values(self, topic: str | None = None) -> dict[str, Any]:
        """The values of `submission` and `digests` in a prompt. One of the two is empty."""
        if not self.digests:
            return {"submission": self.text, "digests": []}
        return {"submission": "", "digests": [digest.as_text(topic) for digest in self.digests]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSubmission:
    """The material of a submission, with the sections that its digests belong to and the calls that were paid for it.

    `passages` are those that the judges reported while reading; they speak to whoever grades. They are places in the
    submission as it was sent.
    """

    material: Material
    sections: tuple[str, ...]
    passages: tuple[Passage, ...] = ()
    spends: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionJudging(Judging):
    """The values that are the same each time a submission is judged, with or without some of its passages."""

    submission: str
    dimensions: tuple[Dimension, ...] = ()

    async def read(
        self,
        cut: Sequence[Passage] = (),
        earlier: ReadSubmission | None = None,
        *,
        whole_up_to: int = MAX_SECTION_CHARS,
    ) -> ReadSubmission | NotScored:
        """The material of the submission. No call is made if it can be shown whole.

        `cut` holds passages to be left out, as places in `submission`. `earlier` is the same submission as it was read
        before: only the sections that `cut` changes are read again. If `cut` is given, no further passages are
        reported.
        """
        left = cut_out(self.submission, cut)
        if len(self.submission) <= whole_up_to:
            return ReadSubmission(material=Material(text=left), sections=(left,))
        parts = sections_of(self.submission)
        starts = list(accumulate((len(part) for part in parts), initial=0))[: len(parts)]
        sections = tuple(cut_out(part, cut, start=start) for part, start in zip(parts, starts, strict=True))
        reading = _Reading(
            task=self, sections=sections, most_chars=min(MAX_DIGEST_CHARS, MAX_SECTION_CHARS // len(sections))
        )
        known = dict(zip(earlier.sections, earlier.material.digests, strict=True)) if earlier else {}
        read = await _read_all(reading, {place: known[part] for place, part in enumerate(sections) if part in known})
        if isinstance(read, NotScored):
            return read
        reported = [one.moved(start) for part, start in zip(read, starts, strict=True) for one in part.passages]
        return ReadSubmission(
            material=Material(text=left, digests=tuple(part.digest for part in read)),
            sections=sections,
            passages=() if cut else tuple(reported),
            spends=tuple(spend for part in read for spend in part.spends),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """The values that are the same for all sections. `most_chars` is the limit of one digest."""

    task: SubmissionJudging
    sections: tuple[str, ...]
    most_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _SectionRead:
    """The digest of one section, the passages that were reported in it, and the calls that were paid for."""

    digest: Digest
    passages: tuple[Passage, ...] = ()
    spends: tuple[Spend, ...] = ()


async def _read_all(reading: _Reading, known: dict[int, Digest]) -> list[_SectionRead] | NotScored:
    """All sections in order, `CONCURRENT_SECTIONS` at a time.

    Once a section could not be read, no further ones are begun.
    """
    read: list[_SectionRead] = []
    for places in batched(range(len(reading.sections)), CONCURRENT_SECTIONS, strict=False):
        found = await gather_all(_read(reading, place, known.get(place)) for place in places)
        spends = tuple(spend for part in [*read, *found] for spend in part.spends)
        for part in found:
            if isinstance(part, NotScored):
                return replace(part, spends=spends)
            read.append(part)
    return read


async def _read(reading: _Reading, place: int, known: Digest | None) -> _SectionRead | NotScored:
    section = reading.sections[place]
    if known is not None:
        return _SectionRead(digest=known)
    if is_contentless(section):
        return _SectionRead(digest=Digest(observations=()))
    task, topics = reading.task, _topics(reading.task)
    found = await task.ask(
        "digest",
        DigestReply,
        lambda reply: _faults(reply, section, topics=topics, most_chars=reading.most_chars),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        description=task.brief.description,
        criteria=list(task.brief.acceptance_criteria),
        dimensions=[one.model_dump(include={"id", "name", "description"}) for one in task.dimensions],
        section=section,
        number=place + 1,
        sections=len(reading.sections),
        most=max(1, reading.most_chars // OBSERVATION_CHARS),
        most_a_topic=OBSERVATIONS_PER_TOPIC,
    )
    if isinstance(found, NotScored):
        return found
    noted = tuple(
        Observation(topic=one.topic, quote=one.quote.strip(), observation=one.observation.strip())
        for one in found.value.observations
    )
    reported = found_by_judge([(one.flag, one.quote) for one in found.value.steering], section)
    return _SectionRead(digest=Digest(observations=noted), passages=reported, spends=found.spends)


def _topics(task: SubmissionJudging) -> frozenset[str]:
    criteria = range(1, len(task.brief.acceptance_criteria) + 1)
    return frozenset([one.id for one in task.dimensions] + [f"criterion_{number}" for number in criteria])


def _faults(reply: DigestReply, section: str, *, topics: frozenset[str], most_chars: int) -> Iterator[str]:
    """Yield each fault of a judge's digest in one sentence; nothing if the digest obeys all rules."""
    if not reply.observations:
        yield "There is no observation; give at least one."
    for number, one in enumerate(reply.observations, start=1):
        if one.topic not in topics:
            yield f"The topic of observation {number} is none of the given ones."
        if not visible(one.observation).strip():
            yield f"Observation {number} is blank."
        if not contains_verbatim(one.quote, section):
            yield f"The quote of observation {number} does not occur in the section; copy a passage of it exactly."
    for topic, times in Counter(one.topic for one in reply.observations).items():
        if topic in topics and times > OBSERVATIONS_PER_TOPIC:
            yield f"There are {times} observations on {topic}; give at most {OBSERVATIONS_PER_TOPIC}."
    length = sum(len(one.quote) + len(one.observation) for one in reply.observations)
    if length > most_chars:
        yield f"The digest has {length} characters; at most {most_chars}: keep what matters most and quote less."
    yield from steering_faults([one.quote for one in reply.steering], section)
