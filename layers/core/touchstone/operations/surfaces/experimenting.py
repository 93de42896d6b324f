"""The steps of an experiment: its pairs are listed, each pair is tried by itself, and a conclusion is drawn from all.

If a step is interrupted, the next execution of the machine continues it: pairs that are over stay over, replies that
came are in the cache, and the first conclusion stays.

An experiment that can wait repeats these steps: its pairs are tried without asking anybody, their open questions are
gathered into batches at providers, and the pairs whose batches are over are tried again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from touchstone.attempts import BATCHED
from touchstone.errors import InputError, MisconfiguredError, NotFoundError, SettingsError, StoreError, TimedOutError
from touchstone.json_text import loads
from touchstone.judges.base import WorkJudge, most_judges
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.panel import thresholds_unread
from touchstone.operations.jobs.context import StepProgress, any_threshold
from touchstone.operations.jobs.files import MAX_REPORT_BYTES
from touchstone.operations.jobs.parted import batched_parts, part_progress
from touchstone.operations.jobs.traced import tracing_calls
from touchstone.operations.jobs.tries import (
    INTERRUPTED,
    LATE,
    NotingJudge,
    TryWithFailures,
    try_again,
    try_noting_failures,
    try_several_noting_failures,
)
from touchstone.operations.surfaces.experiment_files import UPLOADS, ExperimentFiles, ReportFormat, digest_of_upload
from touchstone.operations.surfaces.pairs_in_batches import all_wait_for_batches, by_batches, in_batches
from touchstone.parts import waiting_for_batches
from touchstone.records.experiments import sums_of
from touchstone.strict import fault_sentence
from touchstone.surfaces.experiments import record as steps
from touchstone.surfaces.experiments.makers import PromptMaker
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pair_work import PairKept, PairSums, PairTask, PairWork, pair_over, pair_put_back
from touchstone.surfaces.experiments.record import MAX_PAIRS, ExperimentPlan, not_deployable
from touchstone.surfaces.measurement import Unmeasured
from touchstone.text import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from touchstone.errors import JudgeError, LimitError
    from touchstone.judges.base import Judge
    from touchstone.judges.registry import Model
    from touchstone.operations.surfaces.context import ExperimentContext
    from touchstone.surfaces.experiments.pairs import PairResult
    from touchstone.surfaces.experiments.record import ExperimentRecord

PAIR_SECONDS = 380.0
"""For generating the missing outputs of a pair, and the same again for measuring it: together two minutes less than the
function may run."""
COMPARED_WITHIN = timedelta(days=7)
"""How long an experiment waits for quota, money or keys."""
MAX_FILE_BYTES = 32 * 1024 * 1024
"""The largest file of an experiment. It is read whole into a function's memory, where it takes ten times as much."""
NOTHING = "Nothing could be measured: every pair was left without a result. Ask anew once judges can be asked."
GONE = "The uploaded file is gone. Upload it again, and give the key of that."
REPLACED = "The uploaded file was replaced after it was handed in. Ask anew, with its key or that of another one."
MOST_FAULTS = 5
"""How many faults are told of an experiment that cannot be read."""
MAX_FAULT_CHARS = 500
"""The length to which one fault with its place is cut: the place may hold a name of any length."""


async def prepare(context: ExperimentContext, experiment_id: str, *, run: str) -> StepProgress:
    """Read an experiment, and list its unfinished pairs for a run: `measuring`, or the state of an ended experiment.

    If the experiment cannot be read, or is too large, it has `failed` with the reason. The state is `waiting` as long
    as all unfinished pairs are in batches at providers.
    """
    record = context.record(experiment_id)
    if record.finished_at is not None:
        return StepProgress(state=record.state)
    held, until = in_batches(context, record)
    if until is not None and record.plan is not None and all_wait_for_batches(context, record, held):
        record = context.experiments.change(record.ref, lambda one: waiting_for_batches(one, (), until=until))
        return StepProgress(state="waiting", until=until, reason=BATCHED)
    files = context.files(experiment_id)
    try:
        experiment = _read(record, files)
        if record.plan is None:
            _check_makers(context, experiment)
    except InputError as error:
        return StepProgress(state=context.fail(record, str(error)).state)
    if record.plan is None:
        files.put_experiment(experiment.model_dump_json())
        plan = await _plan(context, experiment)
        record = context.experiments.change(record.ref, lambda one: steps.planned(one, plan))
        if experiment.judges != 1:  # several judges are asked at once
            record = context.experiments.change(record.ref, steps.set_to_now)
    over = context.pairs.over(record.ref)
    left = [pair for pair in experiment.pairs if pair.number not in over and pair.number not in held]
    files.put_tasks(PairTask.of(pair, experiment.terms) for pair in left)
    lines = "".join(
        f'{{"tenant":"{context.tenant}","experiment_id":"{experiment_id}","number":{pair.number}}}\n' for pair in left
    )
    return StepProgress(state=record.state, list_key=files.put_list(run, lines))


