"""What a task asks for, what judges say of a submission, and what its author is told.

Scores are 0-100. A judge gives a band and a number for each dimension. Totals, penalties and ranks are computed here,
and can be computed again from the stored record. A dimension or submission that no judge could score is `unscored`: a
state of its own, never a zero.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from touchstone.errors import Unscored
from touchstone.judges.base import Tier
from touchstone.judges.calls import NotScored
from touchstone.judges.fence import visible
from touchstone.judges.spends import JudgedBy
from touchstone.judges.sureness import Confidence, SureFrom
from touchstone.oracle.bands import Band
from touchstone.strict import Strict
from touchstone.text.language import Language

TIER: Tier = "strong"
"""The tier of the model that judges submissions."""
MAX_DESCRIPTION_CHARS = 20_000
"""Longest description of a task. Together with the longest section of a submission it fits every listed model."""
MAX_CRITERIA = 20
"""Most acceptance criteria of a task. A person would not check more, and a judge would not keep more apart at once."""
MAX_CRITERION_CHARS = 1_000
MAX_SUBMISSION_CHARS = 1_000_000
"""Longest submission: about five hundred pages, which are judged in about twenty sections."""
FIXED = ("substantiveness", "credibility", "completeness")
"""The dimensions that every task has. Substantiveness: real value that answers the request. Credibility: credible data,
nothing made up. Completeness: all aspects of the task are covered. Only these dimensions can bring a penalty."""
DIMENSION_ID = r"^[a-z][a-z0-9_]{1,39}$"
LEAST_DYNAMIC, MOST_DYNAMIC = 1, 3
"""How many dimensions a task has besides the fixed ones, so that it has 4 to 6 in all."""
WEIGHTS_TOLERANCE = 1e-9
"""How far the sum of a task's weights may lie from 1, because binary fractions are rounded."""
SUGGESTIONS = 2
"""How many suggestions an author always gets."""

type TaskPath = Literal["fastest_first", "quality_first"]
"""`fastest_first`: the first submission that passes wins. `quality_first`: the best at the deadline wins."""
type Severity = Literal["high", "medium", "low"]
type RiskFlag = Literal[
    "addresses_the_judge", "imitates_prompt_markers", "hidden_text", "claims_a_verdict", "attacks_rivals",
    "orders_disagree", "judges_disagree",
]  # fmt: skip
"""What a reader of a result should know. The first five flags mark passages of the submission that speak to whoever
grades it. `orders_disagree`: asked in two orders, a judge gave an entry scores more than ten points apart, or ranked
two entries the other way round, or may have decided by their places. `judges_disagree`: on a dimension, the scores of
two judges lie more than twenty points apart."""

type Score = Annotated[int, Field(ge=0, le=100)]
type Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]

type Stage = Literal["dimensions", "reading", "gate", "scoring", "comparison"]
"""`reading`: the sections of a submission that is too long to be shown whole are read. `comparison`: the finalists of a
contest are compared side by side."""


def not_blank(text: str) -> str:
    """Return the text unchanged. As a validator, refuse a text in which a reader would see nothing."""
    if not visible(text).strip():
        raise PydanticCustomError("blank", "it says nothing that a reader would see")
    return text


type Party = Annotated[str, StringConstraints(max_length=128), AfterValidator(not_blank)]
"""A person or firm, by the name that the tenant uses for it."""


class Brief(Strict):
    """What a task asks for: its description and its acceptance criteria.

    If `language` is null, it is recognised from the description.
    """

    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_CHARS), AfterValidator(not_blank)]
    acceptance_criteria: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_CRITERION_CHARS), AfterValidator(not_blank)], ...],
        Field(min_length=1, max_length=MAX_CRITERIA),
    ]
    language: Language | None = None


class Dimension(Strict):
    """A question by which every submission of a task is judged. `weight` is above 0; the weights of a task sum to 1."""

    id: Annotated[str, StringConstraints(pattern=DIMENSION_ID)]
    name: Text
    description: Text
    weight: Annotated[float, Field(gt=0.0, le=1.0)]

    @property
    def fixed(self) -> bool:
        """Whether every task has this dimension."""
        return self.id in FIXED


