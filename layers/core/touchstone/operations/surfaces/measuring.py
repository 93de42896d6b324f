"""The step of a measurement: one try at one metric. Questions that a judge did not answer are asked at another try."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from touchstone.clock import Deadline
from touchstone.errors import StoreError, TimedOutError
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.panel import JudgePanel, thresholds_unread
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.traced import traced
from touchstone.operations.jobs.tries import (
    INTERRUPTED,
    TryWithFailures,
    try_again,
    try_noting_failures,
    try_several_noting_failures,
)
from touchstone.operations.surfaces.context import MeasuringContext
from touchstone.surfaces import measurement as steps
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.measurement import Measurement, Unmeasured
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import FINAL, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import SCORES, measured_by_several
from touchstone.together import gather_all

MEASURE_SECONDS = 780.0
"""For one try at a metric: two minutes less than the step's function may run."""
MEASURED_WITHIN = timedelta(days=3)
"""How long a measurement waits for quota, money or keys: three of a provider's days, or a weekend."""
MOST_DETAILS = 5
"""How many different sentences of a failure are stored for the metric; each unscored item also has its own."""


@traced
async def measure(
    context: MeasuringContext, measurement_id: str, metric: MetricName, *, deadline: Deadline | None = None
) -> StepProgress:
    """Try to measure a metric: `measured`, `unscored` if nothing in it could be scored, or `waiting` for another try.

    `deadline` None: `MEASURE_SECONDS` from now. A repeat asks nobody.
    """
    which = context.ref("measurement", measurement_id)
    measurement, ours = context.measurements.begin(which, lambda one: steps.begun(one, metric, now=context.clock()))
    if not ours:
        return _nothing_to_do(context, measurement, metric)
    cheap = measurement.when == "cheap" or measurement.work(metric).batch is not None
    if cheap and (by_batch := await _by_batch(context, measurement, metric)) is not None:
        return by_batch
    tried = await _tried(context, measurement, metric, deadline or Deadline.after(MEASURE_SECONDS))
    found = tried.result
    if found is not None:
        context.paid(found.spends)
        if not missing(found):
            kept = context.measurements.change(which, lambda one: steps.measured(one, found, now=context.clock()))
            return _progress(kept, metric)
    why = _why(tried)
    again = try_again(
        tried.failures,
        attempts=measurement.work(metric).attempts,
        provider=tried.provider,
        now=context.clock(),
        asked_at=measurement.created_at,
        within=MEASURED_WITHIN,
    )
    if again is None:
        return _progress(_given_up(context, measurement, metric, why, found), metric)
    after = context.measurements.change(
        which,
        lambda one: steps.put_back(
            one, metric, why, found=found, until=again.until, ended=again.ended, now=context.clock()
        ),
    )
    return _progress(after, metric, reason=why.reason)


async def _by_batch(context: MeasuringContext, measurement: Measurement, metric: MetricName) -> StepProgress | None:
    """The progress of a metric that goes by batches.

    None if the whole measurement is to be asked at once from now on.
    """
    until = None if context.by_batch is None else await context.by_batch(measurement, metric)
    which = measurement.ref
    if until is not None:
        return _progress(
            context.measurements.change(which, lambda one: steps.awaiting(one, metric, until=until)), metric
        )
    measurement = context.measurements.get(which)
    if measurement.work(metric).over:
        return _progress(measurement, metric)
    context.measurements.change(which, steps.set_to_now)
    return None


async def measure_once(context: MeasuringContext, measurement: Measurement, *, deadline: Deadline) -> Measurement:
    """Make one try at each unfinished metric, side by side. Return the measurement as stored then."""
    await gather_all(measure(context, measurement.id, metric, deadline=deadline) for metric in measurement.open)
    return context.measurements.get(measurement.ref)


