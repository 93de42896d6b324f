"""What a task asks for, what judges say of a submission, and what its author is told.

Scores are 0-100. A judge supplies bands and a number for each dimension; totals, penalties and ranks are computed here
and can be computed again from what is stored. A dimension or submission that no judge could score is `unscored`: a
state of its own, never a zero.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from touchstone.errors import Unscored
from touchstone.judges.base import Tier
from touchstone.judges.fence import visible
from touchstone.judges.spends import JudgedBy
from touchstone.judges.sureness import SureFrom
from touchstone.oracle.bands import Band
from touchstone.strict import Strict
from touchstone.text.language import Language

TIER: Tier = "strong"
"""As what the judge of submissions is asked."""
MAX_DESCRIPTION_CHARS = 20_000
"""Longest description of a task: with the longest section of a submission it fits every listed model."""
MAX_CRITERIA = 20
"""More acceptance criteria than a person would check, or a judge keep apart, at once."""
MAX_CRITERION_CHARS = 1_000
MAX_SUBMISSION_CHARS = 1_000_000
"""Longest submission: some five hundred pages, judged in about twenty sections."""
FIXED = ("substantiveness", "credibility", "completeness")
"""The dimensions that every task has: real value that answers the request; credible data, nothing made up; all aspects
of the task covered. A penalty falls on these alone."""
DIMENSION_ID = r"^[a-z][a-z0-9_]{1,39}$"
LEAST_DYNAMIC, MOST_DYNAMIC = 1, 3
"""How many dimensions a task has beside the fixed ones, so that it has 4 to 6 in all."""
WEIGHTS_TOLERANCE = 1e-9
"""How far from 1 the weights of a task may sum, for the rounding of binary fractions."""
SUGGESTIONS = 2
"""How many suggestions an author gets, always."""

type TaskPath = Literal["fastest_first", "quality_first"]
"""`fastest_first`: the first submission that passes wins. `quality_first`: the best at the deadline wins."""
type Severity = Literal["high", "medium", "low"]
type RiskFlag = Literal[
    "addresses_the_judge", "imitates_prompt_markers", "hidden_text", "claims_a_verdict", "attacks_rivals",
    "orders_disagree", "judges_disagree",
]  # fmt: skip
"""What a reader of a result should know. The first five: passages of the submission that speak to whoever grades it;
`orders_disagree`: asked in two orders, a judge differed by more than ten points or put entries the other way round.
`judges_disagree`: of several judges two lie more than twenty points apart on a dimension."""

type Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
type Score = Annotated[int, Field(ge=0, le=100)]
type Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


def not_blank(text: str) -> str:
    """The text unchanged; a validator refuses one that shows nothing."""
    if not visible(text).strip():
        raise PydanticCustomError("blank", "it says nothing that a reader would see")
    return text


type Party = Annotated[str, StringConstraints(max_length=128), AfterValidator(not_blank)]
"""A person or firm by the tenant's own name for it."""


class Brief(Strict):
    """What a task asks for. `language` None: recognised from the description."""

    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_CHARS), AfterValidator(not_blank)]
    acceptance_criteria: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_CRITERION_CHARS), AfterValidator(not_blank)], ...],
        Field(min_length=1, max_length=MAX_CRITERIA),
    ]
    language: Language | None = None


class Dimension(Strict):
    """One question that every submission of a task is judged by. `weight`: above 0; those of a task sum to 1."""

    id: Annotated[str, StringConstraints(pattern=DIMENSION_ID)]
    name: Text
    description: Text
    weight: Annotated[float, Field(gt=0.0, le=1.0)]

    @property
    def fixed(self) -> bool:
        """Whether every task has it."""
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
"""All dimensions of a task: the fixed ones and one to three others, with weights that sum to 1."""


class CriterionCheck(Strict):
    """Whether a submission meets one acceptance criterion. `revision_hint`: how to meet it; None where it is met.

    `passed` None: of several judges no majority decided, or none was sure enough, and `reason` says what each of them
    said. `confidence` is how sure the judge is of it (0-1), and `sure_from` the threshold of its labels that this
    reached; None where there is none, and in records from before judges of criteria were asked for it.
    `evidence` is the passage that decides it, a quote of the submission, checked to occur in it; None where no single
    passage does.
    """

    criterion: str
    passed: bool | None
    reason: str
    revision_hint: str | None = None
    evidence: str | None = None
    confidence: Confidence | None = None
    sure_from: SureFrom | None = None


class GateVote(Strict):
    """What one of several judges said of the acceptance criteria, in their order.

    `passed` is empty where it said nothing, and `unscored` and `because` say why. `provider` is None where there was
    nobody to ask. `confidences` (0-1) are how sure it is of each, and `unsure` the numbers of those, counted from 1, on
    which it is not sure enough for its vote to count: by `sure_from`, the threshold of its labels, or without one.
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
    """The criteria of a task, in their order; one that is not met fails the whole.

    `judge` is who checked them; None in records from before this was kept, and where several judges did: `votes` has
    what each of them said then. `in_turn`: each of them was asked where those before it were not sure enough.
    """

    criteria_checks: Annotated[tuple[CriterionCheck, ...], Field(min_length=1)]
    judge: JudgedBy | None = None
    votes: tuple[GateVote, ...] = ()
    in_turn: bool = False

    @property
    def passed(self) -> bool:
        """Whether all are met."""
        return all(check.passed for check in self.criteria_checks)

    @property
    def undecided(self) -> Literal["split", "unsure"] | None:
        """Why nothing is decided, where no criterion is known not to be met; None: it is decided.

        On some criterion several judges do not agree, or none of them is sure enough.
        """
        said = [check.passed for check in self.criteria_checks]
        if None not in said or False in said:
            return None
        return "unsure" if any(vote.unsure for vote in self.votes) else "split"


class DimensionVote(Strict):
    """What one of several judges said of one dimension: its score (0-100, beside others the mean of both orders).

    `score`, `band`, `evidence` and `feedback` are None where it said nothing, and `unscored` and `because` say why.
    `provider` is None where there was nobody to ask.
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
    """Whether two of several judges lie so far apart on a dimension that they are split."""
    from touchstone.statistics.votes import median  # on first use: it loads the exact arithmetic of fractions

    return median([vote.score for vote in votes]).split


class DimensionScore(Strict):
    """What a judge says of one dimension. `evidence` is a quote of the submission, checked to occur in it.

    `flag` marks a score below the threshold of penalties, on whatever dimension. Of several judges the score is the
    median, without the half that it may end in, with its band; evidence and feedback are those of the judge in the
    middle, and `votes` has what each of them said.
    """

    dimension: str
    band: Band
    score: Score
    evidence: str
    feedback: str
    flag: Literal["below_expected"] | None = None
    votes: tuple[DimensionVote, ...] = ()


class Suggestion(Strict):
    """What would improve a submission."""

    problem: Text
    suggestion: Text
    severity: Severity


class IndividualScoring(Strict):
    """A submission judged by itself. `penalty` (0-1) and `penalized_total` (0-100) are computed, see `aggregation`.

    `overall_band` is the band of `penalized_total`. Suggestions are always two, the more severe first.
    """

    dimension_scores: tuple[DimensionScore, ...]
    overall_band: Band
    revision_suggestions: Annotated[tuple[Suggestion, ...], Field(min_length=SUGGESTIONS, max_length=SUGGESTIONS)]
    weighted_base: float
    penalty: float
    penalized_total: float
    risk_flags: tuple[RiskFlag, ...] = ()