async def compare(context: ExperimentContext, experiment_id: str, number: int) -> StepProgress:
    """Try to measure a pair: `over`, `waiting` for another try, or `batched`. A repeat asks nobody."""
    record = context.record(experiment_id)
    if record.finished_at is not None:
        return StepProgress(state="over")
    pair, ours = context.pairs.begin(record.ref, number)
    if not ours:
        return _nothing_to_do(context, pair)
    files = context.files(experiment_id)
    task = files.task(number)
    if (brought := await by_batches(context, record, pair, task)) is not None:
        return part_progress(brought)
    async with tracing_calls(context, pair.id):
        tried = await _tried(context, record, task)
    sums = PairSums.before(pair)
    if tried.result is not None:
        context.paid(list(tried.result.all_spends()))
        # The result is stored before the pair's record: after a crash in between, the pair is measured again from the
        # cache.
        kept = PairKept.of(tried.result, files.pair(number))
        files.put_pair(kept)
        sums = sums_of(kept)
        if not tried.result.unanswered:
            return part_progress(_ended(context, pair, None, sums))
    again = try_again(
        tried.failures,
        attempts=pair.attempts,
        provider=tried.provider,
        now=context.clock(),
        asked_at=record.created_at,
        within=COMPARED_WITHIN,
    )
    why = Unmeasured(reason=unanswered_reason(tried.failures[0]), details=(str(tried.failures[0]),))
    if again is None:
        return part_progress(_ended(context, pair, why, sums))
    back = context.pairs.change(
        pair, lambda one: pair_put_back(one, why, sums, until=again.until, ended=again.ended, now=context.clock())
    )
    return replace(part_progress(back), reason=why.reason)


def conclude(context: ExperimentContext, experiment_id: str) -> StepProgress:
    """Draw a conclusion from all pairs and write the reports: `done`, `failed`, or `incomplete` if a pair is not over.

    The state is `batched` if a pair that is not over waits for a batch at a provider.
    """
    from touchstone.surfaces.experiments.concluding import conclude as conclusion_of
    from touchstone.surfaces.experiments.report import (
        headline,
        report_csv,
        report_html,
        report_items_csv,
        report_json,
        report_markdown,
        side_by_side,
        sides_that_fit,
    )

    record = context.record(experiment_id)
    if record.finished_at is not None or record.plan is None:
        return StepProgress(state=record.state)
    numbers = range(1, record.plan.pairs + 1)
    if not context.pairs.over(record.ref).keys() >= set(numbers):
        return StepProgress(state=BATCHED if batched_parts(context.pairs, record.ref) else "incomplete")
    files = context.files(experiment_id)
    kept = list(files.pairs(numbers))
    if not kept:
        return StepProgress(state=context.fail(record, NOTHING).state)
    results = [one.result for one in kept]
    experiment = files.experiment()
    found = conclusion_of(experiment, results, paid=[spend for one in kept for spend in one.paid])
    sides = side_by_side(experiment, results)
    reports: dict[ReportFormat, str] = {
        "html": report_html(found),
        "md": report_markdown(found),
        "csv": report_csv(found),
        "json": report_json(found),
        "sides": sides_that_fit(sides, found, most_bytes=MAX_REPORT_BYTES),
        "sides_zh": sides_that_fit(sides, found, most_bytes=MAX_REPORT_BYTES, language="zh"),
    }
    for form, text in reports.items():
        files.put_report(form, text)
    files.put_items(report_items_csv(results))
    files.put_conclusion(found)
    progress = context.pairs.progress(record.ref)
    record = context.experiments.change(
        record.ref, lambda one: steps.concluded(one, found.verdict, headline(found), progress, now=context.clock())
    )
    return StepProgress(state=record.state)


def _read(record: ExperimentRecord, files: ExperimentFiles) -> Experiment:
    """The experiment that was handed in.

    Raises `InputError` if it is not valid, or larger than a deployment can run.
    """
    if record.plan is not None:
        return files.experiment()
    try:
        experiment = Experiment.model_validate(loads(_handed_in(record, files)))
    except ValidationError as error:
        raise InputError(_faults(error)) from None
    judges = most_judges(experiment.judges)
    most = MAX_PAIRS // (judges * experiment.replicates)
    if (pairs := len(experiment.items)) > most:
        by = "" if most == MAX_PAIRS else f" by {judges} judges, each asked {experiment.replicates} times"
        raise InputError(
            f"The experiment has {pairs:,} items; a deployment runs {most:,}{by}. Run a larger one by the command."
        )
    return experiment


