"""What is asked about an answer, what is decided, and the record that keeps both.

Scores and confidences are 0–1. A `None` verdict is a state of its own: nobody decided.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from touchstone.answers.answer_key import AnswerKey, Keyed
from touchstone.answers.judge_time import VerifySeconds
from touchstone.attempts import Attempts, Waiting, When
from touchstone.errors import Unanswered
from touchstone.judges.base import JudgeCount
from touchstone.judges.batches.base import BatchReply
from touchstone.judges.spends import Spend, known_cost
from touchstone.judges.sureness import SureFrom
from touchstone.references import Reference
from touchstone.strict import Strict

MAX_PROBLEM_CHARS = 20_000
"""Longest problem text: with its answer and prompt it fits every listed model and one DynamoDB item."""
MAX_ANSWER_CHARS = 20_000
UNCERTAIN_BELOW = 0.6
MAX_IMAGE_BYTES = 4 * 1024 * 1024
"""Largest image: as base64 inside JSON it stays under the 6 MB of a Lambda payload."""

type Status = Literal["verified", "unverified", "caution"]
"""The badge. `unverified` says that nobody decided; `caution` that verification failed."""
type Stage = Literal["received", "solving", "finished", "failed"]
"""`failed`: no answer could be produced at all (see `failure`); it carries no status."""
ENDED: frozenset[Stage] = frozenset({"finished", "failed"})
"""Stages in which nothing more happens to an answer: from then on it counts, and is looked after no longer."""
type Method = Literal["expected", "proof", "judge", "retrieved", "none"]
"""How an attempt was decided; `expected`: by the answer key that came with it; `none` when it was not."""
type Difficulty = Literal["easy", "medium", "hard"]
type Route = Literal["enrich", "retry"]
type EvaluationState = Literal["none", "waiting", "deferred", "submitted", "running", "done", "failed"]
"""`deferred` waits in the line, `submitted` is a question of a provider's batch."""
type SkipReason = Unanswered | Literal["contentless", "other_answer", "unsure", "split"]
"""Why nobody decided: a judge's failure, our own limits, an answer without content (rejected before any call), a judge
that passed the answer while its own is another one, in words that nothing shows to mean the same, judges none of
which was as sure as people's labels ask of it, or several of which neither side has a majority."""

type Text = Annotated[str, StringConstraints(min_length=1)]


class VerifyRequest(Keyed):
    """An answer that somebody already has, to be verified.

    `expected` is the answer key, one text or several of which any is right, and `tolerance` how far a number may lie
    from it (never by default). A key decides first, without a call; what it cannot decide goes to the judge with it.
    `steps` is a summary of the solution, or the whole of it. `subject`, `difficulty` and `model` (who answered) let
    the verdict count in the statistics; none of them changes it. `language` None: recognised from the problem.
    `verify_seconds` is how long a judge has where nobody waits; null: what the setting says (60). Who waits, at the
    API, may ask for 5 at most. `judges` is how many are asked where no check decides: 1, 2 or 3, or `until_sure`, one
    after the other until one is sure enough. `when` is how the deep evaluation is asked for: `now`, or `cheap`, through
    a provider's batch at half the price and within a day; null: now at the API, cheap by a file or a message. Of a line
    of a file it says so of the verification too.
    """

    problem: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROBLEM_CHARS)]
    answer: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ANSWER_CHARS)]
    steps: Annotated[str, StringConstraints(max_length=MAX_ANSWER_CHARS)] = ""
    subject: Annotated[str, StringConstraints(max_length=64)] | None = None
    difficulty: Difficulty | None = None
    model: Annotated[str, StringConstraints(max_length=128)] | None = None
    language: Literal["zh", "en"] | None = None
    use_cache: bool = True
    deep_evaluation: bool = False
    when: When | None = None
    verify_seconds: VerifySeconds | None = None
    judges: JudgeCount = 1


class ImageSource(Strict):
    """An image of a problem: inline bytes (base64), or the key of an object that the tenant uploaded. Exactly one."""

    data_base64: str | None = None
    s3_key: str | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "ImageSource":
        if (self.data_base64 is None) == (self.s3_key is None):
            raise ValueError("give exactly one of data_base64 and s3_key")
        return self


