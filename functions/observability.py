"""What operators see: structured logs that never hold what a user sent, and metrics of verdicts, skips and spending."""

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from touchstone.answers.model import AnswerRecord
from touchstone.operations.evaluating import Outcome

logger = Logger(service="touchstone", log_uncaught_exceptions=False)
metrics = Metrics(namespace="Touchstone", service="touchstone")


def count_verdict(record: AnswerRecord) -> None:
    """Count one finished answer: its status, why attempts were skipped, and what its judges took."""
    metrics.add_metric(name="Answers", unit=MetricUnit.Count, value=1)
    for status in ("verified", "unverified", "caution"):
        hit = record.verification_status == status
        metrics.add_metric(name=f"Status_{status}", unit=MetricUnit.Count, value=int(hit))
    metrics.add_metric(name="Failed", unit=MetricUnit.Count, value=int(record.stage == "failed"))
    for attempt in record.attempts:
        if attempt.verification and attempt.verification.skip_reason:
            metrics.add_metric(name=f"Skip_{attempt.verification.skip_reason}", unit=MetricUnit.Count, value=1)
    count_spends(record)


def count_spends(record: AnswerRecord) -> None:
    """Count the judges' latency, tokens and cost of a record."""
    for spend in record.spends:
        if spend.cached:
            continue
        metrics.add_metric(name="JudgeLatency", unit=MetricUnit.Milliseconds, value=spend.latency_ms)
        tokens = spend.input_tokens + spend.output_tokens
        metrics.add_metric(name="Tokens", unit=MetricUnit.Count, value=tokens)
        metrics.add_metric(name="CostMicroUsd", unit=MetricUnit.Count, value=round((spend.cost_usd or 0.0) * 1e6))


def count_evaluation(outcome: Outcome) -> None:
    """Count one try at a deep evaluation by where it left the record."""
    metrics.add_metric(name=f"Evaluation_{outcome.state}", unit=MetricUnit.Count, value=1)
