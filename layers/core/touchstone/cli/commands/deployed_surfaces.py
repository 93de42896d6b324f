"""Commands about the measurements and experiments of a deployment: start one, follow it, list them."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from touchstone import figures
from touchstone.cli.commands.experiments import Baseline, Given, HowMany, HowOften, MetricNames, asked_for, experiment
from touchstone.cli.commands.listing import SEARCHED, Columns, listing, only
from touchstone.cli.commands.surfaces import FailUnder, SourceFile, Told
from touchstone.cli.commands.surfaces import MetricNames as MeasuredNames
from touchstone.cli.deployment.api import followed, hastened, measurement_cost, open_api, uploaded
from touchstone.cli.files.requests import check_apart, checked, judge_count
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.tables import column, columns, print_facts, print_table, time_column
from touchstone.cli.terminal.words import View, cost_of, is_over, moment, short
from touchstone.extras import require_extras

if TYPE_CHECKING:
    from touchstone.cli.terminal.bars import Bars, MetricOutcome
    from touchstone.surfaces.names import MetricName, Surface

measurement = options.group(
    "measurement", "Have your deployment measure material. To measure without a deployment: touchstone evaluate."
)

INLINE_BYTES = 1_000_000
"""The most bytes of an experiment that is sent within the request. A larger one is uploaded first."""
SECONDS = 3600.0

MeasurementId = Annotated[str, typer.Argument(metavar="ID", help="The measurement's id.")]
ExperimentId = Annotated[str, typer.Argument(metavar="ID", help="The experiment's id.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait until the work has ended.")]
Cheap = Annotated[
    bool,
    typer.Option(
        "--cheap",
        help="Ask through a provider's batches: at half the price, within a day or two. Several judges are always "
        "asked at once.",
    ),
]
SURFACE = only("Only records about this kind of material.", "quiz|summary|flashcards")
STATUS = only("Only records with this status.", "waiting|measuring|done|failed|unfinished|ended")


def _scores(row: Mapping[str, Any]) -> str:
    """The scores of a measurement, each after the name of its metric."""
    return ", ".join(f"{name} {_figure(score)}" for name, score in row.get("scores", {}).items())


def _figure(score: float | None) -> str:
    return "-" if score is None else figures.score(score, 1)


MEASUREMENTS = (
    time_column("created (UTC)", "created_at"),
    *columns("id", "surface", "state"),
    column("begins", lambda row: short(row.get("title"))),
    column("scores", _scores),
    column("cost", cost_of, right=True),
)
METRICS = (
    column("metric"),
    column("score (0-100)", lambda row: _figure(row.get("score")), right=True),
    column("because"),
)
EXPERIMENTS = (
    time_column("created (UTC)", "created_at"),
    *columns("id", "name", "state"),
    column("came to", "headline"),
    column("cost", lambda row: cost_of(row) if row.get("finished_at") else None, right=True),
)


@measurement.command("list")
@listing(
    "measurements",
    begun_by="touchstone measurement start",
    filters={
        "status": STATUS,
        **SEARCHED,
        "surface": SURFACE,
        "metric": only("Only measurements with this metric, for example quiz_clarity."),
        "language": only("Only measurements whose reasons are in this language.", "zh|en"),
        "model": options.AskedModel,
        "provider": options.AskedProvider,
        "label": only(
            "Only measurements with an item that people gave this label, for example AMBIGUOUS. none: no item has a "
            "label."
        ),
    },
)
def list_measurements() -> Columns:
    """List your deployment's measurements, newest first. With filters: only those that match all."""
    return MEASUREMENTS


