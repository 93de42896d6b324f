"""What is stored, behind classes that say what they do; with budgets, the only room that knows DynamoDB, S3 and SQS."""

from touchstone.records.answer_items import evaluation_request_id
from touchstone.records.answers import Answers
from touchstone.records.artifacts import Artifacts
from touchstone.records.cursors import Page
from touchstone.records.evaluations import Backlog, Claim, Evaluations, PendingEvaluation
from touchstone.records.solutions import Solutions
from touchstone.records.summaries import AnswerSummary
from touchstone.records.tenants import Tenant, Tenants
from touchstone.records.tokens import Identity, Role, TokenInfo, Tokens
from touchstone.records.ulids import derived_ulid, is_ulid, new_ulid

__all__ = [
    "AnswerSummary",
    "Answers",
    "Artifacts",
    "Backlog",
    "Claim",
    "Evaluations",
    "Identity",
    "Page",
    "PendingEvaluation",
    "Role",
    "Solutions",
    "Tenant",
    "Tenants",
    "TokenInfo",
    "Tokens",
    "derived_ulid",
    "evaluation_request_id",
    "is_ulid",
    "new_ulid",
]
