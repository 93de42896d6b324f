"""What is stored, behind classes that say what they do; with budgets, the only room that knows DynamoDB, S3 and SQS.

Names are imported on first use: the authorizer of every request needs `Tokens`, and none of the models of the rest.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.records.answer_items import evaluation_request_id
    from touchstone.records.answers import Answers
    from touchstone.records.artifacts import Artifacts
    from touchstone.records.audits import AUDIT, CASES, WEEKLY, Audits, AuditSummary, Cases
    from touchstone.records.batches import Batch, Batches, BatchState
    from touchstone.records.challenges import Challenges
    from touchstone.records.comparisons import Comparisons
    from touchstone.records.curricula import Curricula, CurriculumSummary
    from touchstone.records.cursors import Page
    from touchstone.records.deferred_queue import DeferredEvaluation, DeferredMessage, DeferredQueue
    from touchstone.records.evaluations import Backlog, Claim, Evaluations, PendingEvaluation
    from touchstone.records.event_bus import EventBus
    from touchstone.records.experiments import EXPERIMENT, PAIRS, Experiments, ExperimentSummary, Pairs
    from touchstone.records.jobs import JobStore
    from touchstone.records.judgements import Judgements
    from touchstone.records.labels import Label, Labels
    from touchstone.records.learners import Learners, LearnerSummary
    from touchstone.records.leases import Lease, Leases
    from touchstone.records.measurements import MEASUREMENT, Measurements, MeasurementSummary
    from touchstone.records.outbox import Outbox, OutboxEvent
    from touchstone.records.parts import Parts
    from touchstone.records.quizzes import QUIZ, QuizSummary, Quizzes
    from touchstone.records.replies import Replies
    from touchstone.records.request_keys import RequestKeys
    from touchstone.records.routing_pins import RoutingPins
    from touchstone.records.sessions import Session, Sessions
    from touchstone.records.solutions import Solutions
    from touchstone.records.statistics import Approach, Rates, Statistics, Suggestion, Tally, Trend, Volume
    from touchstone.records.submissions import Submissions
    from touchstone.records.summaries import AnswerSummary
    from touchstone.records.tasks import Tasks, TaskSummary
    from touchstone.records.tenants import Tenant, Tenants
    from touchstone.records.tokens import Identity, Role, TokenInfo, Tokens
    from touchstone.records.ulids import derived_ulid, is_ulid, new_ulid

__getattr__ = Face(
    __name__,
    {
        "answer_items": ("evaluation_request_id",),
        "answers": ("Answers",),
        "artifacts": ("Artifacts",),
        "audits": ("AUDIT", "AuditSummary", "Audits", "CASES", "Cases", "WEEKLY"),
        "batches": ("Batch", "BatchState", "Batches"),
        "challenges": ("Challenges",),
        "comparisons": ("Comparisons",),
        "curricula": ("Curricula", "CurriculumSummary"),
        "cursors": ("Page",),
        "deferred_queue": ("DeferredEvaluation", "DeferredMessage", "DeferredQueue"),
        "evaluations": ("Backlog", "Claim", "Evaluations", "PendingEvaluation"),
        "experiments": ("EXPERIMENT", "ExperimentSummary", "Experiments", "PAIRS", "Pairs"),
        "event_bus": ("EventBus",),
        "judgements": ("Judgements",),
        "labels": ("Label", "Labels"),
        "learners": ("LearnerSummary", "Learners"),
        "leases": ("Lease", "Leases"),
        "jobs": ("JobStore",),
        "measurements": ("MEASUREMENT", "MeasurementSummary", "Measurements"),
        "outbox": ("Outbox", "OutboxEvent"),
        "parts": ("Parts",),
        "quizzes": ("QUIZ", "QuizSummary", "Quizzes"),
        "replies": ("Replies",),
        "request_keys": ("RequestKeys",),
        "routing_pins": ("RoutingPins",),
        "sessions": ("Session", "Sessions"),
        "solutions": ("Solutions",),
        "statistics": ("Approach", "Rates", "Statistics", "Suggestion", "Tally", "Trend", "Volume"),
        "submissions": ("Submissions",),
        "summaries": ("AnswerSummary",),
        "tasks": ("TaskSummary", "Tasks"),
        "tenants": ("Tenant", "Tenants"),
        "tokens": ("Identity", "Role", "TokenInfo", "Tokens"),
        "ulids": ("derived_ulid", "is_ulid", "new_ulid"),
    },
)

__all__ = [
    "AUDIT",
    "CASES",
    "EXPERIMENT",
    "MEASUREMENT",
    "PAIRS",
    "QUIZ",
    "WEEKLY",
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
    "Cases",
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
    "JobStore",
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
    "Page",
    "Pairs",
    "Parts",
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
    "Volume",
    "derived_ulid",
    "evaluation_request_id",
    "is_ulid",
    "new_ulid",
]