class SolveRequest(Keyed):
    """A problem to be solved and verified: as text or as an image. Exactly one of the two.

    `expected` and `tolerance` are the answer key by which what was solved is verified; whoever solves it does not see
    the key. `verify_seconds` is how long a judge has to verify an attempt; null: what the setting says (60). `judges`
    is how many verify each attempt, as in a request to verify.
    `when` is how the deep evaluation is asked for, as in a request to verify.
    """

    problem: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PROBLEM_CHARS)] | None = None
    image: ImageSource | None = None
    subject: Annotated[str, StringConstraints(max_length=64)] | None = None
    language: Literal["zh", "en"] | None = None
    use_cache: bool = True
    use_retrieved: bool = True
    deep_evaluation: bool = True
    when: When | None = None
    verify_seconds: VerifySeconds | None = None
    judges: JudgeCount = 1

    @model_validator(mode="after")
    def _exactly_one(self) -> "SolveRequest":
        if (self.problem is None) == (self.image is None):
            raise ValueError("give exactly one of problem and image")
        return self


class Analysis(Strict):
    """What ANALYZE found in a problem."""

    subject: str
    difficulty: Difficulty
    knowledge_points: tuple[str, ...] = ()
    language: Literal["zh", "en"]


class Solution(Strict):
    """One answer to a problem: by a model, or the caller's own (`provider` "caller")."""

    answer: str
    steps: str = ""
    provider: str
    model: str


class UnsureOpinion(Strict):
    """What a judge said of an answer that was not sure enough to decide."""

    passed: bool
    confidence: float = Field(ge=0.0, le=1.0)
    independent_answer: str | None = None
    error: str | None = None
    provider: str
    model: str
    prompt_version: str | None = None
    sure_from: SureFrom


class JudgeVote(Strict):
    """What one of several judges said of an answer.

    `passed` None: it gave no verdict. `skip_reason` is why it counts for nothing, None: it counts; where there is a
    verdict all the same, the judge was not sure enough of it (`unsure`). `error` is what it objects to, or why it gave
    none. `provider` None: there was nobody to be asked in its place.
    """

    passed: bool | None
    confidence: float = Field(ge=0.0, le=1.0)
    independent_answer: str | None = None
    error: str | None = None
    skip_reason: SkipReason | None = None
    contradicted: bool = False
    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    sure_from: SureFrom | None = None

    @property
    def doubted(self) -> bool:
        """Whether the judge's own words speak against its verdict, so that its confidence may be capped."""
        return self.contradicted or (self.passed is True and self.error is not None)


class Verification(Strict):
    """What quick verify found.

    `passed` None: skipped, with the reason in `skip_reason` and in words in `error`. `confidence` 0–1. `derivation`
    is what a proof rests on, line by line; empty without one. `uncertain`: confidence below 0.6. An answer without
    content is failed rather than skipped, since nothing in it can be right; its `skip_reason` says that no judge was
    asked. `arithmetic_error` is what a recalculation of the steps objects to, None where it objects to nothing: a hint
    for people and for the judge, no verdict of its own. `provider`, `model` and `prompt_version` say which judge was
    asked, and by which prompt, also where what it was paid for brought no verdict; None where nobody was. Older
    records lack the prompt's version. `sure_from` is the threshold that the judge's verdict reached, None where there
    is none, and `opinions` what judges said, this one or earlier ones, who were not sure enough.

    Where more than one judge was wanted, `votes` is what each of them said, and `opinions` is empty. `split`: the votes
    that count differ. `provider`, `model` and `prompt_version` are then those of the one judge that was sure enough,
    None where several decided together.
    """

    passed: bool | None
    confidence: float = Field(ge=0.0, le=1.0)
    method: Method
    independent_answer: str | None = None
    error: str | None = None
    skip_reason: SkipReason | None = None
    derivation: tuple[str, ...] = ()
    contradicted: bool = False
    arithmetic_error: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    sure_from: SureFrom | None = None
    opinions: tuple[UnsureOpinion, ...] = ()
    votes: tuple[JudgeVote, ...] = ()
    split: bool = False

    @property
    def counted(self) -> tuple[JudgeVote, ...]:
        """The votes that count."""
        return tuple(vote for vote in self.votes if vote.skip_reason is None)

    @property
    def uncertain(self) -> bool:
        """Whether the confidence is below `UNCERTAIN_BELOW`."""
        return self.confidence < UNCERTAIN_BELOW

    @property
    def doubted(self) -> bool:
        """Whether a judge's own words speak against its verdict, so that its confidence may be capped."""
        return self.contradicted or (self.method == "judge" and self.passed is True and self.error is not None)


class Attempt(Strict):
    """One SOLVE and its QUICK_VERIFY. `number` counts from 1."""

    number: int = Field(ge=1)
    solution: Solution
    verification: Verification | None = None


