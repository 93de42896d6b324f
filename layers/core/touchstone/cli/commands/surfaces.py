"""Commands that measure a quiz, a summary or a deck of flashcards, without a deployment."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from touchstone.cli.files.requests import check_apart, judge_count, name_of
from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place, replace
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.clock import system_clock
from touchstone.usage import dollars

if TYPE_CHECKING:
    from touchstone.cli.terminal.bars import Bars
    from touchstone.judges.base import JudgeCount
    from touchstone.material import Source
    from touchstone.surfaces.catalogue import Material
    from touchstone.surfaces.evaluation import LeftOut, Report
    from touchstone.surfaces.names import MetricName, Surface

evaluate = options.group("evaluate", "Measure a quiz, a summary or flashcards, without a deployment.")

SECONDS = 600.0

SourceFile = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="The source of the material: a file with Markdown, text, or JSON with pillars; - for standard input.",
    ),
]
MetricNames = Annotated[
    str | None,
    typer.Option(
        "--metrics", metavar="A,B", help="Measure only these metrics, for example clarity,item_flaws. Default: all."
    ),
]
Told = Annotated[
    Literal["en", "zh"] | None,
    typer.Option(help="The language of the judge's reasons. Default: the language of the material."),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCORE",
        help="Exit with code 1 if a score (0-100) is below this. METRIC=SCORE holds for one metric. May be repeated.",
    ),
]
OtlpFile = Annotated[
    Path | None,
    typer.Option(
        "--otlp", metavar="FILE", help="Write the results into this file as OpenTelemetry events, in OTLP's JSON."
    ),
]
Timeout = Annotated[float, typer.Option(min=0, help="The longest time that the measuring may take, in seconds.")]


def _add_command(surface: "Surface", *, file_help: str, told: str) -> None:
    """Add the command that measures the material of one surface. `told` is its help."""

    @evaluate.command(surface, help=told)
    def measure(
        file: Annotated[str, typer.Argument(metavar="FILE", help=file_help)],
        *,
        source: SourceFile = None,
        metrics: MetricNames = None,
        language: Told = None,
        fail_under: FailUnder = None,
        junit: Annotated[Path | None, options.junit("the outcomes")] = None,
        otlp: OtlpFile = None,
        timeout: Timeout = SECONDS,
        use_cache: options.UseCache = True,
        judges: options.MetricJudges = "1",
        as_json: options.AsJson = False,
    ) -> None:
        from touchstone.cli.exports.otlp import otlp as otlp_of
        from touchstone.cli.files.material_files import READERS, source_of
        from touchstone.cli.local.inprocess import done_here
        from touchstone.cli.screens import measured_screen as screen
        from touchstone.cli.screens.junit import write_junit
        from touchstone.cli.terminal.bars import bars_of, exit_of, outcomes_of

        check_apart(file, source, option="--source")
        read = [file] if source is None else [file, source]
        check_place(junit, where="--junit", read=read)
        check_place(otlp, where="--otlp", read=read)
        bars = bars_of(surface, metrics=metrics, fail_under=fail_under or ())
        material = READERS[surface](file)
        document = None if source is None else source_of(source)
        wanted = cast("JudgeCount", judge_count(judges) or 1)
        measuring = _measured(
            surface, material, document, bars, judges=wanted, seconds=timeout, language=language, use_cache=use_cache
        )
        report, remedy = done_here(measuring)
        outcomes = outcomes_of(report, bars)
        if as_json:
            print_json(screen.document(report, outcomes))
        else:
            screen.print_report(report, outcomes, material)
        if "no_judge" in report.left_out.values():
            say(f"To have the metrics judged that need a judge: {remedy}.")
        if junit is not None:
            write_junit(junit, [screen.suite_of(report, outcomes, material, name=name_of(file))])
        if otlp is not None:
            replace(otlp, [otlp_of(report, outcomes, name=name_of(file), at=system_clock())])
        raise typer.Exit(exit_of(outcomes.values()))


_add_command(
    "quiz",
    file_help="A file with the quiz as JSON with questions, or - for standard input.",
    told="""Measure a quiz: keys, distractors, clarity, flaws, coverage.

    It says whether the keys are right, the distractors good, the questions clear and free of flaws in their form, and
    the source covered. Without a key for a judge only the metrics that need none are measured; the others are named.

    Exit code 0: done, and no score is below --fail-under; 1: a score is below; 3: nobody could judge a metric that was
    asked for (an unscored metric never passes).
    """,
)
_add_command(
    "summary",
    file_help="A file with the summary as Markdown, text or JSON, or - for standard input.",
    told="""Measure a summary: faithfulness, coverage, coherence, density.

    It says whether the source supports the summary, whether the topics of the source are there, how coherent it is, and
    how dense in information. All these metrics need a judge, so without a key nothing is measured.

    The exit codes are those of `touchstone evaluate quiz`.
    """,
)
_add_command(
    "flashcards",
    file_help="A file with the cards as JSON or CSV (front,back), or - for standard input.",
    told="""Measure flashcards: correctness, atomicity, clarity, coverage.

    It says whether the backs are right, each card asks one fact, the cards are clear and cover the source, and whether
    there are duplicates or fronts that give the answer away. Without a key for a judge only the metrics that need none
    are measured.

    The exit codes are those of `touchstone evaluate quiz`.
    """,
)


async def _measured(
    surface: "Surface",
    material: "Material",
    source: "Source | None",
    bars: "Bars",
    *,
    judges: "JudgeCount",
    seconds: float,
    language: Literal["en", "zh"] | None,
    use_cache: bool,
) -> "tuple[Report, str]":
    """The report, and what to do if no judge can be asked, as the end of a sentence.

    If there is no judge, the metrics that need none are measured, and the other wanted ones are left out.
    """
    from touchstone.cli.local.inprocess import opened, watched
    from touchstone.judges.base import most_judges
    from touchstone.surfaces import evaluation
    from touchstone.surfaces.catalogue import CATALOGUE, metrics_of, text_of
    from touchstone.surfaces.model import TIER
    from touchstone.text.language import language_of

    doors: dict[Surface, Callable[..., Awaitable[Report]]] = {
        "quiz": evaluation.evaluate_quiz,
        "summary": evaluation.evaluate_summary,
        "flashcards": evaluation.evaluate_flashcards,
    }
    measure = partial(doors[surface], material, source, seconds=seconds, language=language)
    async with opened() as keyed:
        if able := keyed.distinct(TIER, most_judges(judges)):
            with noted_progress("Answers of the judge" if judges == 1 else "Answers of the judges") as show:
                asked = watched(able, lambda ended, *cost: show(ended, None, dollars(*cost)))
                report = await measure(metrics=bars.metrics, judge=asked, judges=judges, use_cache=use_cache)
            return report, keyed.remedy
        wanted = [CATALOGUE[name] for name in bars.metrics or metrics_of(surface)]
        if unjudged := [one.name for one in wanted if not one.judged]:
            report = await measure(metrics=unjudged)
        else:
            told = language or language_of(text_of(material))
            report = evaluation.Report(surface=surface, language=told, results={}, left_out={})
        left_out: dict[MetricName, LeftOut] = {
            one.name: "no_source" if one.lacks_source(material, source) else "no_judge"
            for one in wanted
            if one.name not in report.results
        }
        return report.model_copy(update={"left_out": left_out}), keyed.remedy
