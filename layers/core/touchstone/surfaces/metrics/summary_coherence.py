"""summary_coherence: is a summary well organised and readable?

Score: the mean of three marks from 1 to 5 (organization, flow, completeness) as (mean - 1) / 4, a percentage (0-100);
only the marks that were given count; None if none was. Organization: the parts stand in an order that serves the
reader. Flow: each sentence follows from those before, and pronouns and links clearly point to something. Completeness:
the summary is a text with a beginning and an end, and leaves nothing hanging that it raises; `summary_coverage` judges
whether it has everything of its source. Marks of 3 and less have a suggestion. Coherence as a quality of its own,
marked from 1 to 5 by readers: Fabbri et al. 2021, "SummEval".
"""

from collections.abc import Iterator

from touchstone.judges.calls import Checked, JudgeReply, RefusedReply
from touchstone.material import Summary
from touchstone.surfaces.measuring import Measuring, not_labelled
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem, result
from touchstone.surfaces.numbered import is_blank

LOWEST, HIGHEST = 1, 5
SUGGESTED_UP_TO = 3
MAX_OUTPUT_TOKENS = 1024


class Mark(JudgeReply):
    """A judge's mark for one aspect. The order of the fields is the order of the work."""

    reason: str
    score: int
    suggestion: str | None


class CoherenceReply(JudgeReply):
    """A judge's marks for a summary."""

    organization: Mark
    flow: Mark
    completeness: Mark


ASPECTS = tuple(CoherenceReply.model_fields)


async def summary_coherence(summary: Summary, measuring: Measuring) -> MetricResult:
    """Measure a summary as a text of its own. Marks that break the rules twice are unscored; the other marks count."""
    found = await measuring.ask(
        "summary_coherence",
        CoherenceReply,
        lambda reply: [fault for name, mark in _marks(reply) for fault in _faults(name, mark)],
        max_output_tokens=MAX_OUTPUT_TOKENS,
        summary=summary.text,
    )
    if not isinstance(found, Checked | RefusedReply):
        failed = not_labelled(ASPECTS, found)
        return result("summary_coherence", (), unscored=failed.unscored, spends=failed.spends)
    faults = {name: tuple(_faults(name, mark)) for name, mark in _marks(found.value)}
    return result(
        "summary_coherence",
        tuple(
            _label(name, mark).model_copy(update={"judge": found.judged_by})
            for name, mark in _marks(found.value)
            if not faults[name]
        ),
        unscored=tuple(
            UnscoredItem(item=name, reason="invalid_reply", details=each, judge=found.judged_by)
            for name, each in faults.items()
            if each
        ),
        spends=found.spends,
    )


def _marks(reply: CoherenceReply) -> Iterator[tuple[str, Mark]]:
    yield "organization", reply.organization
    yield "flow", reply.flow
    yield "completeness", reply.completeness


def _label(name: str, mark: Mark) -> ItemLabel:
    return ItemLabel(
        item=name,
        label=str(mark.score),
        value=(mark.score - LOWEST) / (HIGHEST - LOWEST),
        reason=mark.reason.strip(),
        suggestion=mark.suggestion if mark.score <= SUGGESTED_UP_TO else None,
    )


def _faults(name: str, mark: Mark) -> Iterator[str]:
    """What breaks the rules in one mark, each fault in one sentence."""
    if not LOWEST <= mark.score <= HIGHEST:
        yield f"The score of {name} is {mark.score}; it is a whole number from {LOWEST} to {HIGHEST}."
    if is_blank(mark.reason):
        yield f"The reason of {name} is blank."
    if mark.score <= SUGGESTED_UP_TO and is_blank(mark.suggestion):
        yield f"The suggestion of {name} is missing; say how to improve it."
