"""Commands about experiments, which compare two variants, without a deployment; of reports also with one."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.deployment.api import fetch, fetch_file, open_api
from touchstone.cli.files.requests import judge_count
from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place
from touchstone.cli.terminal.screen import is_interactive, print_json, say
from touchstone.cli.terminal.tables import print_markdown
from touchstone.errors import ConflictError, InputError
from touchstone.extras import require_extras

if TYPE_CHECKING:
    from touchstone.surfaces.experiments import Conclusion, Experiment

experiment = options.group("experiment", "Compare two variants: which is better, and how certain that is.")

ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
"""The form of the ids of a deployment."""
Given = Annotated[
    str,
    typer.Argument(
        metavar="FILE|FOLDER",
        help="The experiment as JSON; or a folder with sources/ and a folder for each variant, which has a file "
        "for each source.",
    ),
]
MetricNames = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="A,B",
        help="Measure only these metrics, for example clarity,item_flaws. Default: those that the experiment "
        "names, else all.",
    ),
]
HowMany = Annotated[
    Literal["1", "2", "3", "until_sure"] | None,
    typer.Option(
        "--judges",
        help="How many judges measure the variants and choose the better one. 2 or 3: each is of another provider, "
        "and more than half must agree. until_sure: one judge after the other, until one is sure of a class, "
        "and prefers the same variant in both orders. Default: what the experiment says, else 1.",
    ),
]
HowOften = Annotated[
    int | None,
    typer.Option(
        "--replicates",
        min=1,
        max=5,
        help="How often each judge is asked the same question, to see how much its replies vary. Default: what the "
        "experiment says, else 1.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(metavar="VARIANT", help="The variant with which the other one is compared. Default: the first one."),
]

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER|ID",
        help="The folder of an experiment (--out of `touchstone experiment run`), or the id of an experiment of your "
        "deployment.",
    ),
]
MEDIA = {"html": "text/html", "md": "text/markdown", "csv": "text/csv", "json": "application/json"}
"""The media type of each format of a report."""


@experiment.command()
def run(
    given: Given,
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="The folder that keeps the work, so that a later run can continue it."),
    ],
    metrics: MetricNames = None,
    baseline: Baseline = None,
    judges: HowMany = None,
    replicates: HowOften = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", help="Stop before the whole experiment costs more than this. Default: no limit."
        ),
    ] = None,
    yes: options.Yes = False,
    allow_commands: Annotated[
        bool,
        typer.Option(
            "--allow-commands",
            help="Run the commands and call the endpoints that the experiment names. Default: they are refused.",
        ),
    ] = False,
    junit: Annotated[Path | None, options.junit("the result")] = None,
    fail_if_worse: options.FailIfWorse = False,
    use_cache: options.UseCache = True,
    as_json: options.AsJson = False,
) -> None:
    """Compare two variants, by metrics and by a judge.

    Both are measured on the same sources, and a judge says which text of each pair is better.

    The folder --out keeps every result. The same command continues an earlier run in it, and pays for no answered call
    again. The report is report.html in this folder; side-by-side.html shows the texts.

    Exit code 3: nothing could be compared. With --fail-if-worse also 1: the baseline is better in some respect; 3:
    something could not be compared, or not all pairs were measured.
    """
    from touchstone.cli.local import experiment_running as running
    from touchstone.cli.local.inprocess import done_here
    from touchstone.cli.screens.experiment_screen import exit_of, print_conclusion, suite_of
    from touchstone.cli.screens.junit import write_junit
    from touchstone.surfaces.experiments.folder import write_in_folder
    from touchstone.surfaces.experiments.report import report_html

    require_extras("statistics")
    check_place(junit, where="--junit", read=[given])
    found = asked_for(given, metrics, baseline, judges=judges, replicates=replicates)
    said: dict[str, object] = {"--metrics": metrics, "--baseline": baseline, "--max-cost": max_cost}
    said |= {"--judges": judges, "--replicates": replicates, "--allow-commands": allow_commands}
    try:
        conclusion = done_here(
            running.run(
                found,
                out,
                ask=not yes and is_interactive(),
                max_cost=max_cost,
                allow_commands=allow_commands,
                use_cache=use_cache,
            )
        )
    except KeyboardInterrupt:
        say(f"Interrupted. What is done is kept; go on with: {_again(given, out, said)}")
        raise
    page, texts = out / "report.html", out / "side-by-side.html"
    write_in_folder(page, report_html(conclusion))
    write_in_folder(texts, _texts(out, conclusion))
    if as_json:
        print_json(_document(conclusion))
    else:
        print_conclusion(conclusion)
    say(f"The report is in {page}, and the texts side by side are in {texts}.")
    if conclusion.stopped == "max_cost":
        say(f"Go on with a higher --max-cost: {_again(given, out, said | {'--max-cost': 'USD'})}")
    write_junit(junit, [suite_of(conclusion, fail_if_worse=fail_if_worse)])
    raise typer.Exit(exit_of(conclusion, fail_if_worse=fail_if_worse))


@experiment.command()
def estimate(
    given: Given,
    *,
    metrics: MetricNames = None,
    baseline: Baseline = None,
    judges: HowMany = None,
    replicates: HowOften = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate an experiment's judge calls and their cost. No judge is asked."""
    from touchstone.cli.local import experiment_running as running
    from touchstone.cli.local.inprocess import done_here
    from touchstone.cli.screens.experiment_screen import print_estimate

    found = asked_for(given, metrics, baseline, judges=judges, replicates=replicates)

    expected, judge = done_here(running.estimated(found))
    if as_json:
        print_json({**expected.model_dump(mode="json"), "judge": judge})
    else:
        print_estimate(expected, judge=judge, done=0)