def _whole(dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    ids = [dimension.id for dimension in dimensions]
    if missing := [name for name in FIXED if name not in ids]:
        raise PydanticCustomError("dimensions", "{names} must be among them", {"names": ", ".join(missing)})
    if len(set(ids)) != len(ids):
        raise PydanticCustomError("dimensions", "every dimension must be there once")
    total = math.fsum(dimension.weight for dimension in dimensions)
    if abs(total - 1.0) > WEIGHTS_TOLERANCE:
        raise PydanticCustomError("dimensions", "the weights must sum to 1, not to {total}", {"total": f"{total:.6g}"})
    return dimensions


type Dimensions = Annotated[
    tuple[Dimension, ...],
    Field(min_length=len(FIXED) + LEAST_DYNAMIC, max_length=len(FIXED) + MOST_DYNAMIC),
    AfterValidator(_whole),
]
"""All dimensions of a task: the fixed ones and one to three others. Their weights sum to 1."""


class CriterionCheck(Strict):
    """Whether a submission meets one acceptance criterion.

    `revision_hint` says how to meet the criterion; it is null if it is met. `passed` is null if several judges found no
    majority, or none was sure enough; `reason` then says what each of them said. `confidence` is how sure the judge is
    (0-1). `sure_from` is the threshold from the judge's labels that the confidence reached, null if there is no such
    threshold. Both are null in records from before judges of criteria were asked for a confidence. `evidence` is the
    passage of the submission that decides, quoted and checked to occur in it; it is null if no single passage decides.
    """

    criterion: str
    passed: bool | None
    reason: str
    revision_hint: str | None = None
    evidence: str | None = None
    confidence: Confidence | None = None
    sure_from: SureFrom | None = None


class GateVote(Strict):
    """What one of several judges said of the acceptance criteria, in the order of the criteria.

    `passed` is empty if the judge said nothing; `unscored` and `because` then say why. `provider` is null if there was
    nobody to ask. `confidences` (0-1) are how sure the judge is of each criterion. `unsure` holds the numbers of the
    criteria, counted from 1, on which the judge is not sure enough for its vote to count. `sure_from` is the threshold
    from the judge's labels, null if labels give none.
    """

    provider: str | None
    model: str | None = None
    prompt_version: str | None = None
    passed: tuple[bool, ...] = ()
    confidences: tuple[Confidence | None, ...] = ()
    unsure: tuple[int, ...] = ()
    sure_from: SureFrom | None = None
    unscored: Unscored | None = None
    because: tuple[str, ...] = ()


class GateCheck(Strict):
    """The checks of a task's criteria in order. A submission passes only if every criterion is met.

    `judge` is who checked. It is null in records from before this was kept, and if several judges checked; `votes` then
    holds what each of them said. `in_turn` means that each judge was asked only where those before it were not sure
    enough.
    """

    criteria_checks: Annotated[tuple[CriterionCheck, ...], Field(min_length=1)]
    judge: JudgedBy | None = None
    votes: tuple[GateVote, ...] = ()
    in_turn: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether all criteria are met. None if the gate is not decided; `undecided` says why."""
        results = [check.passed for check in self.criteria_checks]
        if False in results:
            return False
        return None if None in results else True

    @property
    def undecided(self) -> Literal["split", "unsure"] | None:
        """Why the gate is not decided; None if it is.

        A gate is decided if all criteria are met, or if one is known not to be met. Otherwise some criterion is open:
        either the judges do not agree on it (`split`), or none of them is sure enough (`unsure`).
        """
        if self.passed is not None:
            return None
        return "unsure" if any(vote.unsure for vote in self.votes) else "split"


class DimensionVote(Strict):
    """What one of several judges said of one dimension. In a comparison, its score is the mean of both orders.

    `score` is 0-100. `score`, `band`, `evidence` and `feedback` are null if the judge said nothing; `unscored` and
    `because` then say why. `provider` is null if there was nobody to ask.
    """

    provider: str | None
    model: str | None = None
    prompt_version: str | None = None
    score: float | None = None
    band: Band | None = None
    evidence: str | None = None
    feedback: str | None = None
    unscored: Unscored | None = None
    because: tuple[str, ...] = ()


def judges_differ(votes: Sequence[DimensionVote]) -> bool:
    """Whether two of several judges are split on a dimension: their scores lie too far apart."""
    from touchstone.statistics.votes import median  # on first use: it loads the exact arithmetic of fractions

    return median([vote.score for vote in votes]).split


class DimensionScore(Strict):
    """What a judge says of one dimension. `evidence` is a quote of the submission, checked to occur in it.

    `flag` marks a score below the threshold of penalties, on any dimension. With several judges the score is their
    median, rounded down if it ends in a half, with the band of that score. Evidence and feedback are then those of the
    judge in the middle, and `votes` holds what each judge said.
    """

    dimension: str
    band: Band
    score: Score
    evidence: str
    feedback: str
    flag: Literal["below_expected"] | None = None
    votes: tuple[DimensionVote, ...] = ()


class Suggestion(Strict):
    """A suggestion that would improve a submission."""

    problem: Text
    suggestion: Text
    severity: Severity


class IndividualScoring(Strict):
    """A submission judged by itself. `penalty` (0-1) and `penalized_total` (0-100) are computed, see `aggregation`.

    `overall_band` is the band of `penalized_total`. There are always two suggestions, the more severe first.
    """

    dimension_scores: tuple[DimensionScore, ...]
    overall_band: Band
    revision_suggestions: Annotated[tuple[Suggestion, ...], Field(min_length=SUGGESTIONS, max_length=SUGGESTIONS)]
    weighted_base: float
    penalty: float
    penalized_total: float
    risk_flags: tuple[RiskFlag, ...] = ()


type Variant = Literal["as_sent", "without_flagged"]


class JudgeOpinion(Strict):
    """What one judge said of the submission, as sent or without the flagged passages.

    If nothing was left to judge, `provider`, `model` and `prompt_version` are None and there are no suggestions.
    """

    variant: Variant
    dimension_scores: tuple[DimensionScore, ...]
    revision_suggestions: tuple[Suggestion, ...]
    provider: str | None
    model: str | None
    prompt_version: str | None


class Unjudged(Strict):
    """Why a stage brought no result.

    `reason` is a stable word; `details` are sentences on what broke the rules or failed.
    """

    stage: Stage
    reason: Unscored
    details: tuple[str, ...]

    @classmethod
    def of(cls, stage: Stage, failure: NotScored) -> "Unjudged":
        """The record of a stage's failure."""
        return cls(stage=stage, reason=failure.reason, details=failure.details)

    @classmethod
    def of_undecided(cls, check: GateCheck) -> "Unjudged | None":
        """The record of a gate on which the judges do not agree or are not sure enough; None if the gate is decided."""
        if check.undecided is None:
            return None
        details = tuple(
            f"{number}: {one.reason}" for number, one in enumerate(check.criteria_checks, start=1) if one.passed is None
        )
        return cls(stage="gate", reason=check.undecided, details=details)