@measurement.command()
def start(
    surface: Annotated[
        Literal["quiz", "summary", "flashcards"], typer.Argument(metavar="SURFACE", help="The kind of the material.")
    ],
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="The material, as for `touchstone evaluate`, or - for standard input."),
    ],
    *,
    source: SourceFile = None,
    metrics: MeasuredNames = None,
    language: Told = None,
    judges: options.MetricJudges = "1",
    cheap: Cheap = False,
    use_cache: options.UseCache = True,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_under: FailUnder = None,
    as_json: options.AsJson = False,
) -> None:
    """Have your deployment measure a quiz, a summary or flashcards.

    The command returns at once, unless --wait is given. Exit code 0: done, or it goes on. With --fail-under, 1: a score
    is below; 3: a score is missing, because nobody could judge it or because the measurement is not over.
    """
    from touchstone.cli.files.material_files import READERS, source_of
    from touchstone.cli.terminal.bars import bars_of
    from touchstone.surfaces.measurement import REQUESTS

    check_apart(file, source, option="--source")
    bars = bars_of(surface, metrics=metrics, fail_under=fail_under or ())
    fields = {
        "surface": surface,
        "material": READERS[surface](file),
        "source": None if source is None else source_of(source),
        "metrics": bars.metrics,
        "language": language,
        "use_cache": use_cache,
        "judges": judge_count(judges),
        "when": "cheap" if cheap else None,
    }
    request = checked(REQUESTS[surface], fields)
    with open_api() as api:
        view = api.post("measurements", body=request.model_dump(mode="json"))
        view = followed(api, "measurements", view, seconds=timeout) if wait else view
    _show_measurement(view, bars if fail_under else None, as_json=as_json)


