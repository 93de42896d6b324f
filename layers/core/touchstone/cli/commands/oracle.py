"""Commands that judge submissions in this process, without a deployment."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.files.requests import check_apart, judge_count
from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place
from touchstone.cli.terminal.screen import print_json
from touchstone.clock import Deadline

if TYPE_CHECKING:
    from touchstone.oracle.whole import Judgement

oracle = options.group("oracle", "Judge submissions to a task, without a deployment.")


@oracle.command()
def score(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file with the submission, as text or Markdown, or - for standard input."
        ),
    ],
    *,
    task_file: Annotated[
        str,
        typer.Option(
            "--task",
            metavar="FILE",
            help="A file with the task as JSON: description and acceptance_criteria; optionally language, dimensions, "
            "judges and scoring_judges.",
        ),
    ],
    provider: Annotated[
        str | None,
        typer.Option(
            help="The provider that judges: anthropic, openai or another one that `touchstone models` lists. Default: "
            "see above."
        ),
    ] = None,
    dimensions_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the task and its dimensions into this file, so that other submissions can be judged by the "
            "same dimensions.",
        ),
    ] = None,
    judges: options.GateJudges = None,
    scoring_judges: options.ScoringJudges = None,
    fail_under: Annotated[
        float | None, typer.Option(min=0, max=100, help="Exit with code 1 if the total score is below this.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="The longest time that the judging may take, in seconds.")
    ] = 600.0,
    use_cache: options.UseCache = True,
    as_json: options.AsJson = False,
) -> None:
    """Check a submission against a task's criteria. If it meets them all, score it.

    ORACLE_LLM_PROVIDER names the provider that judges (default: anthropic, if it has a key). ORACLE_LLM_MODEL and
    ORACLE_LLM_BASE_URL may set its model and address.

    Exit code 0: scored; 1: a criterion is not met, or the total is below --fail-under; 3: nobody could judge.
    """
    from touchstone.cli.files.task_files import submission_of, task_of, write_task
    from touchstone.cli.local.inprocess import done_here, opened
    from touchstone.cli.screens.judgements import document, exit_of, print_judgement
    from touchstone.judges import load_registry
    from touchstone.oracle.choice import choose, open_judge, open_panel
    from touchstone.oracle.whole import judge_submission

    check_apart(source, task_file, option="--task")
    check_place(dimensions_out, where="--dimensions-out", read=[source])
    task, text = task_of(task_file), submission_of(source)
    chosen = choose(load_registry(), provider=provider)

    async def whole() -> "Judgement":
        async with opened(registry=chosen.registry) as opened_judges:
            return await judge_submission(
                task,
                text,
                judge=open_judge(opened_judges, chosen),
                gate_judges=open_panel(opened_judges, chosen, judge_count(judges) or task.judges),
                scoring_judges=open_panel(opened_judges, chosen, scoring_judges or task.scoring_judges),
                deadline=Deadline.after(timeout),
                dimensions=task.dimensions,
                use_cache=use_cache,
            )

    judgement = done_here(whole())
    if as_json:
        print_json(document(judgement))
    else:
        print_judgement(judgement, text, fail_under=fail_under)
    if dimensions_out is not None and judgement.dimensions is not None:
        write_task(dimensions_out, task, judgement.dimensions)
    raise typer.Exit(exit_of(judgement, fail_under=fail_under))
