"""What is asked about an answer, what is decided, and the record that keeps both.

Scores and confidences are 0–1. A `None` verdict is a state of its own: nobody decided.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from touchstone.answers.answer_key import AnswerKey, Keyed
from touchstone.answers.judge_time import VerifySeconds
from touchstone.attempts import Attempts, Waiting, When
from touchstone.errors import SkipReason, Unanswered
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
"""The stages in which nothing more happens to an answer. From then on the answer counts, and is looked after no longer.
"""
type Method = Literal["expected", "proof", "judge", "retrieved", "none"]
"""How an attempt was decided. `expected`: by the answer key that came with it. `none`: it was not decided."""
type Difficulty = Literal["easy", "medium", "hard"]
type Route = Literal["enrich", "retry"]
type EvaluationState = Literal["none", "waiting", "deferred", "submitted", "running", "done", "failed"]
"""`deferred`: it waits in the line. `submitted`: it is a question in a provider's batch."""

type Text = Annotated[str, StringConstraints(min_length=1)]


class VerifyRequest(Keyed):
    """An answer that somebody already has, to be verified.

    `expected` is the answer key: one text, or several of which each is right. `tolerance` is how far a number may
    differ from the key; by default not at all. The key decides first, without a call of a judge. If it cannot decide,
    the judge gets the key too. `steps` is the solution or a summary of it. `subject`, `difficulty` and `model` (the
    model that answered) make the verdict count in the statistics; none of them changes it. If `language` is null, it is
    recognised from the problem.

    `verify_seconds` is how many seconds a judge has if nobody waits; null means the value of the setting (60). A caller
    who waits, at the API, may ask for 5 at most. `judges` is how many judges are asked if no check decides: 1, 2 or 3,
    or `until_sure`, which asks one after the other until one is sure enough. `when` is how the deep evaluation is asked
    for: `now`, or `cheap`, through a provider's batch at half the price and within a day. Null means `now` at the API,
    and `cheap` for a file or a message. For a line of a file, `when` also says how the verification is asked for.
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
    """An image of a problem. Exactly one field is set.

    `data_base64` holds the bytes in base64. `s3_key` is the key of an object that the tenant uploaded.
    """

    data_base64: str | None = None
    s3_key: str | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "ImageSource":
        if (self.data_base64 is None) == (self.s3_key is None):
            raise ValueError("give exactly one of data_base64 and s3_key")
        return self


class SolveRequest(Keyed):
    """A problem to be solved and verified. It is given as text or as an image: exactly one of the two.

    `expected` and `tolerance` are the answer key. The solved answer is verified by this key; the model that solves the
    problem does not see it. `verify_seconds` is how many seconds a judge has to verify an attempt; null means the value
    of the setting (60). `judges` is how many judges verify each attempt, and `when` is how the deep evaluation is asked
    for; both work as in a request to verify.
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
    """One answer to a problem. It comes from a model or from the caller (`provider` is then "caller")."""

    answer: str
    steps: str = ""
    provider: str
    model: str


class UnsureOpinion(Strict):
    """The verdict of a judge that was not sure enough of it to decide."""

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

    `passed` is null if the judge gave no verdict. `skip_reason` is why the vote does not count; null if it counts. If
    there is a verdict and a `skip_reason`, the judge was not sure enough of its verdict (`unsure`). `error` is the
    judge's objection to the answer, or the reason why it gave no verdict. `provider` is null if there was nobody to
    ask.
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
    def contradicts_itself(self) -> bool:
        """Whether the judge's own words speak against its verdict, so that its confidence may be capped."""
        return self.contradicted or (self.passed is True and self.error is not None)


class Verification(Strict):
    """The result of a quick verification.

    `passed` is null if the verification was skipped. `skip_reason` then gives the reason as a word and `error` in
    words. `confidence` is 0–1, and `uncertain` means that it is below 0.6. `derivation` holds the lines of the proof
    that the verdict rests on; it is empty if there is no proof. An answer without content fails instead of being
    skipped, since nothing in it can be right; its `skip_reason` says that no judge was asked. `arithmetic_error` is the
    objection of a recalculation of the steps, null if it has none. It is a hint for people and for the judge, and not a
    verdict.

    `provider`, `model` and `prompt_version` name the judge that was asked and its prompt, even if the paid call brought
    no verdict. They are null if no judge was asked. Older records have no prompt version. `sure_from` is the threshold
    that the judge's verdict reached, null if there is none. `opinions` holds the verdicts of judges, this one or
    earlier ones, that were not sure enough.

    If more than one judge was wanted, `votes` holds what each judge said, and `opinions` is empty. `split` means that
    the votes that count differ. `provider`, `model` and `prompt_version` are then those of the one judge that was sure
    enough; they are null if several judges decided together.
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
    def contradicts_itself(self) -> bool:
        """Whether a judge's own words speak against its verdict, so that its confidence may be capped."""
        return self.contradicted or (self.method == "judge" and self.passed is True and self.error is not None)


class Attempt(Strict):
    """One attempt to answer: the solution and its quick verification. `number` counts from 1."""

    number: int = Field(ge=1)
    solution: Solution
    verification: Verification | None = None


class Enrichment(Strict):
    """Additions for the learner: knowledge points, hints and a related exercise."""

    knowledge_points: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    related_exercise: str | None = None


class DeepEvaluation(Strict):
    """A judge's evaluation of a whole solution.

    All scores are 0–1. `overall` is their weighted mean; it is computed, not asked of the judge.
    """

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
    """The place of a question in a provider's batch: the id of our record of the batch, and the number in the batch.

    `at` is when the question was put there (UTC). `ends_by` is when the batch has ended at the latest (UTC), null if
    that is not known.
    """

    provider_batch_id: str
    number: int = Field(ge=0)
    at: datetime
    ends_by: datetime | None = None


class EvaluationProgress(Strict):
    """The state of a record's deep evaluation.

    `tries` and `since` are those of its `Attempts`. `not_before` is when a waiting evaluation may be tried (UTC); for a
    running one, it is until when its worker holds it. `failure` says why it waits or failed, and `failure_reason` is
    the word for that. `when` is None if nobody said how: the evaluation is then asked at once, and if it is deferred
    for want of quota, it goes by a batch if there are batches. `submitted` is the place of a submitted evaluation.
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
    """The reply of a provider's batch to one of the questions that verify an answer, by the question's address."""

    address: str
    reply: BatchReply


class AnswerRecord(Strict):
    """Everything kept about one answer. All times are UTC.

    `attempt_count` is the number of attempts made. `answer_key` is None if the request had none, and in older records.
    `verify_seconds` is what the request said, and `judges` how many it wanted (1 in older records). `failure_reason` is
    why nobody answered; None if somebody did, or the reason is not known. `trying` are the tries in which nobody
    decided, if a worker carries the answer to another try; `waiting` then says why, and is None once the answer has
    come to its end. `left_until` is until when that worker may take the answer up again after a death (UTC), None if
    there is no such worker; before that, the sweep does not take the answer for abandoned. `brought` are replies of
    batches, kept if the verdict needs others beside them.
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
        """The reference to this record."""
        return Reference(self.tenant, "answer", self.id)

    @property
    def attempt_count(self) -> int:
        """How many attempts were made."""
        return len(self.attempts)

    @property
    def best(self) -> Attempt | None:
        """The attempt that is returned. None before one is chosen."""
        return None if self.best_attempt is None else self.attempts[self.best_attempt - 1]

    @property
    def cost_usd(self) -> float | None:
        """The cost of the answer's judge calls in US dollars, as far as it is known; see `known_cost`."""
        return known_cost(self.spends)
