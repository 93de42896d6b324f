"""What operators see: structured logs that never hold what a user sent, and metrics of verdicts, skips and spending."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from touchstone.errors import TouchstoneError

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord
    from touchstone.judges.spends import Spend
    from touchstone.operations.evaluating import TryOutcome

PLACES_SHOWN = 8
"""Of an unexpected error's way, the innermost places: enough to find it, and short enough to read."""

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
METRICS: Mapping[Measure, MetricUnit] = MappingProxyType(
    {
        "Answers": MetricUnit.Count,
        "Unverified": MetricUnit.Count,
        "CostMicroUsd": MetricUnit.Count,
        "Misconfigured": MetricUnit.Count,
        "Backlog": MetricUnit.Count,
        "OldestDeferredAge": MetricUnit.Seconds,
        "Stuck": MetricUnit.Count,
        "CeilingPercent": MetricUnit.Percent,
    }
)
"""All that is published as a metric. Ten custom metrics are free; each further one costs as much as three alarms."""
STATUSES = ("verified", "unverified", "caution", "failed")

logger = Logger(service="touchstone", log_uncaught_exceptions=False)
metrics = Metrics(namespace="Touchstone", service="touchstone")
abandoned: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=lambda: False)
"""Whether whoever waited for this work has left: what it would publish is no longer its own request's."""


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


def measure(name: Measure, value: float) -> None:
    """Publish one of the few metrics that alarms look at; each name is paid for by the month."""
    if not abandoned.get()():
        metrics.add_metric(name=name, unit=METRICS[name], value=value)


def note(what: str, **fields: object) -> None:
    """Log what happened, as fields that the stack's saved queries count; never what a user sent."""
    logger.info(what, extra=fields)


def count_verdict(record: AnswerRecord) -> None:
    """Count one finished answer: its status, why attempts were skipped, and what its judges took."""
    status = record.verification_status if record.stage == "finished" else "failed"
    measure("Answers", 1)
    measure("Unverified", int(status == "unverified"))
    note("answer", **{each: int(status == each) for each in STATUSES})
    for attempt in record.attempts:
        if attempt.verification and attempt.verification.skip_reason:
            count_undecided(attempt.verification.skip_reason)
    count_spends(record.spends)


def count_undecided(reason: str) -> None:
    """Count one try that brought no verdict, by its reason."""
    note("undecided", reason=reason)
    if reason == "misconfigured":
        measure("Misconfigured", 1)


def count_spends(spends: Iterable[Spend]) -> None:
    """Count the judges' latency, tokens and cost of what was paid for."""
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
    """Count where a step left its work, and why where the try brought nothing."""
    note("step", step=step, state=state)
    if reason is not None:
        count_undecided(reason)


def count_evaluation(outcome: TryOutcome) -> None:
    """Count one try at a deep evaluation by where it left the record, and why where it brought no result."""
    count_step("Evaluation", outcome.state, outcome.reason if outcome.tried else None)
    count_spends(outcome.spends)


def measure_ceiling(percent: float) -> None:
    """Note how much of its ceiling for the day a tenant has used; past it nothing is judged in its name."""
    measure("CeilingPercent", round(percent))
