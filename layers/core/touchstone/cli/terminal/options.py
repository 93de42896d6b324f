"""Options that several commands share."""

from typing import Annotated, Literal

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for pipes.")]
Local = Annotated[
    bool,
    typer.Option(
        "--local",
        help="Work in this process, without a deployment: by checks, and by judges whose keys are in the environment.",
    ),
]
Expected = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="The answer key: what the answer should be. Give it again for others that are right too."
    ),
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="KIND=N",
        help="How far a number may lie from the key: relative=0.01, absolute=0.5 or significant_digits=3.",
    ),
]
Limit = Annotated[int, typer.Option(min=1, max=100, help="How many at most.")]
Cursor = Annotated[str | None, typer.Option(help="Where an earlier list ended, as it said.")]
Search = Annotated[str | None, typer.Option(help="Words of which each stands in it, whatever their case.")]
FromDay = Annotated[str | None, typer.Option("--from", help="The first day on which they arrived (UTC).")]
ToDay = Annotated[str | None, typer.Option("--to", help="The last day on which they arrived (UTC).")]
AskedModel = Annotated[str | None, typer.Option("--model", help="Only where this model was asked.")]
AskedProvider = Annotated[str | None, typer.Option("--provider", help="Only where a model of this provider was asked.")]
CostFrom = Annotated[float | None, typer.Option(min=0, help="What they cost at least, in US dollars.")]
CostTo = Annotated[float | None, typer.Option(min=0, help="What they cost at most, in US dollars.")]
Sort = Annotated[Literal["newest", "oldest"], typer.Option(help="Which come first.")]
Days = Annotated[int, typer.Option(min=1, max=90, help="How many days back.")]
MetricJudgesOption = Annotated[
    int,
    typer.Option(
        "--judges",
        min=1,
        max=3,
        help="How many judges give each label: of 2 or 3, each of another provider, more than half must agree on a "
        "class; of scores the median counts.",
    ),
]
GateJudgesOption = Annotated[
    Literal["1", "2", "3", "until_sure"] | None,
    typer.Option(
        "--judges",
        help="How many judges check the acceptance criteria: of 2 or 3, each of another provider, more than half must "
        "agree on a criterion; until_sure asks one after the other until one is sure enough. One if nothing is said.",
    ),
]
ScoringJudgesOption = Annotated[
    int | None,
    typer.Option(
        "--scoring-judges",
        min=1,
        max=3,
        help="How many judges score: of 2 or 3, each of another provider, the median of each dimension counts. One if "
        "nothing is said.",
    ),
]
