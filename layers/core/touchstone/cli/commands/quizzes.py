"""Commands about quizzes for learners of Chinese: checking files of them, and making one."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from touchstone.cli.terminal.options import (
    AsJson,
    AskedModel,
    AskedProvider,
    CostFrom,
    CostTo,
    Cursor,
    FromDay,
    Limit,
    Local,
    Search,
    Sort,
    ToDay,
)

LOCAL_SECONDS = 30.0
WAIT_SECONDS = 60.0
"""A deployment's quiz is over after thirty, counted from when its work began."""

app = typer.Typer()
quiz = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(quiz, name="quiz", help="Quizzes for learners of Traditional Chinese: check yours, have one made.")


@quiz.command()
def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Quizzes as JSON (.jsonl: one a line), and folders of them.")
    ],
    *,
    ui_language: Annotated[
        str | None, typer.Option(metavar="TAG", help="The language in which questions must be put, as en or ja.")
    ] = None,
    curriculum: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The course, as JSON or CSV; needs --chapter.")
    ] = None,
    chapter: Annotated[str | None, typer.Option(metavar="ID", help="The chapter that the quizzes are about.")] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Correct in the files what has one right correction.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and change nothing.")] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings here as JUnit XML, for CI tools.")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings here as SARIF, for code hosts.")
    ] = None,
    form: Annotated[
        Literal["text", "github"],
        typer.Option("--format", help="How findings are listed: github marks them in a diff."),
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Check quizzes by every rule that needs no judge: no key, no deployment.

    A finding is FILE:LINE:COLUMN RULE, what is wrong and what to write instead. A rule that was not applied is named.
    Exit code 1 where anything is found, or left by --fix; 2 where a file cannot be read: all others are still checked.
    """
    from touchstone.cli.files.quiz_files import read_all
    from touchstone.cli.local import quiz_checking as checking
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.quiz_reports import sarif_run, suites
    from touchstone.cli.screens.sarif import write_sarif
    from touchstone.cli.terminal.places import check_place
    from touchstone.errors import InputError

    if diff and fix:
        raise InputError("Give --fix or --diff, not both: --diff changes nothing.", where="--diff")
    if diff and as_json:
        raise InputError("Give --diff or --json, not both.", where="--diff")
    if junit is not None:
        check_place(junit, where="--junit")
    if sarif is not None:
        check_place(sarif, where="--sarif")
    sought = checking.sought_of(ui_language, curriculum, chapter)
    with checking.not_collecting():
        outcome = checking.outcome_of(read_all(paths), sought, fix=fix)
        if diff:
            checking.print_differences(outcome, sought)
    checking.print_outcome(outcome, form=form, as_json=as_json, findings=not diff)
    if junit is not None:
        write_junit(junit, suites(outcome))
    if sarif is not None:
        write_sarif(sarif, sarif_run(outcome))
    raise typer.Exit(outcome.exit)


@quiz.command()
def generate(
    *,
    curriculum: Annotated[
        str, typer.Option(metavar="FILE", help="The course, as JSON or CSV; in a deployment also the id of one there.")
    ],
    chapter: Annotated[str, typer.Option(metavar="ID", help="The chapter to make it from.")],
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Whose weak points it dwells on, as JSON or CSV; in a deployment also an id."
        ),
    ] = None,
    learner_id: Annotated[
        str | None, typer.Option("--learner-id", metavar="ID", help="Which one, where the file has several.")
    ] = None,
    ui_language: Annotated[
        str | None, typer.Option(metavar="TAG", help="In which questions are put; else the learner's, else en.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, max=50, help="How many.")] = 10,
    kinds: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these, as single_choice,true_false; else whichever fit.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the quiz here; else it is printed.")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for a deployment's quiz.")] = True,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="How many seconds it may take: 30 here; to wait for a deployment, 60.")
    ] = None,
    use_cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Whether an earlier reply of a model may serve.")
    ] = True,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Have a quiz made from a chapter, checked and judged, and written again where it breaks rules, twice at most.

    The quiz goes to standard output or --out, what came of it to standard error. Exit code 1 where it still violates
    rules, 3 where no evaluator could be asked (unchecked) or nobody could write one. --local writes with the model of
    LLM_MODEL, else OpenAI's strong one, else the strong model at hand.
    """
    from touchstone.cli.local.quiz_making import QuizWanted, request_of
    from touchstone.cli.terminal.places import check_place

    if out is not None:
        check_place(out, where="--out")
    wanted = QuizWanted(
        curriculum=curriculum, chapter=chapter, learner=learner, learner_id=learner_id, ui_language=ui_language,
        questions=questions, kinds=kinds, use_cache=use_cache,
    )  # fmt: skip
    request, course = request_of(wanted, local=local)
    if local:
        from touchstone.cli.local.inprocess import said_aloud
        from touchstone.cli.local.quiz_making import made_here

        with said_aloud():
            view: Mapping[str, Any] = asyncio.run(
                made_here(request, course, seconds=LOCAL_SECONDS if timeout is None else timeout)
            )
    else:
        view = _made_there(
            request.model_dump(mode="json", exclude_none=True),
            wait=wait,
            seconds=WAIT_SECONDS if timeout is None else timeout,
        )
    _show(view, out=out, as_json=as_json)


@quiz.command("list")
def list_quizzes(
    *,
    status: Annotated[
        Literal["generating", "checking", "clean", "violations", "unchecked", "failed", "unfinished", "ended"] | None,
        typer.Option(help="Only quizzes with this status."),
    ] = None,
    search: Search = None,
    since: FromDay = None,
    until: ToDay = None,
    kind: Annotated[
        Literal["generate", "check"] | None, typer.Option(help="Only those that were made, or only those checked.")
    ] = None,
    curriculum: Annotated[str | None, typer.Option(help="Only of this curriculum, by its id.")] = None,
    chapter: Annotated[str | None, typer.Option(help="Only of this chapter, by its id.")] = None,
    language: Annotated[str | None, typer.Option(help="Only with questions in this language.")] = None,
    model: AskedModel = None,
    provider: AskedProvider = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your deployment's quizzes, made and checked, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.screens.quiz_views import QUIZZES

    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "kind": kind,
        "curriculum": curriculum,
        "chapter": chapter,
        "language": language,
        "model": model,
        "provider": provider,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found("quizzes", filters, QUIZZES, limit=limit, cursor=cursor, as_json=as_json)


@quiz.command()
def show(
    quiz_id: Annotated[str, typer.Argument(metavar="ID", help="The quiz's id.")],
    *,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the quiz here; else it is printed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a quiz of your deployment with what it still violates. Exit codes as of `touchstone quiz generate`."""
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.places import check_place

    if out is not None:
        check_place(out, where="--out")
    _show(fetch("quizzes", quiz_id), out=out, as_json=as_json)


def _made_there(body: Mapping[str, Any], *, wait: bool, seconds: float) -> Mapping[str, Any]:
    """The quiz of a deployment once it is over, or as it is after so many seconds."""
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.screens.quiz_views import is_over
    from touchstone.cli.terminal import waiting
    from touchstone.cli.terminal.screen import say

    with open_api() as api:
        view = api.post("quizzes", body=body)
        quiz_id = str(view.get("id"))
        if not wait:
            return view
        try:
            return waiting.awaited(view, lambda: api.get("quizzes", quiz_id), until=is_over, seconds=seconds)
        except KeyboardInterrupt:
            say(f"It goes on without you; see it with: touchstone quiz show {quiz_id}")
            raise


def _show(view: Mapping[str, Any], *, out: Path | None, as_json: bool) -> None:
    """Write or print the quiz, say what came of it, and leave with its exit code."""
    import json

    from touchstone.cli.screens.quiz_views import exit_of, plain, sentences
    from touchstone.cli.terminal.places import replace
    from touchstone.cli.terminal.screen import print_json, say

    quiz = view.get("quiz")
    if quiz is not None and out is not None:
        replace(out, [json.dumps(plain(quiz), ensure_ascii=False, indent=2).encode(), b"\n"])
    if as_json:
        print_json(view)
    elif quiz is not None and out is None:
        print_json(plain(quiz))
    for sentence in sentences(view):
        say(sentence)
    raise typer.Exit(exit_of(view))
