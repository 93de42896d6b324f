"""Options that several commands share, and the groups in which commands are."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def group(name: str, about: str, **more: Any) -> typer.Typer:
    """A group of commands: its name, and its help. `more` is what else Typer is told of it."""
    # Plain help needs no Rich, and reads the same in the guide.
    return typer.Typer(name=name, help=about, no_args_is_help=True, rich_markup_mode=None, **more)


AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Local = Annotated[
    bool,
    typer.Option(
        "--local",
        help="Work in this process, without a deployment. Checks decide, and judges whose keys are in the environment.",
    ),
]
Expected = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="The answer key: the right answer. Repeat the option for other texts that are right too."
    ),
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="KIND=N",
        help="How much a number may differ from the key: relative=0.01, absolute=0.5 or significant_digits=3.",
    ),
]
Limit = Annotated[int, typer.Option(min=1, max=100, help="The largest number of entries to show.")]
Cursor = Annotated[
    str | None, typer.Option(help="Show the entries after an earlier list: the cursor that it printed at its end.")
]
Search = Annotated[str | None, typer.Option(help="Only records that contain all these words, in upper or lower case.")]
FromDay = Annotated[str | None, typer.Option("--from", help="Only records that arrived on this day or later (UTC).")]
ToDay = Annotated[str | None, typer.Option("--to", help="Only records that arrived on this day or earlier (UTC).")]
AskedModel = Annotated[str | None, typer.Option("--model", help="Only records for which this model was asked.")]
AskedProvider = Annotated[
    str | None, typer.Option("--provider", help="Only records for which a model of this provider was asked.")
]
CostFrom = Annotated[float | None, typer.Option(min=0, help="Only records that cost at least this many US dollars.")]
CostTo = Annotated[float | None, typer.Option(min=0, help="Only records that cost at most this many US dollars.")]
Sort = Annotated[Literal["newest", "oldest"], typer.Option(help="Which records come first.")]
WaitSeconds = Annotated[float, typer.Option(min=0, help="The longest time to wait, in seconds.")]
Days = Annotated[int, typer.Option(min=1, max=90, help="The number of days to show, back from today.")]
MetricJudges = Annotated[
    Literal["1", "2", "3", "until_sure"],
    typer.Option(
        "--judges",
        help="How many judges label each item. 2 or 3: each is of another provider; more than half must agree on a "
        "class, and the median of scores counts. until_sure: one judge after the other, until one is sure of "
        "a class.",
    ),
]
GateJudges = Annotated[
    Literal["1", "2", "3", "until_sure"] | None,
    typer.Option(
        "--judges",
        help="How many judges check the acceptance criteria. 2 or 3: each is of another provider, and more than "
        "half must agree on a criterion. until_sure: one judge after the other, until one is sure enough. "
        "Default: what the task says, else 1.",
    ),
]
ScoringJudges = Annotated[
    int | None,
    typer.Option(
        "--scoring-judges",
        min=1,
        max=3,
        help="How many judges score. 2 or 3: each is of another provider, and the median of each dimension counts. "
        "Default: what the task says, else 1.",
    ),
]


def junit(what: str) -> Any:
    """The option for a file for CI tools. `what` it holds is a part of its help."""
    return typer.Option("--junit", metavar="FILE", help=f"Write {what} into this file as JUnit XML, for CI tools.")


Sarif = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", help="Write the findings into this file as SARIF, for code hosts."),
]
OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")]
UseCache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Whether a stored reply of a judge may be used again.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Spend money without asking first.")]
FailIfWorse = Annotated[
    bool, typer.Option("--fail-if-worse", help="Exit with code 1 if the baseline is better in any respect.")
]
PayTwice = Annotated[
    bool,
    typer.Option(
        "--pay-twice",
        help="Also ask again what is already in a provider's batch. The batch is paid for, so this is paid twice.",
    ),
]