@measurement.command()
def show(
    measurement_id: MeasurementId,
    *,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_under: FailUnder = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a measurement: each metric's score, or why it has none.

    The exit codes are those of `touchstone measurement start`.
    """
    with open_api() as api:
        view = api.get("measurements", measurement_id)
        bars = _bars(view["surface"], fail_under)
        view = followed(api, "measurements", view, seconds=timeout) if wait else view
    _show_measurement(view, bars, as_json=as_json)


@measurement.command("now")
def measure_now(
    measurement_id: MeasurementId, *, pay_twice: options.PayTwice = False, as_json: options.AsJson = False
) -> None:
    """Ask the waiting questions of a measurement at once, at the full price.

    This is for a measurement that waits for a provider's batches. What is already in a batch stays there, unless
    --pay-twice is given.
    """
    _show_measurement(hastened("measurements", measurement_id, pay_twice=pay_twice), None, as_json=as_json)


@experiment.command("list")
@listing(
    "experiments",
    begun_by="touchstone experiment start",
    filters={
        "status": STATUS,
        **SEARCHED,
        "surface": SURFACE,
        "variant": only("Only experiments with a variant of this name."),
        "verdict": only(
            "Only experiments with this result.", "a_better|b_better|no_difference_shown|not_compared|mixed"
        ),
    },
)
def list_experiments() -> Columns:
    """List your deployment's experiments, newest first. With filters: only those that match all."""
    return EXPERIMENTS


@experiment.command("start")
def start_experiment(
    given: Given,
    *,
    metrics: MetricNames = None,
    baseline: Baseline = None,
    judges: HowMany = None,
    replicates: HowOften = None,
    cheap: Cheap = False,
    use_cache: options.UseCache = True,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_if_worse: options.FailIfWorse = False,
    as_json: options.AsJson = False,
) -> None:
    """Start an experiment in your deployment.

    The command returns at once, unless --wait is given. A deployment runs no commands and calls no endpoints: an
    experiment that names them is for `touchstone experiment run`.

    Exit code 3: the experiment failed, or nothing could be compared; else 0, also while it goes on. With
    --fail-if-worse also 1: the baseline is better in some respect; 3: something could not be compared, not all pairs
    were measured, or the experiment is not over.
    """
    require_extras("statistics")
    from touchstone.surfaces.experiments.record import ExperimentRequest

    found = asked_for(given, metrics, baseline, judges=judges, replicates=replicates)
    when = "cheap" if cheap else "now"
    request = checked(ExperimentRequest, {"experiment": found, "use_cache": use_cache, "when": when})
    body = request.model_dump(mode="json")
    data = json.dumps(body["experiment"], ensure_ascii=False).encode()
    with open_api() as api:
        if len(data) > INLINE_BYTES:
            place = uploaded(api, "experiment-files", data, content_type="application/json")
            body |= {"experiment": None, "experiment_key": place["experiment_key"]}
        view = api.post("experiments", body=body)
        view = followed(api, "experiments", view, seconds=timeout) if wait else view
    _show_experiment(view, fail_if_worse=fail_if_worse, as_json=as_json)


@experiment.command("show")
def show_experiment(
    experiment_id: ExperimentId,
    *,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_if_worse: options.FailIfWorse = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the progress, cost and result of an experiment of your deployment.

    The exit codes are those of `touchstone experiment start`.
    """
    require_extras("statistics")
    with open_api() as api:
        view = api.get("experiments", experiment_id)
        view = followed(api, "experiments", view, seconds=timeout) if wait else view
    _show_experiment(view, fail_if_worse=fail_if_worse, as_json=as_json)


@experiment.command("now")
def compare_now(
    experiment_id: ExperimentId, *, pay_twice: options.PayTwice = False, as_json: options.AsJson = False
) -> None:
    """Ask the waiting questions of an experiment at once, at the full price.

    This is for an experiment that waits for a provider's batches. What is already in a batch stays there, unless
    --pay-twice is given.
    """
    require_extras("statistics")
    view = hastened("experiments", experiment_id, pay_twice=pay_twice)
    _show_experiment(view, fail_if_worse=False, as_json=as_json)


def _bars(surface: "Surface", fail_under: list[str] | None) -> "Bars | None":
    """The scores that are asked for. None if none is: they load much that a measurement alone does not need."""
    if not fail_under:
        return None
    from touchstone.cli.terminal.bars import bars_of

    return bars_of(surface, metrics=None, fail_under=fail_under)


def _show_measurement(view: View, bars: "Bars | None", *, as_json: bool) -> None:
    """Show a measurement, say what to do next, and leave with its exit code. `bars` None: no score is asked for."""
    outcomes = {} if bars is None else _outcomes(view, bars)
    if as_json:
        print_json(view)
    else:
        print_facts((name, view[name]) for name in ("id", "surface", "state"))
        print_facts([("created (UTC)", moment(view["created_at"])), ("cost", measurement_cost(view))])
        print_table(METRICS, view["metrics"], empty="It has no metrics.")
        print_facts((name, one.sentence) for name, one in outcomes.items())
        _say_how_to_see("measurement", view)
    if bars is not None:
        from touchstone.cli.terminal.bars import exit_of

        raise typer.Exit(exit_of(outcomes.values()))


def _outcomes(view: View, bars: "Bars") -> "Mapping[MetricName, MetricOutcome]":
    """What became of each metric. Those that are still measured, or that nobody could judge, are unscored."""
    from touchstone.cli.terminal.bars import MetricOutcome, outcomes_of
    from touchstone.surfaces.evaluation import Report
    from touchstone.surfaces.measured import MeasurementView
    from touchstone.surfaces.model import MetricResult

    found = MeasurementView.model_validate(view)
    results = {
        one.metric: MetricResult(metric=one.metric, score=one.score, items=one.items, unscored=one.unscored)
        for one in found.metrics
    }
    report = Report(surface=found.surface, language=found.language, results=results, left_out=found.left_out)
    undecided = {
        one.metric: MetricOutcome(kind="unscored", sentence=f"Nobody could judge it: {one.because}.")
        if one.over
        else MetricOutcome(kind="unscored", sentence="It is not over.")
        for one in found.metrics
        if not one.over or (one.because is not None and not (one.items or one.unscored))
    }
    return {**outcomes_of(report, bars), **undecided}


def _show_experiment(view: View, *, fail_if_worse: bool, as_json: bool) -> None:
    """Show an experiment, say what to do next, and leave with its exit code."""
    from touchstone.cli.screens.experiment_screen import exit_of as exit_of_conclusion
    from touchstone.cli.screens.experiment_screen import print_conclusion
    from touchstone.surfaces.experiments.conclusion import Conclusion

    said = view["conclusion"]
    conclusion = None if said is None else Conclusion.model_validate(said)
    if as_json:
        print_json(view)
    else:
        print_facts(_experiment_facts(view))
        if conclusion is not None:
            print_conclusion(conclusion)
            say(f"Its report: touchstone experiment report {view['id']}")
        _say_how_to_see("experiment", view)
    if conclusion is not None:
        raise typer.Exit(exit_of_conclusion(conclusion, fail_if_worse=fail_if_worse))
    raise typer.Exit(Exit.UNDECIDED if fail_if_worse or is_over(view) else Exit.DONE)


def _experiment_facts(view: View) -> Iterator[tuple[str, object]]:
    yield from ((name, view[name]) for name in ("id", "name", "state"))
    yield "because", view["failure"] or view["because"]
    if view["pairs"] is not None:
        yield "pairs", f"{view['done']} of {view['pairs']} done"
    yield "created (UTC)", moment(view["created_at"])
    yield "cost", cost_of(view)


def _say_how_to_see(command: str, view: View) -> None:
    if not is_over(view):
        say(f"It goes on; see it with: touchstone {command} show {view['id']}")