@experiment.command()
def report(
    folder: Folder,
    *,
    form: Annotated[
        Literal["html", "md", "csv", "json"], typer.Option("--format", help="The format of the output.")
    ] = "md",
    items: Annotated[
        bool,
        typer.Option(
            "--items", help="With csv: print a row for each metric of each item. Default: a row for each metric."
        ),
    ] = False,
) -> None:
    """Print the report of an experiment. If the one in a folder is not finished: of the part that is done."""
    from touchstone.surfaces.experiments import report as reports
    from touchstone.surfaces.experiments.folder import read_saved

    require_extras("statistics")
    if items and form != "csv":
        raise InputError("Only --format csv has a table of items.", where="--items")
    if (its_id := _deployed(folder)) is not None:
        text = _deployed_items(its_id) if items else _deployed_report(its_id, form)
        (print_markdown if form == "md" else _print)(text)
        return
    kept = read_saved(folder)
    match form:
        case "html":
            _print(reports.report_html(kept.conclusion))
        case "md":
            print_markdown(reports.report_markdown(kept.conclusion))
        case "csv":
            _print(reports.report_items_csv(kept.results) if items else reports.report_csv(kept.conclusion))
        case "json":
            print_json(_document(kept.conclusion))


@experiment.command()
def pairs(
    folder: Folder,
    *,
    form: Annotated[Literal["html", "md", "json"], typer.Option("--format", help="The format of the output.")] = "md",
    only: Annotated[
        Literal["wins", "losses", "flips"] | None,
        typer.Option(
            "--only",
            help="Only pairs of one kind. wins: B is preferred; losses: A is preferred; flips: the order of the texts "
            "decided.",
        ),
    ] = None,
    language: Annotated[
        Literal["en", "zh"],
        typer.Option("--language", help="The language of headings and other words around the texts."),
    ] = "en",
) -> None:
    """Print both texts of each pair, with the differences marked.

    The prompts are shown in the same way, and what each variant took (calls, tokens, cost, time).
    """
    from touchstone.surfaces.experiments import report as reports
    from touchstone.surfaces.experiments.folder import read_saved

    require_extras("statistics")
    if (its_id := _deployed(folder)) is not None:
        if form != "html" or only is not None:
            raise InputError("The pairs of a deployment's experiment are read by --format html alone, without --only.")
        _print(_deployed_report(its_id, {"en": "sides", "zh": "sides_zh"}[language]))
        return
    kept = read_saved(folder)
    view = reports.side_by_side(kept.experiment, kept.results, only=only)
    match form:
        case "html":
            _print(reports.sides_html(view, kept.conclusion, language=language))
        case "md":
            print_markdown(reports.sides_markdown(view, kept.conclusion, language=language))
        case "json":
            _print(reports.sides_json(view, kept.conclusion))


def _deployed(folder: Path) -> str | None:
    """The id of a deployment's experiment. None if a folder is named."""
    return str(folder) if ULID.fullmatch(str(folder)) and not folder.exists() else None


def _deployed_report(its_id: str, form: str) -> str:
    with open_api() as api:
        return api.get_text("experiments", its_id, "report", media=MEDIA.get(form, MEDIA["html"]), format=form)


def _deployed_items(its_id: str) -> str:
    """The scores of every item, as CSV. Raises `ConflictError` if the experiment has no result."""
    view = fetch("experiments", its_id)
    if not view["items_url"]:
        raise ConflictError(f"The experiment has no result: its state is {view['state']}.")
    return fetch_file(view["items_url"]).decode()


def _texts(folder: Path, conclusion: "Conclusion") -> str:
    """The page with the pairs of a folder side by side. There may be no pairs yet."""
    from touchstone.surfaces.experiments.folder import ExperimentFolderRequest, results_in
    from touchstone.surfaces.experiments.report import side_by_side, sides_html

    asked = ExperimentFolderRequest.model_validate_json((folder / "experiment.json").read_bytes())
    return sides_html(side_by_side(asked.experiment, results_in(folder)), conclusion)


def asked_for(
    given: str, metrics: str | None, baseline: str | None, *, judges: HowMany, replicates: int | None
) -> "Experiment":
    """The experiment in a file or folder, with what the options change in it. Raises `InputError`."""
    from touchstone.cli.files.experiment_files import experiment_of
    from touchstone.cli.terminal.bars import metrics_named

    found = experiment_of(given, baseline=baseline)
    said = {
        "metrics": metrics_named(found.surface, metrics),
        "judges": judge_count(judges),
        "replicates": replicates,
    }
    return found.model_copy(update={name: value for name, value in said.items() if value is not None})


def _document(conclusion: "Conclusion") -> object:
    import json

    from touchstone.surfaces.experiments.report import report_json

    return json.loads(report_json(conclusion))


def _again(given: str, out: Path, options: Mapping[str, object]) -> str:
    """The command line that goes on with this experiment. An option that is True is written without a value."""
    said: Sequence[str] = [
        part
        for name, value in options.items()
        if value is not None and value is not False  # a limit of 0 is a value
        for part in ((name,) if value is True else (name, str(value)))
    ]
    return shlex.join(["touchstone", "experiment", "run", given, "--out", str(out), *said])


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
