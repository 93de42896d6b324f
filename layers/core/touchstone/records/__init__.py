"""The stored records, behind classes that say what they do.

keys · table · versioned          the keys of the one table, requests to it, and the one way in which a record changes
jobs · parts                      one store for records of every kind, and one for the parts of a job
answers · evaluations             answers and their deep evaluations, which change by steps of their own
tasks · submissions · …           the kinds of the oracle's market, in the partition of their task
audits · experiments · …          how each other kind is stored, listed and found
lists · list_query · looking      pages of lists, what a caller may ask of them, and how a filtered page is found
counters · answer_counters · …    what records count for, and the statistics that are read from the counters
labels · labelled · thresholds    people's labels, lists filtered by them, and how sure a judge must be by them
artifacts · objects · documents   bodies and files in the bucket, and what tenants upload
tokens · sessions · tenants       who may call, and for whom
belongings · removal · purges     all of a tenant's items, and how they are removed when their time is over
leases · outbox · deferred_queue  who holds what, events on their way out, and the queue that wakes the drain
replies · traces · solutions      what judges said, and verified solutions of earlier problems

Beside `budgets` this is the only room that calls DynamoDB, S3 and SQS. Names are imported on first use: the authorizer
of every request needs `Tokens` and none of the other models.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.records.answer_items import AnswerSummary as AnswerSummary
    from touchstone.records.answer_items import evaluation_request_id as evaluation_request_id
    from touchstone.records.answers import Answers as Answers
    from touchstone.records.artifacts import Artifacts as Artifacts
    from touchstone.records.audits import AUDIT as AUDIT
    from touchstone.records.audits import CASES as CASES
    from touchstone.records.audits import WEEKLY as WEEKLY
    from touchstone.records.audits import Audits as Audits
    from touchstone.records.audits import AuditStore as AuditStore
    from touchstone.records.audits import AuditSummary as AuditSummary
    from touchstone.records.audits import Cases as Cases
    from touchstone.records.batches import Batch as Batch
    from touchstone.records.batches import Batches as Batches
    from touchstone.records.batches import BatchState as BatchState
    from touchstone.records.challenges import CHALLENGE as CHALLENGE
    from touchstone.records.challenges import Challenges as Challenges
    from touchstone.records.comparisons import COMPARISON_KIND as COMPARISON_KIND
    from touchstone.records.comparisons import Comparisons as Comparisons
    from touchstone.records.deferred_queue import DeferredEvaluation as DeferredEvaluation
    from touchstone.records.deferred_queue import DeferredMessage as DeferredMessage
    from touchstone.records.deferred_queue import DeferredQueue as DeferredQueue
    from touchstone.records.documents import CURRICULUM as CURRICULUM
    from touchstone.records.documents import LEARNER as LEARNER
    from touchstone.records.documents import Curricula as Curricula
    from touchstone.records.documents import CurriculumSummary as CurriculumSummary
    from touchstone.records.documents import Documents as Documents
    from touchstone.records.documents import Learners as Learners
    from touchstone.records.documents import LearnerSummary as LearnerSummary
    from touchstone.records.evaluations import Backlog as Backlog
    from touchstone.records.evaluations import BatchedEvaluations as BatchedEvaluations
    from touchstone.records.evaluations import EvaluationClaim as EvaluationClaim
    from touchstone.records.evaluations import Evaluations as Evaluations
    from touchstone.records.evaluations import PendingEvaluation as PendingEvaluation
    from touchstone.records.experiments import EXPERIMENT as EXPERIMENT
    from touchstone.records.experiments import PAIRS as PAIRS
    from touchstone.records.experiments import Experiments as Experiments
    from touchstone.records.experiments import ExperimentSummary as ExperimentSummary
    from touchstone.records.experiments import Pairs as Pairs
    from touchstone.records.jobs import JobStore as JobStore
    from touchstone.records.judgements import Judgements as Judgements
    from touchstone.records.labels import Label as Label
    from touchstone.records.labels import Labels as Labels
    from touchstone.records.leases import Lease as Lease
    from touchstone.records.leases import Leases as Leases
    from touchstone.records.lists import Page as Page
    from touchstone.records.measurements import MEASUREMENT as MEASUREMENT
    from touchstone.records.measurements import Measurements as Measurements
    from touchstone.records.measurements import MeasurementSummary as MeasurementSummary
    from touchstone.records.outbox import EventBus as EventBus
    from touchstone.records.outbox import Outbox as Outbox
    from touchstone.records.outbox import OutboxEvent as OutboxEvent
    from touchstone.records.parts import Parts as Parts
    from touchstone.records.provider_batches import PROVIDER_BATCH as PROVIDER_BATCH
    from touchstone.records.provider_batches import ProviderBatchStore as ProviderBatchStore
    from touchstone.records.provider_batches import ProviderBatchSummary as ProviderBatchSummary
    from touchstone.records.quizzes import QUIZ as QUIZ
    from touchstone.records.quizzes import QuizSummary as QuizSummary
    from touchstone.records.quizzes import Quizzes as Quizzes
    from touchstone.records.replies import Replies as Replies
    from touchstone.records.request_keys import RequestIds as RequestIds
    from touchstone.records.request_keys import RequestKeys as RequestKeys
    from touchstone.records.routing_pins import RoutingPins as RoutingPins
    from touchstone.records.sessions import Session as Session
    from touchstone.records.sessions import Sessions as Sessions
    from touchstone.records.solutions import SolutionRecords as SolutionRecords
    from touchstone.records.statistics import ApproachView as ApproachView
    from touchstone.records.statistics import Day as Day
    from touchstone.records.statistics import Rates as Rates
    from touchstone.records.statistics import Statistics as Statistics
    from touchstone.records.statistics import SuggestionView as SuggestionView
    from touchstone.records.statistics import Tally as Tally
    from touchstone.records.statistics import TrendDay as TrendDay
    from touchstone.records.submissions import SUBMISSION as SUBMISSION
    from touchstone.records.submissions import Submissions as Submissions
    from touchstone.records.tasks import TASK as TASK
    from touchstone.records.tasks import Tasks as Tasks
    from touchstone.records.tasks import TaskSummary as TaskSummary
    from touchstone.records.tenants import Tenant as Tenant
    from touchstone.records.tenants import Tenants as Tenants
    from touchstone.records.thresholds import Thresholds as Thresholds
    from touchstone.records.tokens import Identity as Identity
    from touchstone.records.tokens import Role as Role
    from touchstone.records.tokens import TokenInfo as TokenInfo
    from touchstone.records.tokens import Tokens as Tokens
    from touchstone.records.traces import Traces as Traces
    from touchstone.records.ulids import derived_ulid as derived_ulid
    from touchstone.records.ulids import is_ulid as is_ulid
    from touchstone.records.ulids import new_ulid as new_ulid

lazy_exports(__name__)
