"""Models of the replies whose own models need more packages than the command has, with the fields it relies on.

A field that the command only prints is looser here than in the API's models. A test compares these models with the
API's description. Times are UTC.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel


class ApiResponse(BaseModel):
    """A reply, or a part of one; a field that is not known is left to newer commands."""

    model_config = ConfigDict(frozen=True)


class PageResponse[T](ApiResponse):
    """Some of a list; `cursor` leads to the next ones, None at the end."""

    items: tuple[T, ...]
    cursor: str | None


class ItemsResponse[T](ApiResponse):
    """A list whole."""

    items: tuple[T, ...]


class WorkResponse(ApiResponse):
    """A piece of work that was asked for, and how it stands."""

    id: str
    state: str
    created_at: datetime


class DocumentResponse(ApiResponse):
    """A document that is kept, and when it was put."""

    id: str
    updated_at: datetime


class UploadResponse(ApiResponse):
    """Where to PUT a picture of a problem, and the key that names it afterwards."""

    s3_key: str
    upload_url: str


class TextUploadResponse(ApiResponse):
    """Where to PUT a text that is handed in, and the key that names it afterwards."""

    text_key: str
    upload_url: str


class ExperimentUploadResponse(ApiResponse):
    """Where to PUT an experiment, and the key that names it afterwards."""

    experiment_key: str
    upload_url: str


class BatchResponse(ApiResponse):
    """A batch and its progress."""

    id: str
    state: Literal["running", "finished", "failed"]
    total: int | None
    done: int
    failed: int
    failure: str | None
    created_at: datetime
    updated_at: datetime
    upload_url: str | None
    results_url: str | None


class AnswerResponse(ApiResponse):
    """An answer in a list."""

    id: str
    stage: str
    created_at: datetime
    problem: str | None
    answer: str | None
    verification_status: Literal["verified", "caution", "unverified"] | None
    verification_confidence: float | None
    cost_usd: float | None
    unpriced_calls: int = 0
    language: str | None = None


class ShareResponse(ApiResponse):
    """What a tenant used of its own share of a quota, in requests; `limit` None: the share has no limit now."""

    used: int
    limit: int | None


class QuotaResponse(ApiResponse):
    """A judge's quota of today, in requests; None where no limit is known. `share` None: there are no shares."""

    tier: str
    provider: str
    model: str
    limit: int | None
    used: int
    left: int | None
    left_this_minute: int | None
    resets_at: datetime
    blocked_until: datetime | None
    blocked_why: str | None
    share: ShareResponse | None


class BudgetResponse(ApiResponse):
    """The judges' quotas of today, and the money (US dollars)."""

    quotas: tuple[QuotaResponse, ...]
    spent_usd: float
    reserved_usd: float
    unpriced_calls: int
    ceiling_usd: float | None


class ProviderBatchResponse(ApiResponse):
    """A batch at a provider."""

    provider: str
    model: str
    state: str
    ended: str | None
    questions: int
    answered: int
    submitted_at: datetime | None
    ends_by: datetime | None
    because: str | None
    saved_usd: float
    of: str = "evaluation"


class BacklogResponse(ApiResponse):
    """Deep evaluations by state, and when the deferred ones will be done; None where that cannot be said."""

    waiting: int
    deferred: int
    submitted: int = 0
    running: int
    done: int
    failed: int
    deferred_before_you: int
    waiting_for_batch: int = 0
    oldest_requested_at: datetime | None
    done_by: datetime | None
    batches: tuple[ProviderBatchResponse, ...] = ()


class RateResponse(ApiResponse):
    """How often answers were right (0–1), with its interval; None where nothing was decided."""

    name: str
    of: str
    decided: int
    correct: int
    skipped: int
    rate: float | None
    lower: float | None
    upper: float | None


class RatesResponse(ApiResponse):
    """Rates by provider and subject, by model and subject, and by model and difficulty."""

    provider_subject: tuple[RateResponse, ...]
    model_subject: tuple[RateResponse, ...]
    model_difficulty: tuple[RateResponse, ...]
    cursor: str | None


class LabelTaskResponse(ApiResponse):
    """A verdict to label."""

    record_id: str
    item: str
    problem: str | None
    answer: str | None


class LabelTasksResponse(ApiResponse):
    """The verdicts to label next, and from how many they were drawn."""

    sample: str
    drawn_from: int
    not_looked_at: int = 0
    items: tuple[LabelTaskResponse, ...]


class PinnedResponse(RootModel[Annotated[dict[str, str], Field(min_length=1)]]):
    """A subject and the provider that solves it."""


class LabelResponse(ApiResponse):
    """What a person said of a thing that was judged; `verdict` None: the judge gave none."""

    kind: str
    record_id: str
    item: str
    label: str
    verdict: str | None


