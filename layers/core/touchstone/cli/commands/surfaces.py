"""Commands that measure a quiz, a summary or a deck of flashcards, without a deployment."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from touchstone.cli.terminal.options import AsJson, MetricJudgesOption

if TYPE_CHECKING:
    from touchstone.cli.terminal.bars import Bars
    from touchstone.judges.base import PanelSize
    from touchstone.material import Source
    from touchstone.surfaces.catalogue import Material
    from touchstone.surfaces.evaluation import LeftOut, Report
    from touchstone.surfaces.model import MetricName, Surface

app = typer.Typer()
evaluate = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(
    evaluate, name="evaluate", help="Measure a quiz, a summary or a deck of flashcards, without a deployment."
)

SECONDS = 600.0

LanguageName = Literal["en", "zh"]
SourceFile = Annotated[
    str | None,
    typer.Option(
        "--source", metavar="FILE", help="What it was made from: Markdown or text, or JSON with pillars; - for stdin."
    ),
]
MetricNames = Annotated[
    str | None, typer.Option("--metrics", metavar="A,B", help="Only these, as clarity,item_flaws; else all.")
]
Told = Annotated[LanguageName | None, typer.Option(help="Of the judge's reasons; else that of the material.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCORE",
        help="Exit with code 1 where a score (0-100) is below this; METRIC=SCORE for one metric. May be repeated.",
    ),
]
JunitFile = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the outcomes here as JUnit XML, for CI tools.")
]
OtlpFile = Annotated[
    Path | None,
    typer.Option("--otlp", metavar="FILE", help="Write the results here as OpenTelemetry events, in OTLP's JSON."),
]
Timeout = Annotated[float, typer.Option(min=0, help="How many seconds it may take at most.")]
UseCache = Annotated[bool, typer.Option("--cache/--no-cache", help="Whether an earlier reply of a judge may serve.")]


@evaluate.command()
def quiz(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The quiz: JSON with questions, or - for standard input.")
    ],
    *,
    source: SourceFile = None,
    metrics: MetricNames = None,
    language: Told = None,
    fail_under: FailUnder = None,
    junit: JunitFile = None,
    otlp: OtlpFile = None,
    timeout: Timeout = SECONDS,
    use_cache: UseCache = True,
    judges: MetricJudgesOption = 1,
    as_json: AsJson = False,
) -> None:
    """Measure a quiz: whether its keys are right, its distractors good, its questions clear, the source covered.

    Without a key the metrics that ask no judge are measured, and the others are named. Exit code 1 where a score is
    below --fail-under, 3 where nobody could judge what was asked for: an unscored metric is never a pass.
    """
    _measure(
        _Asked(
            surface="quiz", file=file, source=source, metrics=metrics, language=language,
            fail_under=fail_under or [], junit=junit, otlp=otlp, seconds=timeout, use_cache=use_cache,
            judges=judges, as_json=as_json,
        )
    )  # fmt: skip


@evaluate.command()
def summary(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The summary: Markdown, text or JSON, or - for standard input.")
    ],
    *,
    source: SourceFile = None,
    metrics: MetricNames = None,
    language: Told = None,
    fail_under: FailUnder = None,
    junit: JunitFile = None,
    otlp: OtlpFile = None,
    timeout: Timeout = SECONDS,
    use_cache: UseCache = True,
    judges: MetricJudgesOption = 1,
    as_json: AsJson = False,
) -> None:
    """Measure a summary: whether the source supports it and its topics are there, how coherent and dense it is.

    Every metric of summaries asks a judge, so without a key nothing is measured. Exit codes are those of
    `touchstone evaluate quiz`.
    """
    _measure(
        _Asked(
            surface="summary", file=file, source=source, metrics=metrics, language=language,
            fail_under=fail_under or [], junit=junit, otlp=otlp, seconds=timeout, use_cache=use_cache,
            judges=judges, as_json=as_json,
        )
    )  # fmt: skip


@evaluate.command()
def flashcards(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The cards: JSON or CSV (front,back), or - for standard input.")
    ],
    *,
    source: SourceFile = None,
    metrics: MetricNames = None,
    language: Told = None,
    fail_under: FailUnder = None,
    junit: JunitFile = None,
    otlp: OtlpFile = None,
    timeout: Timeout = SECONDS,
    use_cache: UseCache = True,
    judges: MetricJudgesOption = 1,
    as_json: AsJson = False,
) -> None:
    """Measure a deck of flashcards: right, one fact each, clear, covering the source, without duplicates or leaks.

    Without a key the metrics that ask no judge are measured. Exit codes are those of `touchstone evaluate quiz`.
    """
    _measure(
        _Asked(
            surface="flashcards", file=file, source=source, metrics=metrics, language=language,
            fail_under=fail_under or [], junit=junit, otlp=otlp, seconds=timeout, use_cache=use_cache,
            judges=judges, as_json=as_json,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The command line, whatever the surface."""

    surface: "Surface"
    file: str
    source: str | None
    metrics: str | None
    language: LanguageName | None
    fail_under: Sequence[str]
    junit: Path | None
    otlp: Path | None
    seconds: float
    use_cache: bool
    judges: int
    as_json: bool


