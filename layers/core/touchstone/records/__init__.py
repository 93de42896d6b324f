"""What is stored, behind classes that say what they do; with budgets, the only room that knows DynamoDB, S3 and SQS.

Names are imported on first use: the authorizer of every request needs `Tokens`, and none of the models of the rest.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.records.answer_items import evaluation_request_id
    from touchstone.records.answers import Answers, UnfinishedAnswer
    from touchstone.records.artifacts import Artifacts
    from touchstone.records.audits import Audits, AuditSummary, OwnedAudit
    from touchstone.records.batches import Batch, Batches, BatchState
    from touchstone.records.challenges import Challenges, UndecidedChallenge
    from touchstone.records.comparisons import Comparisons
    from touchstone.records.curricula import Curricula, CurriculumSummary
    from touchstone.records.cursors import Page
    from touchstone.records.deferred_queue import DeferredEvaluation, DeferredMessage, DeferredQueue
    from touchstone.records.evaluations import Backlog, Claim, Evaluations, PendingEvaluation
    from touchstone.records.event_bus import EventBus
    from touchstone.records.experiments import Experiments, ExperimentSummary, UnfinishedExperiment
    from touchstone.records.judgements import Judgements
    from touchstone.records.labels import Label, Labels
    from touchstone.records.learners import Learners, LearnerSummary
    from touchstone.records.leases import Lease, Leases
    from touchstone.records.measurements import Measurements, MeasurementSummary, UnfinishedMeasurement
    from touchstone.records.outbox import Outbox, OutboxEvent
    from touchstone.records.quizzes import QuizSummary, Quizzes, UnfinishedQuiz
    from touchstone.records.replies import Replies
    from touchstone.records.request_keys import RequestKeys
    from touchstone.records.routing_pins import RoutingPins
    from touchstone.records.sessions import Session, Sessions
    from touchstone.records.solutions import Solutions
    from touchstone.records.statistics import Approach, Rates, Statistics, Suggestion, Tally, Trend, Volume
    from touchstone.records.submissions import Submissions
    from touchstone.records.summaries import AnswerSummary
    from touchstone.records.tasks import Tasks, TaskSummary, UnfinishedTask
    from touchstone.records.tenants import Tenant, Tenants
    from touchstone.records.tokens import Identity, Role, TokenInfo, Tokens
    from touchstone.records.ulids import derived_ulid, is_ulid, new_ulid

__getattr__ = Face(
    __name__,
    {
        "answer_items": ("evaluation_request_id",),
        "answers": ("Answers", "UnfinishedAnswer"),
        "artifacts": ("Artifacts",),
        "audits": ("AuditSummary", "Audits", "OwnedAudit"),
        "batches": ("Batch", "BatchState", "Batches"),
        "challenges": ("Challenges", "UndecidedChallenge"),
        "comparisons": ("Comparisons",),
        "curricula": ("Curricula", "CurriculumSummary"),
        "cursors": ("Page",),
        "deferred_queue": ("DeferredEvaluation", "DeferredMessage", "DeferredQueue"),
        "evaluations": ("Backlog", "Claim", "Evaluations", "PendingEvaluation"),
        "experiments": ("ExperimentSummary", "Experiments", "UnfinishedExperiment"),
        "event_bus": ("EventBus",),
        "judgements": ("Judgements",),
        "labels": ("Label", "Labels"),
        "learners": ("LearnerSummary", "Learners"),
        "leases": ("Lease", "Leases"),
        "measurements": ("MeasurementSummary", "Measurements", "UnfinishedMeasurement"),
        "outbox": ("Outbox", "OutboxEvent"),
        "quizzes": ("QuizSummary", "Quizzes", "UnfinishedQuiz"),
        "replies": ("Replies",),
        "request_keys": ("RequestKeys",),
        "routing_pins": ("RoutingPins",),
        "sessions": ("Session", "Sessions"),
        "solutions": ("Solutions",),
        "statistics": ("Approach", "Rates", "Statistics", "Suggestion", "Tally", "Trend", "Volume"),
        "submissions": ("Submissions",),
        "summaries": ("AnswerSummary",),
        "tasks": ("TaskSummary", "Tasks", "UnfinishedTask"),
        "tenants": ("Tenant", "Tenants"),
        "tokens": ("Identity", "Role", "TokenInfo", "Tokens"),
        "ulids": ("derived_ulid", "is_ulid", "new_ulid"),
    },
)

__all__ = [
    "AnswerSummary",
    "Answers",
    "Approach",
    "Artifacts",
    "AuditSummary",
    "Audits",
    "Backlog",
    "Batch",
    "BatchState",
    "Batches",
    "Challenges",
    "Claim",
    "Comparisons",
    "Curricula",
    "CurriculumSummary",
    "DeferredEvaluation",
    "DeferredMessage",
    "DeferredQueue",
    "Evaluations",
    "EventBus",
    "ExperimentSummary",
    "Experiments",
    "Identity",
    "Judgements",
    "Label",
    "Labels",
    "LearnerSummary",
    "Learners",
    "Lease",
    "Leases",
    "MeasurementSummary",
    "Measurements",
    "Outbox",
    "OutboxEvent",
    "OwnedAudit",
    "Page",
    "PendingEvaluation",
    "QuizSummary",
    "Quizzes",
    "Rates",
    "Replies",
    "RequestKeys",
    "Role",
    "RoutingPins",
    "Session",
    "Sessions",
    "Solutions",
    "Statistics",
    "Submissions",
    "Suggestion",
    "Tally",
    "TaskSummary",
    "Tasks",
    "Tenant",
    "Tenants",
    "TokenInfo",
    "Tokens",
    "Trend",
    "UndecidedChallenge",
    "UnfinishedAnswer",
    "UnfinishedExperiment",
    "UnfinishedMeasurement",
    "UnfinishedQuiz",
    "UnfinishedTask",
    "Volume",
    "derived_ulid",
    "evaluation_request_id",
    "is_ulid",
    "new_ulid",
]