class TokenResponse(ApiResponse):
    """A token without its secret."""

    id: str
    role: str
    name: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class NewTokenResponse(TokenResponse):
    """A token that was just made; `token` is None where its request was repeated."""

    token: str | None


class DayResponse(ApiResponse):
    """Answers, skips and cost (US dollars) of a day."""

    day: date
    statuses: dict[str, int]
    skips: dict[str, int]
    cost_usd: float | None
    unpriced_calls: int = 0


class TrendDayResponse(ApiResponse):
    """Deep evaluations of a day, and the mean of each dimension (0–1)."""

    day: date
    evaluations: int
    means: dict[str, float]


class SuggestionResponse(ApiResponse):
    """An improvement suggestion and how often it was made."""

    text: str
    count: int


class ApproachResponse(ApiResponse):
    """A better approach and the answer it was found for."""

    answer_id: str
    text: str


class EvidenceResponse(ApiResponse):
    """How often a provider was right in a subject."""

    provider: str
    decided: int
    rate: float | None
    lower: float
    upper: float


class CandidateResponse(ApiResponse):
    """Who would take a subject over, after `lacks` more verdicts."""

    provider: str
    decided: int
    rate: float
    lacks: int


class SubjectResponse(ApiResponse):
    """A subject and who solves it, by what."""

    subject: str
    provider: str | None
    why: str | None
    since: datetime | None
    pinned: str | None
    pinned_by: str | None
    without_pin: dict[str, Any] | None
    evidence: tuple[EvidenceResponse, ...]
    candidate: CandidateResponse | None


class RoutingResponse(ApiResponse):
    """Which provider solves which subject."""

    default: str | None
    min_samples: int
    subjects: tuple[SubjectResponse, ...]
    cursor: str | None


class CurriculumResponse(DocumentResponse):
    """A course in a list."""

    title: str
    chapters: int
    words: int
    patterns: int


class WholeCurriculumResponse(DocumentResponse):
    """A course; its chapters are printed as they come."""

    title: str
    chapters: tuple[dict[str, Any], ...]


class LearnerResponse(DocumentResponse):
    """A learner in a list."""

    ui_language: str
    weak_points: int


class WholeLearnerResponse(DocumentResponse):
    """A learner; the weak points are printed as they come."""

    ui_language: str
    weak_points: tuple[dict[str, Any], ...]


class QuizResponse(WorkResponse):
    """A quiz in a list."""

    kind: str
    curriculum: str | None
    chapter: str | None
    questions: int
    violations: int
    attempts: int
    finished_at: datetime | None


class MeasurementResponse(WorkResponse):
    """A measurement in a list."""

    surface: str
    finished_at: datetime | None
    scores: Mapping[str, float | None]


class ExperimentResponse(WorkResponse):
    """An experiment in a list."""

    name: str | None
    headline: str | None


class TaskResponse(WorkResponse):
    """A task in a list."""

    path: str
    owner: str
    description: str
    deadline: datetime


class AuditResponse(WorkResponse):
    """An audit in a list."""

    kind: str
    requirement: str
    version: str | None
    cases: int | None
    incorrect: int | None
    ambiguous: int | None
    drifted: int | None
    weekly: bool
    finished_at: datetime | None


class OptionDriftResponse(ApiResponse):
    """An option that stands otherwise than before."""

    label: str
    before: str
    now: str


class DriftResponse(ApiResponse):
    """A case that stands otherwise than before."""

    id: str
    rating_before: str
    rating_now: str
    options: tuple[OptionDriftResponse, ...]


class AuditEstimateResponse(ApiResponse):
    """What an audit is expected to cost, from and to (US dollars); None where no price is known."""

    cost_usd: tuple[float, float] | None


class BatchesMadeResponse(ApiResponse):
    """What of a piece of work is at providers, in batches, and what they saved so far (US dollars)."""

    under_way: int
    questions: int
    ends_by: datetime | None
    saved_usd: float


class WholeAuditResponse(ApiResponse):
    """An audit: how far it is, and what it found."""

    id: str
    kind: Literal["audit", "recheck"]
    state: Literal["waiting", "auditing", "done", "failed"]
    requirement: str
    version: str | None
    cases: int | None
    done: int
    turns: int
    cost_usd: float | None
    unpriced_calls: int = 0
    estimate: AuditEstimateResponse | None
    because: str | None
    failure: str | None
    created_at: datetime
    finished_at: datetime | None
    totals: Mapping[str, int] | None
    drifts: tuple[DriftResponse, ...]
    previous: str | None
    weekly: bool
    followed_by: str | None
    report_url: str | None
    batches: BatchesMadeResponse | None = None