def _measure(asked: _Asked) -> None:
    from touchstone.cli.exports.otlp import write_otlp
    from touchstone.cli.files.material_files import READERS, check_apart, source_of
    from touchstone.cli.files.requests import name_of
    from touchstone.cli.local.inprocess import said_aloud
    from touchstone.cli.screens import measured_screen as screen
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.terminal.bars import bars_of, exit_of, outcomes_of
    from touchstone.cli.terminal.places import check_place
    from touchstone.cli.terminal.screen import print_json, say
    from touchstone.clock import system_clock

    check_apart(asked.file, asked.source)
    if asked.junit is not None:
        check_place(asked.junit, where="--junit")
    if asked.otlp is not None:
        check_place(asked.otlp, where="--otlp")
    bars = bars_of(asked.surface, metrics=asked.metrics, fail_under=asked.fail_under)
    material = READERS[asked.surface](asked.file)
    source = None if asked.source is None else source_of(asked.source)
    with said_aloud():
        report, remedy = asyncio.run(_measured(asked, material, source, bars))
    outcomes = outcomes_of(report, bars)
    if asked.as_json:
        print_json(screen.document(report, outcomes))
    else:
        screen.print_report(report, outcomes, material)
    if "no_judge" in report.left_out.values():
        say(f"To have the metrics judged that need a judge: {remedy}.")
    if asked.junit is not None:
        write_junit(asked.junit, [screen.suite_of(report, outcomes, material, name=name_of(asked.file))])
    if asked.otlp is not None:
        write_otlp(asked.otlp, report, outcomes, name=name_of(asked.file), at=system_clock())
    raise typer.Exit(exit_of(outcomes.values()))


async def _measured(asked: _Asked, material: "Material", source: "Source | None", bars: "Bars") -> "tuple[Report, str]":
    """The report, and what to do where no judge can be asked, as the end of a sentence."""
    from touchstone.cli.local.inprocess import opened
    from touchstone.cli.local.watched import watched
    from touchstone.cli.terminal.progress import noted_progress
    from touchstone.surfaces import evaluation
    from touchstone.surfaces.model import TIER
    from touchstone.usage import dollars

    doors: dict[Surface, Callable[..., Awaitable[Report]]] = {
        "quiz": evaluation.evaluate_quiz,
        "summary": evaluation.evaluate_summary,
        "flashcards": evaluation.evaluate_flashcards,
    }
    async with opened() as judges:
        able = judges.several(TIER, asked.judges)
        if not able:
            return await _unjudged(asked, material, source, bars, doors[asked.surface]), judges.remedy
        with noted_progress("Answers of the judge" if asked.judges == 1 else "Answers of the judges") as show:
            report = await doors[asked.surface](
                material,
                source,
                metrics=bars.metrics,
                judge=watched(able, lambda ended, *cost: show(ended, None, dollars(*cost))),
                judges=cast("PanelSize", asked.judges),
                seconds=asked.seconds,
                language=asked.language,
                use_cache=asked.use_cache,
            )
        return report, judges.remedy


async def _unjudged(
    asked: _Asked,
    material: "Material",
    source: "Source | None",
    bars: "Bars",
    measure: "Callable[..., Awaitable[Report]]",
) -> "Report":
    """The report where there is no judge: what needs none is measured, and all else that was wanted is left out."""
    from touchstone.surfaces.catalogue import CATALOGUE, metrics_of, text_of
    from touchstone.surfaces.evaluation import Report
    from touchstone.text.language import language_of

    wanted = [CATALOGUE[name] for name in bars.metrics or metrics_of(asked.surface)]
    able = [one.name for one in wanted if not one.judged]
    if able:
        report = await measure(material, source, metrics=able, seconds=asked.seconds, language=asked.language)
    else:
        told = asked.language or language_of(text_of(material))
        report = Report(surface=asked.surface, language=told, results={}, left_out={})
    left_out: dict[MetricName, LeftOut] = {
        one.name: "no_source" if one.lacks_source(material, source) else "no_judge"
        for one in wanted
        if one.name not in report.results
    }
    return report.model_copy(update={"left_out": left_out})