async def _tried(
    context: MeasuringContext, measurement: Measurement, metric: MetricName, deadline: Deadline
) -> TryWithFailures[MetricResult]:
    request = measurement.request
    if not CATALOGUE[metric].judged:
        return TryWithFailures(result=await result_of(measurement, metric, None, deadline))
    cache_scope = None if request.use_cache else measurement.id
    try:
        thresholds = thresholds_of(context, metric)
    except StoreError as error:
        return TryWithFailures(result=None, failures=[thresholds_unread(error)])
    if request.judges != 1 or thresholds:
        judges = context.several(cache_scope, request.judges).for_work(measurement.created_at)
        return await _tried_by_several(judges, measurement, metric, deadline, thresholds=thresholds)
    return await try_noting_failures(
        lambda: WorkJudge(context.judge(cache_scope), measurement.created_at),
        lambda judge: result_of(measurement, metric, judge, deadline),
        late=lambda found, _: any(one.reason == TimedOutError.reason for one in missing(found)),
    )


async def _tried_by_several(
    judges: JudgePanel, measurement: Measurement, metric: MetricName, deadline: Deadline, *, thresholds: JudgeThresholds
) -> TryWithFailures[MetricResult]:
    request, language = measurement.request, measurement.language

    async def measured(noting: Sequence[Judge]) -> MetricResult:
        return await measured_by_several(
            CATALOGUE[metric],
            request.material,
            request.source,
            replace(judges, available=tuple(noting)),
            measuring=lambda judge: Measuring(judge=judge, deadline=deadline, language=language),
            thresholds=thresholds,
        )

    return await try_several_noting_failures(
        lambda: judges.available,
        measured,
        late=lambda found: any(one.reason == TimedOutError.reason for one in missing(found)),
    )


def thresholds_of(context: MeasuringContext, metric: MetricName) -> JudgeThresholds:
    """The thresholds of a metric's judges. Empty for a metric whose items are numbers. Raises `StoreError`."""
    return NO_THRESHOLDS if metric in SCORES else context.thresholds()


async def result_of(
    measurement: Measurement, metric: MetricName, judge: Judge | None, deadline: Deadline
) -> MetricResult:
    """The result of a metric for the material; `judge` may be None only if the metric asks no judge."""
    request, language = measurement.request, measurement.language
    measuring = None if judge is None else Measuring(judge=judge, deadline=deadline, language=language)
    return await CATALOGUE[metric].measure(request.material, request.source, measuring, language=language)


def missing(found: MetricResult | None) -> tuple[UnscoredItem, ...]:
    """The unscored items that may be scored at another try."""
    return () if found is None else tuple(one for one in found.unscored if one.reason not in FINAL)


def _why(tried: TryWithFailures[MetricResult]) -> Unmeasured:
    """Why items are missing: the reason of the first failure, and as details all sentences told of missing items."""
    first = tried.failures[0]
    details = dict.fromkeys(detail for one in missing(tried.result) for detail in one.details) or {str(first): None}
    return Unmeasured(reason=unanswered_reason(first), details=tuple(details)[:MOST_DETAILS])


def _given_up(
    context: MeasuringContext, measurement: Measurement, metric: MetricName, why: Unmeasured, found: MetricResult | None
) -> Measurement:
    """Store that a metric is over with items unscored, and why. Scored items stay scored."""
    return context.measurements.change(
        measurement.ref, lambda one: steps.given_up(one, metric, why, found=found, now=context.clock())
    )


def _nothing_to_do(context: MeasuringContext, measurement: Measurement, metric: MetricName) -> StepProgress:
    """The progress of a metric that is not to be measured now. A metric whose tries are used up is given up."""
    work = measurement.work(metric)
    if not work.over and work.attempts.exhausted(context.clock()):
        why = Unmeasured(reason="timed_out", details=(INTERRUPTED,))
        measurement = _given_up(context, measurement, metric, why, None)
    return _progress(measurement, metric)


def _progress(measurement: Measurement, metric: MetricName, *, reason: str | None = None) -> StepProgress:
    work = measurement.work(metric)
    if not work.over:
        return StepProgress(state="waiting", until=work.attempts.not_before, reason=reason)
    return StepProgress(state="measured" if work.measured else "unscored")
