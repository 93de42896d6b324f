"""What operators see: structured logs, which never hold a user's texts, and metrics of verdicts, skips and spending."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Literal

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from touchstone.errors import TouchstoneError

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord
    from touchstone.judges.spends import Spend
    from touchstone.operations.answers.evaluating import TryOutcome

PLACES_SHOWN = 8
"""How many of the innermost traceback frames of an unexpected error are logged: enough to find it, few to read."""

type Measure = Literal[
    "Answers",
    "Unverified",
    "CostMicroUsd",
    "Misconfigured",
    "Backlog",
    "OldestDeferredAge",
    "Stuck",
    "CeilingPercent",
]
METRICS: Mapping[Measure, MetricUnit] = {
    "Answers": MetricUnit.Count,
    "Unverified": MetricUnit.Count,
    "CostMicroUsd": MetricUnit.Count,
    "Misconfigured": MetricUnit.Count,
    "Backlog": MetricUnit.Count,
    "OldestDeferredAge": MetricUnit.Seconds,
    "Stuck": MetricUnit.Count,
    "CeilingPercent": MetricUnit.Percent,
}
"""All published metrics and their units. Ten custom metrics are free; each other one costs as much as three alarms."""
STATUSES = ("verified", "unverified", "caution", "failed")

logger = Logger(service="touchstone", log_uncaught_exceptions=False)
metrics = Metrics(namespace="Touchstone", service="touchstone")
abandoned: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=lambda: False)
"""Whether the caller of this work has stopped waiting. If so, it publishes no metrics: they would be counted for
another request."""


def log_fault(what: str, error: BaseException) -> None:
    """Log the type and the traceback of an unexpected error, but not its message, which may quote a user's text."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_SHOWN:]
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger.error(what, error=type(error).__name__, places=places)


class UnexpectedError(Exception):
    """The error that callers get in place of an unexpected one: its type, and where to look.

    State machines match the name of this class.
    """


def without_words(error: Exception) -> UnexpectedError:
    """Log an unexpected error as `log_fault` does. Return the error to raise in its place, which the runtime logs."""
    log_fault("A function failed unexpectedly", error)
    return UnexpectedError(f"{type(error).__name__}; the log above says where.")


def publishing[**P, R](handler: Callable[P, R]) -> Callable[P, R]:
    """A handler that publishes its metrics when it ends, with or without an error; if it counted none, nothing.

    What it logs names no tenant and no record of an earlier call. A `TouchstoneError` passes unchanged. In place of any
    other error, `UnexpectedError` is raised.
    """

    @wraps(handler)
    def publish(*args: P.args, **kwargs: P.kwargs) -> R:
        logger.clear_state()
        try:
            return handler(*args, **kwargs)
        except TouchstoneError:
            raise
        except Exception as error:  # noqa: BLE001 - no unexpected error's message may go further
            fault = without_words(error)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()
        raise fault  # after the `except` block, so that the first error is not its context

    return publish


def measure(name: Measure, value: float) -> None:
    """Publish one of the few metrics that alarms watch; each name costs money every month."""
    if not abandoned.get()():
        metrics.add_metric(name=name, unit=METRICS[name], value=value)


def note(what: str, **fields: object) -> None:
    """Log an event with fields that the stack's saved queries count. The fields never hold a user's text."""
    logger.info(what, extra=fields)


def count_verdict(record: AnswerRecord) -> None:
    """Count one ended answer: its status, why attempts were skipped, and its judges' latency, tokens and cost."""
    status = record.verification_status if record.stage == "finished" else "failed"
    measure("Answers", 1)
    measure("Unverified", int(status == "unverified"))
    note("answer", **{each: int(status == each) for each in STATUSES})
    for attempt in record.attempts:
        if attempt.verification and attempt.verification.skip_reason:
            count_undecided(attempt.verification.skip_reason)
    count_spends(record.spends)


def count_undecided(reason: str) -> None:
    """Count one try without a verdict, by its reason."""
    note("undecided", reason=reason)
    if reason == "misconfigured":
        measure("Misconfigured", 1)


def count_spends(spends: Iterable[Spend]) -> None:
    """Count the latency, tokens and cost of the judge calls that were paid for; cached replies are left out."""
    for spend in spends:
        if spend.cached:
            continue
        micros = None if spend.cost_usd is None else round(spend.cost_usd * 1e6)
        note(
            "judge",
            provider=spend.provider,
            model=spend.model,
            purpose=spend.purpose,
            latency_ms=round(spend.latency_ms),
            tokens=spend.input_tokens + spend.output_tokens,
            cost_micro_usd=micros,
        )
        if micros is not None:
            measure("CostMicroUsd", micros)


def count_step(step: str, state: str, reason: str | None) -> None:
    """Count the state in which a step left its work, and the reason if the try brought nothing."""
    note("step", step=step, state=state)
    if reason is not None:
        count_undecided(reason)


def count_evaluation(outcome: TryOutcome) -> None:
    """Count one try at a deep evaluation: the state it left the record in, and the reason if it had no result."""
    count_step("Evaluation", outcome.state, outcome.reason if outcome.tried else None)
    count_spends(outcome.spends)


def measure_ceiling(percent: float) -> None:
    """Publish the percentage of its daily ceiling that a tenant has used; past 100, nothing is judged for it."""
    measure("CeilingPercent", round(percent))
