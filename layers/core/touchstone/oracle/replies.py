"""What a judge replies about a submission by itself, the rules for the reply, and how it becomes a record."""

from collections.abc import Iterator, Sequence

from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import contains_verbatim, visible
from touchstone.oracle.aggregation import PENALTY_BELOW
from touchstone.oracle.bands import BANDS, Band, band_contains
from touchstone.oracle.material import SteeringReply
from touchstone.oracle.model import SUGGESTIONS, DimensionScore, Severity, Suggestion
from touchstone.oracle.passages import steering_faults

MAX_EVIDENCE_CHARS = 2_000
"""Longest evidence. A record keeps it, and a whole chapter proves nothing in particular."""

_SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


class DimensionReply(JudgeReply):
    """What a judge says of one dimension. The order of the fields is the order of the work: the number comes last."""

    dimension: str
    evidence: str
    feedback: str
    band: Band
    score: int


class SuggestionReply(JudgeReply):
    """What would improve the submission, by a judge."""

    problem: str
    suggestion: str
    severity: Severity


class IndividualReply(JudgeReply):
    """What a judge says of a submission. No totals: they are computed here."""

    steering: list[SteeringReply]
    dimension_scores: list[DimensionReply]
    revision_suggestions: list[SuggestionReply]


def faults_of(reply: IndividualReply, ids: Sequence[str], *, shown: str, submission: str) -> Iterator[str]:
    """Yield each fault of a judge's reply in one sentence; nothing if the reply obeys all rules.

    `ids` are the task's dimensions. Evidence must occur both in the text that was `shown` and in the `submission` as
    sent. Where a passage was cut out, the words before and behind it together are no passage of the submission.
    """
    scored = [one.dimension for one in reply.dimension_scores]
    for key in ids:
        if (times := scored.count(key)) != 1:
            yield f"The dimension {key} is there {times} times; score every dimension exactly once."
    if unknown := sum(key not in ids for key in scored):
        yield f"{unknown} of the dimensions are none of the given ones; use their ids as they are."
    for one in reply.dimension_scores:
        if one.dimension in ids:
            yield from faults_of_score(one.band, one.score, which=one.dimension)
            yield from faults_of_evidence(one.evidence, (shown, submission), which=one.dimension)
            if not visible(one.feedback).strip():
                yield f"The feedback on {one.dimension} is blank."
    if (given := len(reply.revision_suggestions)) != SUGGESTIONS:
        yield f"There are {given} revision_suggestions; give exactly {SUGGESTIONS}."
    for number, suggestion in enumerate(reply.revision_suggestions, start=1):
        if not visible(suggestion.problem).strip() or not visible(suggestion.suggestion).strip():
            yield f"The problem or the suggestion of revision suggestion {number} is blank."
    yield from steering_faults([one.quote for one in reply.steering], submission)


def faults_of_score(band: Band, score: int, *, which: str) -> Iterator[str]:
    """Yield a fault if the score lies outside its band."""
    if not band_contains(band, score):
        lowest, highest = BANDS[band]
        yield (
            f"The score of {which} is {score}, outside its band {band} ({lowest}-{highest}); choose the band first, "
            "then a number inside it."
        )


def faults_of_evidence(evidence: str, texts: Sequence[str], *, which: str) -> Iterator[str]:
    """Yield the faults of evidence: it is missing from one of the texts, or it is too long to show anything."""
    if len(evidence) > MAX_EVIDENCE_CHARS:
        yield f"The evidence of {which} has {len(evidence)} characters; at most {MAX_EVIDENCE_CHARS}."
    if not all(_quotes(evidence, text) for text in dict.fromkeys(texts)):  # mostly both texts are the same
        yield (
            f"The evidence of {which} does not occur in the submission; copy one continuous passage of it exactly, "
            "without ellipses."
        )


def _quotes(evidence: str, text: str) -> bool:
    """Whether the evidence is a quote of the text.

    Most evidence is copied exactly and found at once, without normalising the whole text.
    """
    return (bool(visible(evidence).strip()) and evidence in text) or contains_verbatim(evidence, text)


def score_of(reply: DimensionReply) -> DimensionScore:
    """The record of a reply that was checked."""
    return DimensionScore(
        dimension=reply.dimension,
        band=reply.band,
        score=reply.score,
        evidence=reply.evidence.strip(),
        feedback=reply.feedback.strip(),
        flag="below_expected" if reply.score < PENALTY_BELOW else None,
    )


def suggestions_of(replies: Sequence[SuggestionReply]) -> tuple[Suggestion, ...]:
    """The suggestions, the more severe first. Of equal severity, they keep the judge's order."""
    ordered = sorted(replies, key=lambda one: _SEVERITIES.index(one.severity))
    return tuple(Suggestion(problem=one.problem, suggestion=one.suggestion, severity=one.severity) for one in ordered)
