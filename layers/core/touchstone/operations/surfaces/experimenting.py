"""The steps of an experiment: its pairs are listed, each is measured with tries of its own, and all are concluded from.

What a step is stopped in, the next execution of the machine goes on with: pairs that are over stay over, replies that
came are in the cache, and the first conclusion stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from touchstone.clock import Clock, system_clock
from touchstone.errors import InputError, MisconfiguredError, NotFoundError, SettingsError, TimedOutError
from touchstone.judges.calls import unanswered
from touchstone.judges.spends import known_cost, unpriced
from touchstone.operations.json_text import loads
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.again import try_again
from touchstone.operations.surfaces.experiment_files import REPORTS, UPLOADS, ExperimentFiles, digest_of_upload
from touchstone.operations.surfaces.noting import NotingJudge
from touchstone.operations.trying import NOBODY
from touchstone.records.pair_counts import pair_counts
from touchstone.references import Reference
from touchstone.surfaces.experiments import record as steps
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask, PairWork, pair_over, pair_put_back
from touchstone.surfaces.experiments.record import MAX_PAIRS, Plan
from touchstone.surfaces.measurement import Unmeasured
from touchstone.text import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.errors import JudgeError, LimitError
    from touchstone.judges.base import Judge
    from touchstone.judges.registry import Model
    from touchstone.judges.spends import Spend
    from touchstone.records import Experiments, Pairs
    from touchstone.surfaces.experiments.counting import PairCounts
    from touchstone.surfaces.experiments.pairs import PairResult
    from touchstone.surfaces.experiments.record import ExperimentRecord

PAIR_SECONDS = 380.0
"""For generating what a pair lacks, and again for measuring it: together two minutes less than the function has."""
COMPARED_WITHIN = timedelta(days=7)
"""How long an experiment waits for quota, money or keys."""
MAX_FILE_BYTES = 32 * 1024 * 1024
"""Read whole into a function's memory, where it takes ten times as much."""
INTERRUPTED = "Each try was interrupted before there was a result."
LATE = "The time of this try was over before all was answered."
NOTHING = "Nothing could be measured: every pair was left without a result. Ask anew once judges can be asked."
GONE = "The uploaded file is gone. Upload it again, and give the key of that."
REPLACED = "The uploaded file was replaced after it was handed in. Ask anew, with its key or that of another one."
MOST_FAULTS = 5
"""How many faults of an experiment that cannot be read are told."""
MAX_FAULT_CHARS = 500
"""Of one fault with its place, which may hold a name of any length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentDesk:
    """One tenant's experiments and judges.

    `judge` gives the judge of an experiment as `MeasuringDesk.judge` does, and `model` the one that it would ask, None
    without any key. `paid` is told of calls that were paid for.
    """

    tenant: str
    experiments: Experiments
    pairs: Pairs
    files: Callable[[str], ExperimentFiles]
    judge: Callable[[str | None], Judge]
    model: Callable[[], Model | None]
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock

    def record(self, experiment_id: str) -> ExperimentRecord:
        """The record of an experiment."""
        return self.experiments.get(Reference(self.tenant, "experiment", experiment_id))

    def fail(self, record: ExperimentRecord, why: str) -> ExperimentRecord:
        """Keep that an experiment came to nothing, and why."""
        return self.experiments.change(record.ref, lambda one: steps.failed(one, why, now=self.clock()))


async def prepare(desk: ExperimentDesk, experiment_id: str, *, run: str) -> StepProgress:
    """Read an experiment and list its pairs that are not over for a run: `measuring`, or `done` and `failed` as it is.

    One that cannot be read, or is too large, has `failed` with the reason.
    """
    record = desk.record(experiment_id)
    if record.finished_at is not None:
        return StepProgress(state=record.state)
    files = desk.files(experiment_id)
    try:
        experiment = _read(record, files)
    except InputError as error:
        return StepProgress(state=desk.fail(record, str(error)).state)
    if record.plan is None:
        files.put_experiment(experiment.model_dump_json())
        plan = await _plan(desk, experiment)
        record = desk.experiments.change(record.ref, lambda one: steps.planned(one, plan))
    over = desk.pairs.over(record.ref)
    left = [pair for pair in experiment.pairs if pair.number not in over]
    files.put_tasks(PairTask.of(pair, experiment.terms) for pair in left)
    lines = "".join(
        f'{{"tenant":"{desk.tenant}","experiment_id":"{experiment_id}","number":{pair.number}}}\n' for pair in left
    )
    return StepProgress(state=record.state, list_key=files.put_list(run, lines))


async def compare(desk: ExperimentDesk, experiment_id: str, number: int) -> StepProgress:
    """Try to measure a pair: `over`, or `waiting` for another try. A repeat asks nobody."""
    record = desk.record(experiment_id)
    if record.finished_at is not None:
        return StepProgress(state="over")
    pair, ours = desk.pairs.begin(record.ref, number)
    if not ours:
        return _not_ours(desk, pair)
    files = desk.files(experiment_id)
    tried = await _tried(desk, record, files.task(number))
    cost, unpriced_calls, counts = pair.cost_usd, pair.unpriced_calls, None
    if tried.result is not None:
        desk.paid(list(tried.result.all_spends()))
        # Kept before the pair is: a crash in between measures it again from the cache.
        kept = PairKept.of(tried.result, files.pair(number))
        files.put_pair(kept)
        cost, unpriced_calls, counts = known_cost(kept.paid) or 0.0, unpriced(kept.paid), pair_counts(kept)
        if not tried.result.unanswered:
            return _progress(_ended(desk, pair, None, cost_usd=cost, counts=counts, unpriced_calls=unpriced_calls))
    again = try_again(
        tried.failures,
        attempts=pair.attempts,
        provider=tried.provider,
        now=desk.clock(),
        asked_at=record.created_at,
        within=COMPARED_WITHIN,
    )
    why = Unmeasured(reason=unanswered(tried.failures[0]), details=(str(tried.failures[0]),))
    if again is None:
        return _progress(_ended(desk, pair, why, cost_usd=cost, counts=counts, unpriced_calls=unpriced_calls))
    back = desk.pairs.change(
        pair,
        lambda one: pair_put_back(
            one,
            why,
            until=again.until,
            ended=again.ended,
            cost_usd=cost,
            now=desk.clock(),
            counts=counts,
            unpriced_calls=unpriced_calls,
        ),
    )
    return replace(_progress(back), reason=why.reason)


def conclude(desk: ExperimentDesk, experiment_id: str) -> StepProgress:
    """Conclude from all pairs and write the reports: `done`, `failed`, or `incomplete` where a pair is not over."""
    from touchstone.surfaces.experiments.concluding import conclude as conclusion_of
    from touchstone.surfaces.experiments.report import (
        headline,
        report_csv,
        report_html,
        report_items_csv,
        report_json,
        report_markdown,
    )

    record = desk.record(experiment_id)
    if record.finished_at is not None or record.plan is None:
        return StepProgress(state=record.state)
    numbers = range(1, record.plan.pairs + 1)
    if not desk.pairs.over(record.ref).keys() >= set(numbers):
        return StepProgress(state="incomplete")
    files = desk.files(experiment_id)
    kept = list(files.pairs(numbers))
    if not kept:
        return StepProgress(state=desk.fail(record, NOTHING).state)
    results = [one.result for one in kept]
    found = conclusion_of(files.experiment(), results, paid=[spend for one in kept for spend in one.paid])
    writers = {"html": report_html, "md": report_markdown, "csv": report_csv, "json": report_json}
    for form in REPORTS:
        files.put_report(form, writers[form](found))
    files.put_items(report_items_csv(results))
    files.put_conclusion(found)
    record = desk.experiments.change(
        record.ref, lambda one: steps.concluded(one, found.verdict, headline(found), now=desk.clock())
    )
    return StepProgress(state=record.state)


def _read(record: ExperimentRecord, files: ExperimentFiles) -> Experiment:
    """The experiment that was handed in. Raises `InputError` for what is none, or a larger one than can be run."""
    if record.plan is not None:
        return files.experiment()
    try:
        experiment = Experiment.model_validate(loads(_handed_in(record, files)))
    except ValidationError as error:
        raise InputError(_faults(error)) from None
    if (pairs := len(experiment.variants[0].items)) > MAX_PAIRS:
        raise InputError(
            f"The experiment has {pairs:,} items; a deployment runs {MAX_PAIRS:,}. Run a larger one by the command."
        )
    return experiment


def _handed_in(record: ExperimentRecord, files: ExperimentFiles) -> bytes:
    """The file as it was when it was handed in. Raises `InputError` where it is none any more, or too large."""
    artifacts, tenant, key = files.artifacts, record.tenant, record.content_key
    try:
        if (size := artifacts.size(tenant=tenant, key=key)) > MAX_FILE_BYTES:
            raise InputError(f"The experiment has {size:,} bytes; at most {MAX_FILE_BYTES:,} are taken.")
        text = artifacts.get_bytes(tenant=tenant, key=key)
        # Asked after the bytes were read: if it is the same now, they are those that were handed in.
        version = artifacts.version(tenant=tenant, key=key)
    except NotFoundError:
        raise InputError(GONE) from None
    if key.startswith(f"{tenant}/{UPLOADS}/") and digest_of_upload(key, version) != record.content_hash:
        raise InputError(REPLACED)
    return text


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    told = [
        shortened(f"{'.'.join(map(str, one['loc'])) or 'experiment'}: {one['msg']}", MAX_FAULT_CHARS)
        for one in faults[:MOST_FAULTS]
    ]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return f"This is no experiment: {'; '.join([*told, *more])}."


async def _plan(desk: ExperimentDesk, experiment: Experiment) -> Plan:
    from touchstone.surfaces.experiments.estimate import estimate_of

    a, b = experiment.variants
    return Plan(
        name=experiment.name,
        surface=experiment.surface,
        a=a.name,
        b=b.name,
        pairs=len(a.items),
        sources=len({item.source for item in a.items}),
        estimate=await estimate_of(experiment, desk.model()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """What a try brought, None where there was nobody to be asked; the failures on the way, and who was asked."""

    result: PairResult | None
    failures: Sequence[JudgeError | LimitError] = ()
    provider: str = NOBODY


async def _tried(desk: ExperimentDesk, record: ExperimentRecord, task: PairTask) -> _Tried:
    from touchstone.surfaces.experiments.pairs import measure_pair

    if not task.terms.judged:
        return _Tried(result=await measure_pair(task.pair, task.terms, judge=None, seconds=PAIR_SECONDS))
    try:
        judge = NotingJudge(desk.judge(None if record.use_cache else record.id))
    except (SettingsError, MisconfiguredError) as error:
        return _Tried(result=None, failures=[MisconfiguredError(str(error), sent=False)])
    result = await measure_pair(task.pair, task.terms, judge=judge, seconds=PAIR_SECONDS)
    failures = list(judge.failures)
    if result.late or (result.unanswered and not failures):
        # The deadline ends a question from outside, so the judge could not note it.
        failures.append(TimedOutError(LATE))
    return _Tried(result=result, failures=failures, provider=judge.provider)


def _not_ours(desk: ExperimentDesk, pair: PairWork) -> StepProgress:
    """Where a pair stands that is not to be measured now; one whose tries are used up is over."""
    if not pair.over and pair.attempts.broken_off(desk.clock()):
        why = Unmeasured(reason="timed_out", details=(INTERRUPTED,))
        pair = _ended(desk, pair, why, cost_usd=pair.cost_usd, unpriced_calls=pair.unpriced_calls)
    return _progress(pair)


def _ended(
    desk: ExperimentDesk,
    pair: PairWork,
    why: Unmeasured | None,
    *,
    cost_usd: float,
    counts: PairCounts | None = None,
    unpriced_calls: int,
) -> PairWork:
    """Keep that a pair is over; `why` something of it is unscored, None where nothing is."""
    return desk.pairs.change(
        pair,
        lambda one: pair_over(
            one, why, cost_usd=cost_usd, now=desk.clock(), counts=counts, unpriced_calls=unpriced_calls
        ),
    )


def _progress(pair: PairWork) -> StepProgress:
    return StepProgress(state="over") if pair.over else StepProgress(state="waiting", until=pair.attempts.not_before)
