"""The finalists of a contest, made ready to be compared: read once, and then shown for every dimension."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.material.source import MAX_SECTION_CHARS
from touchstone.oracle.flags import flag_passages
from touchstone.oracle.material import Material, ReadSubmission, SubmissionJudging
from touchstone.oracle.model import Brief, Dimension, DimensionScore, RiskFlag
from touchstone.oracle.passages import Passage, cut_out, flags_of
from touchstone.oracle.ranking import FINALISTS
from touchstone.strict import Strict

COMPARED_WHOLE_CHARS = MAX_SECTION_CHARS // FINALISTS
"""Longest entry that is shown whole, so that all entries together are no longer than one section."""


class FinalistEntry(Strict):
    """A finalist.

    `text` is the submission as sent. `material` is what judges are shown: the text without flagged passages.
    `individual` are its scores when judged by itself, one for each dimension of the task.
    """

    submission_id: str
    text: str
    material: Material
    individual: tuple[DimensionScore, ...]
    risk_flags: tuple[RiskFlag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEntry:
    """An entry that can be compared on any dimension, and the calls that were paid for reading it."""

    entry: FinalistEntry
    spends: tuple[Spend, ...]


async def whole_entry(
    submission_id: str, text: str, individual: Sequence[DimensionScore], *, passages: Sequence[Passage] = ()
) -> FinalistEntry | None:
    """A finalist that is shown whole, made ready without a judge. None if the submission is too long for that.

    `passages` are those of its individual scoring. Those that code finds are added to them.
    """
    if len(text) > COMPARED_WHOLE_CHARS:
        return None
    cut = (*passages, *await flag_passages(text))
    return _entry(submission_id, text, Material(text=cut_out(text, cut)), individual, cut)


async def read_entry(
    submission_id: str,
    text: str,
    individual: Sequence[DimensionScore],
    *,
    brief: Brief,
    dimensions: Sequence[Dimension],
    judge: Judge,
    deadline: Deadline,
    passages: Sequence[Passage] = (),
    use_cache: bool = True,
) -> ReadEntry | NotScored:
    """A finalist made ready for all comparisons. No call is made if it can be shown whole.

    `passages` are those of its individual scoring. Those that code finds are added. A long text is read by judges in
    sections; the passages that they report are taken instead if none was known before.
    """

    if (whole := await whole_entry(submission_id, text, individual, passages=passages)) is not None:
        return ReadEntry(entry=whole, spends=())
    judging = SubmissionJudging(
        brief=brief, dimensions=tuple(dimensions), submission=text, judge=judge, deadline=deadline, use_cache=use_cache
    )
    cut = (*passages, *await flag_passages(text))
    seen = await judging.read(cut, whole_up_to=COMPARED_WHOLE_CHARS)
    spends = seen.spends
    if isinstance(seen, ReadSubmission) and seen.passages:
        cut = seen.passages
        seen = await judging.read(cut, seen, whole_up_to=COMPARED_WHOLE_CHARS)
        spends += seen.spends
    if isinstance(seen, NotScored):
        return replace(seen, spends=spends)
    return ReadEntry(entry=_entry(submission_id, text, seen.material, individual, cut), spends=spends)


def _entry(
    submission_id: str, text: str, material: Material, individual: Sequence[DimensionScore], cut: Sequence[Passage]
) -> FinalistEntry:
    return FinalistEntry(
        submission_id=submission_id,
        text=text,
        material=material,
        individual=tuple(individual),
        risk_flags=flags_of(cut),
    )