class Enrichment(Strict):
    """What ENRICH adds for the learner."""

    knowledge_points: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    related_exercise: str | None = None


class DeepEvaluation(Strict):
    """A judge's view of a whole solution. All scores 0–1; `overall` is their weighted mean, computed in code."""

    correctness: float = Field(ge=0.0, le=1.0)
    completeness: float = Field(ge=0.0, le=1.0)
    clarity: float = Field(ge=0.0, le=1.0)
    pedagogy: float = Field(ge=0.0, le=1.0)
    format: float = Field(ge=0.0, le=1.0)
    overall: float = Field(ge=0.0, le=1.0)
    improvement_suggestions: tuple[str, ...] = ()
    better_approach: str | None = None
    provider: str
    model: str
    prompt_version: str
    evaluated_at: datetime


class SubmittedPlace(Strict):
    """Which question of a provider's batch something is: the id of our record of the batch, and the number in it.

    `at` is when it was put there, `ends_by` when the batch has ended at the latest as far as that is known (UTC).
    """

    provider_batch_id: str
    number: int = Field(ge=0)
    at: datetime
    ends_by: datetime | None = None


class EvaluationProgress(Strict):
    """Where the deep evaluation of a record stands.

    `tries` and `since` are those of its `Attempts`. `not_before` is when a waiting one may be tried (UTC), and until
    when one that runs is somebody's. `failure` says why it waits or failed, and `failure_reason` is the word for it.
    `when` None: nobody said; it is asked at once, and once it is deferred for want of quota it goes by a batch where
    there are batches. `submitted` is where a submitted one is.
    """

    state: EvaluationState = "none"
    requested_at: datetime | None = None
    not_before: datetime | None = None
    tries: int = 0
    since: datetime | None = None
    failure: str | None = None
    failure_reason: Unanswered | None = None
    when: When | None = None
    submitted: SubmittedPlace | None = None


class BroughtReply(Strict):
    """What a provider's batch brought for one of the questions that verify an answer, by the question's address."""

    address: str
    reply: BatchReply


class AnswerRecord(Strict):
    """Everything kept about one answer. All times UTC. `attempt_count` = attempts made.

    `answer_key` None: none came with the request; older records have none. `verify_seconds` is what the request said,
    and `judges` how many it wanted (1 in older records).
    `failure_reason` is why nobody answered, None where somebody did, or it is not known. `trying` are the tries that
    nobody decided in, where somebody carries the answer to another one; `waiting` then says why, and is None once it
    has its end. `left_until` is until when whoever carries it may take it up again after a death (UTC), None where
    nobody does: before that the sweep does not take it for abandoned. `brought` are replies of batches, where the
    verdict needs others beside them.
    """

    tenant: str
    id: str
    kind: Literal["verify", "solve"]
    stage: Stage
    created_at: datetime
    updated_at: datetime
    problem: str | None = None
    image_key: str | None = None
    answer_key: AnswerKey | None = None
    subject: str | None = None
    difficulty: Difficulty | None = None
    language: Literal["zh", "en"] | None = None
    knowledge_points: tuple[str, ...] = ()
    use_cache: bool = True
    use_retrieved: bool = True
    deep_evaluation_wanted: bool = False
    verify_seconds: VerifySeconds | None = None
    judges: JudgeCount = 1
    attempts: tuple[Attempt, ...] = ()
    best_attempt: int | None = None
    retrieved_from: str | None = None
    verification_status: Status | None = None
    verification_confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    enrichment: Enrichment | None = None
    evaluation: EvaluationProgress = EvaluationProgress()
    deep_evaluation: DeepEvaluation | None = None
    failure: str | None = None
    failure_reason: Unanswered | None = None
    spends: tuple[Spend, ...] = ()
    batch_id: str | None = None
    trying: Attempts = Attempts()
    waiting: Waiting | None = None
    left_until: datetime | None = None
    brought: tuple[BroughtReply, ...] = ()

    @property
    def ref(self) -> Reference:
        """The reference to it."""
        return Reference(self.tenant, "answer", self.id)

    @property
    def attempt_count(self) -> int:
        """How many attempts were made."""
        return len(self.attempts)

    @property
    def best(self) -> Attempt | None:
        """The attempt that is returned; None before one is chosen."""
        return None if self.best_attempt is None else self.attempts[self.best_attempt - 1]

    @property
    def cost_usd(self) -> float | None:
        """What its judge calls cost in US dollars, as far as that is known; see `known_cost`."""
        return known_cost(self.spends)