def _handed_in(record: ExperimentRecord, files: ExperimentFiles) -> bytes:
    """The file as it was handed in. Raises `InputError` if it is gone, was replaced, or is too large."""
    artifacts, tenant, key = files.artifacts, record.tenant, record.content_key
    try:
        if (size := artifacts.size(tenant=tenant, key=key)) > MAX_FILE_BYTES:
            raise InputError(f"The experiment has {size:,} bytes; at most {MAX_FILE_BYTES:,} are taken.")
        text = artifacts.get_bytes(tenant=tenant, key=key)
        # Read the version after the bytes: if it has not changed, the bytes are those that were handed in.
        version = artifacts.version(tenant=tenant, key=key)
    except NotFoundError:
        raise InputError(GONE) from None
    if key.startswith(f"{tenant}/{UPLOADS}/") and digest_of_upload(key, version) != record.content_hash:
        raise InputError(REPLACED)
    return text


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    told = [
        shortened(fault_sentence(one, ".".join(map(str, one["loc"])) or "experiment"), MAX_FAULT_CHARS)
        for one in faults[:MOST_FAULTS]
    ]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return f"This is no experiment: {'; '.join([*told, *more])}."


async def _plan(context: ExperimentContext, experiment: Experiment) -> ExperimentPlan:
    from touchstone.judges.registry import load_registry
    from touchstone.surfaces.experiments.estimate import estimate_of

    others: list[Model | None] = []
    if experiment.needs_judge and (experiment.judges != 1 or any_threshold(context.thresholds)):
        registry = load_registry()
        asked = context.several(None, experiment.judges).available[1:]
        others = [registry.listed(one.provider, one.model) for one in asked]
    a, b = experiment.variants
    return ExperimentPlan(
        name=experiment.name,
        surface=experiment.surface,
        a=a.name,
        b=b.name,
        pairs=len(experiment.items),
        sources=len({item.source for item in experiment.items}),
        estimate=await estimate_of(experiment, context.model(), others=others),
    )


def _check_makers(context: ExperimentContext, experiment: Experiment) -> None:
    """Raise `InputError` for a variant that no model here can make. This is checked before anything is paid for."""
    from touchstone.surfaces.experiments.making import model_of

    if (why := not_deployable(experiment)) is not None:
        raise InputError(why)
    for variant in experiment.variants:
        if isinstance(variant.maker, PromptMaker) and variant.maker.model is not None:
            try:
                model_of(context.judges(None), variant.maker)
            except SettingsError as error:
                raise InputError(f"Variant {variant.name} cannot be made. {error}") from None


async def _tried(context: ExperimentContext, record: ExperimentRecord, task: PairTask) -> TryWithFailures[PairResult]:
    from touchstone.surfaces.experiments.making import Makers, model_of
    from touchstone.surfaces.experiments.pairs import measure_pair

    cache_scope = None if record.use_cache else record.id
    failures: list[JudgeError | LimitError] = []

    def writer(maker: PromptMaker) -> Judge:
        try:
            return NotingJudge(WorkJudge(model_of(context.judges(cache_scope), maker), record.created_at), failures)
        except SettingsError as error:
            failures.append(MisconfiguredError(str(error), sent=False))
            raise

    measure = partial(measure_pair, task.pair, task.terms, makers=Makers(model_of=writer), seconds=PAIR_SECONDS)
    if not task.terms.judged:
        result = await measure(judge=None)
        late = [TimedOutError(LATE)] if result.unanswered and not failures else []
        return TryWithFailures(result=result, failures=[*failures, *late])
    try:
        thresholds = context.thresholds()
    except StoreError as error:
        return TryWithFailures(result=None, failures=[thresholds_unread(error)])
    if task.terms.judges == 1 and not thresholds:
        tried = await try_noting_failures(
            lambda: WorkJudge(context.judge(cache_scope), record.created_at),
            lambda judge: measure(judge=judge),
            late=lambda result, noted: result.late or (bool(result.unanswered) and not noted and not failures),
        )
        return replace(tried, failures=[*failures, *tried.failures])
    panel = context.several(cache_scope, task.terms.judges).for_work(record.created_at)

    async def by_several(noting: Sequence[Judge]) -> PairResult:
        several = replace(panel, available=tuple(noting))
        if several.shortage is not None:
            raise several.shortage
        return await measure(judge=noting[0], several=several, thresholds=thresholds)

    tried = await try_several_noting_failures(lambda: panel.available, by_several, late=lambda result: result.late)
    failures += tried.failures
    if tried.result is not None and tried.result.unanswered and not failures:
        failures.append(TimedOutError(LATE))  # no call is known to have failed: a deadline ended one from outside
    return replace(tried, failures=failures)


def _nothing_to_do(context: ExperimentContext, pair: PairWork) -> StepProgress:
    """The progress of a pair that is not to be measured now. A pair whose tries are used up is over."""
    if not pair.over and pair.attempts.exhausted(context.clock()):
        why = Unmeasured(reason="timed_out", details=(INTERRUPTED,))
        pair = _ended(context, pair, why, PairSums.before(pair))
    return part_progress(pair)


def _ended(context: ExperimentContext, pair: PairWork, why: Unmeasured | None, sums: PairSums) -> PairWork:
    """Store that a pair is over. `why` says why something of it is unscored; None if nothing is."""
    return context.pairs.change(pair, lambda one: pair_over(one, why, sums, now=context.clock()))
