"""The step of a measurement: one try at one metric. What a judge did not answer is asked again at another try."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, MisconfiguredError, SettingsError, TimedOutError
from touchstone.judges.calls import unanswered
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.again import try_again
from touchstone.operations.surfaces.desk import MeasuringDesk
from touchstone.operations.surfaces.noting import NotingJudge
from touchstone.operations.trying import NOBODY
from touchstone.references import Reference
from touchstone.surfaces import measurement as steps
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.measurement import Measurement, Unmeasured
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricName, MetricResult, UnscoredItem

MEASURE_SECONDS = 780.0
"""For one try at a metric: two minutes less than the step's function has."""
MEASURED_WITHIN = timedelta(days=3)
"""How long a measurement waits for quota, money or keys: three of a provider's days, or a weekend."""
FINAL: frozenset[str] = frozenset({"invalid_reply", "refused", "no_source"})
"""Reasons of unscored items that would be the same at the next try: the reply is in the cache, or there is no text."""
INTERRUPTED = "Each try was interrupted before there was a result."
LATE = "The time of this try was over before all was answered."
MOST_DETAILS = 5
"""Of a failure, how many different sentences are kept beside the items that each have their own."""


async def measure(
    desk: MeasuringDesk, measurement_id: str, metric: MetricName, *, deadline: Deadline | None = None
) -> StepProgress:
    """Try to measure a metric: `measured`, `unscored` where nothing of it could be, or `waiting` for another try.

    `deadline` None: `MEASURE_SECONDS` from now. A repeat asks nobody.
    """
    which = Reference(desk.tenant, "measurement", measurement_id)
    measurement, ours = desk.measurements.begin(which, lambda one: steps.begun(one, metric, now=desk.clock()))
    if not ours:
        return _not_ours(desk, measurement, metric)
    tried = await _tried(desk, measurement, metric, deadline or Deadline.after(MEASURE_SECONDS))
    found = tried.found
    if found is not None:
        desk.paid(found.spends)
        if not tried.missing:
            kept = desk.measurements.change(which, lambda one: steps.measured(one, found, now=desk.clock()))
            return _progress(kept, metric)
    why = tried.why
    again = try_again(
        tried.failures,
        attempts=measurement.work(metric).attempts,
        provider=tried.provider,
        now=desk.clock(),
        asked_at=measurement.created_at,
        within=MEASURED_WITHIN,
    )
    if again is None:
        return _progress(_given_up(desk, measurement, metric, why, found), metric)
    after = desk.measurements.change(
        which,
        lambda one: steps.put_back(
            one, metric, why, found=found, until=again.until, ended=again.ended, now=desk.clock()
        ),
    )
    return _progress(after, metric, reason=why.reason)


async def measure_once(desk: MeasuringDesk, measurement: Measurement, *, deadline: Deadline) -> Measurement:
    """One try at each metric that is not over, side by side; the measurement as it is stored then."""
    tries = (measure(desk, measurement.id, metric, deadline=deadline) for metric in measurement.open)
    # All to their end before the first error is raised: what the others ask is paid for.
    for ended in await asyncio.gather(*tries, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
    return desk.measurements.get(measurement.ref)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """What a try brought, None where there was nobody to be asked; the failures on the way, and who was asked."""

    found: MetricResult | None
    failures: Sequence[JudgeError | LimitError] = ()
    provider: str = NOBODY

    @property
    def missing(self) -> tuple[UnscoredItem, ...]:
        """What is unscored and may be scored at another try."""
        return () if self.found is None else tuple(one for one in self.found.unscored if one.reason not in FINAL)

    @property
    def why(self) -> Unmeasured:
        """Why something is missing, as the first failure says; the details are all that was said of what is missing."""
        first = self.failures[0]
        details = dict.fromkeys(detail for one in self.missing for detail in one.details) or {str(first): None}
        return Unmeasured(reason=unanswered(first), details=tuple(details)[:MOST_DETAILS])


async def _tried(desk: MeasuringDesk, measurement: Measurement, metric: MetricName, deadline: Deadline) -> _Tried:
    request, called = measurement.request, CATALOGUE[metric]
    if not called.judged:
        return _Tried(found=await called.measure(request.material, request.source, None, language=measurement.language))
    try:
        judge = NotingJudge(desk.judge(None if request.use_cache else measurement.id))
    except (SettingsError, MisconfiguredError) as error:
        return _Tried(found=None, failures=[MisconfiguredError(str(error), sent=False)])
    measuring = Measuring(judge=judge, deadline=deadline, language=measurement.language)
    found = await called.measure(request.material, request.source, measuring, language=measurement.language)
    tried = _Tried(found=found, failures=judge.failures, provider=judge.provider)
    if any(one.reason == TimedOutError.reason for one in tried.missing):
        # The deadline ends a question from outside, so the judge could not note it.
        return replace(tried, failures=[*judge.failures, TimedOutError(LATE)])
    return tried


def _given_up(
    desk: MeasuringDesk, measurement: Measurement, metric: MetricName, why: Unmeasured, found: MetricResult | None
) -> Measurement:
    """Keep that a metric is over with something unscored, and why; what was scored stays so."""
    return desk.measurements.change(
        measurement.ref, lambda one: steps.given_up(one, metric, why, found=found, now=desk.clock())
    )


def _not_ours(desk: MeasuringDesk, measurement: Measurement, metric: MetricName) -> StepProgress:
    """Where a metric stands that is not to be measured now; one whose tries are used up is given up."""
    work = measurement.work(metric)
    if not work.over and work.attempts.broken_off(desk.clock()):
        why = Unmeasured(reason="timed_out", details=(INTERRUPTED,))
        measurement = _given_up(desk, measurement, metric, why, None)
    return _progress(measurement, metric)


def _progress(measurement: Measurement, metric: MetricName, *, reason: str | None = None) -> StepProgress:
    work = measurement.work(metric)
    if not work.over:
        return StepProgress(state="waiting", until=work.attempts.not_before, reason=reason)
    return StepProgress(state="measured" if work.measured else "unscored")
