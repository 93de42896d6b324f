"""What operators see: structured logs that never hold what a user sent, and metrics of verdicts, skips and spending."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from touchstone.errors import TouchstoneError

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord
    from touchstone.judges.spends import Spend
    from touchstone.operations.evaluating import Outcome

PLACES_SHOWN = 8
"""Of an unexpected error's way, the innermost places: enough to find it, and short enough to read."""

logger = Logger(service="touchstone", log_uncaught_exceptions=False)
metrics = Metrics(namespace="Touchstone", service="touchstone")


def log_fault(what: str, error: BaseException) -> None:
    """Log an unexpected error by its type and the places it came through; its words may quote what a user sent."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_SHOWN:]
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger.error(what, error=type(error).__name__, places=places)


class UnexpectedError(Exception):
    """What is left of an unexpected error outside: its type, and where to look. State machines match its name."""


def without_words(error: Exception) -> UnexpectedError:
    """Log an unexpected error as `log_fault` does; the error to raise in its stead, which the runtime logs whole."""
    log_fault("A function failed unexpectedly", error)
    return UnexpectedError(f"{type(error).__name__}; the log above says where.")


def publishing[**P, R](handler: Callable[P, R]) -> Callable[P, R]:
    """A handler whose metrics are published when it ends, however it ends; nothing where it counted nothing.

    An error raised on purpose passes as it is; of any other one, `UnexpectedError` is raised instead.
    """

    @wraps(handler)
    def publish(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return handler(*args, **kwargs)
        except TouchstoneError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its words go no further
            fault = without_words(error)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()
        raise fault  # out here, where it does not carry the first one along as its context

    return publish


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
    count_spends(record.spends)


def count_spends(spends: Iterable[Spend]) -> None:
    """Count the judges' latency, tokens and cost of what was paid for."""
    for spend in spends:
        if spend.cached:
            continue
        metrics.add_metric(name="JudgeLatency", unit=MetricUnit.Milliseconds, value=spend.latency_ms)
        tokens = spend.input_tokens + spend.output_tokens
        metrics.add_metric(name="Tokens", unit=MetricUnit.Count, value=tokens)
        if spend.cost_usd is not None:
            metrics.add_metric(name="CostMicroUsd", unit=MetricUnit.Count, value=round(spend.cost_usd * 1e6))


def count_evaluation(outcome: Outcome) -> None:
    """Count one try at a deep evaluation by where it left the record, and why where it brought no result."""
    metrics.add_metric(name=f"Evaluation_{outcome.state}", unit=MetricUnit.Count, value=1)
    if outcome.tried and outcome.reason is not None:
        metrics.add_metric(name=f"PutBack_{outcome.reason}", unit=MetricUnit.Count, value=1)
    count_spends(outcome.spends)


def measure_ceiling(percent: float) -> None:
    """Note how much of its ceiling for the day a tenant has used; past it nothing is judged in its name."""
    metrics.add_metric(name="CeilingPercent", unit=MetricUnit.Percent, value=round(percent))
