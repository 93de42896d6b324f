"""Commands about quizzes for learners of Chinese: check files of quizzes, make a quiz, list and show those made."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from touchstone.cli.commands.listing import SEARCHED, Columns, listing, only
from touchstone.cli.deployment.api import awaited, fetch, open_api
from touchstone.cli.screens.quiz_views import QUIZZES, exit_of, is_over, plain, sentences
from touchstone.cli.terminal import options
from touchstone.cli.terminal.places import check_place, write_json
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.words import View
from touchstone.errors import InputError

LOCAL_SECONDS = 30.0
WAIT_SECONDS = 60.0
"""How long to wait for a quiz of a deployment. Its work takes thirty seconds at most, but it may begin later."""

quiz = options.group("quiz", "Check or make quizzes for learners of Traditional Chinese.")

QuizOut = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the quiz into this file. Default: it is printed.")
]


@quiz.command()
def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            help="Files with quizzes as JSON (.jsonl: one quiz on each line), or folders of such files.",
        ),
    ],
    *,
    ui_language: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="The language in which the questions must be written, for example en or ja."),
    ] = None,
    curriculum: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the course, as JSON or CSV. Needs --chapter.")
    ] = None,
    chapter: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The id of the chapter that the quizzes are about. Needs --curriculum."),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Correct the files where there is exactly one right correction.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change. No file is changed.")] = False,
    junit: Annotated[Path | None, options.junit("the findings")] = None,
    sarif: options.Sarif = None,
    form: Annotated[
        Literal["text", "github"],
        typer.Option(
            "--format", help="The format of the findings. github: annotations, which GitHub shows in the diff."
        ),
    ] = "text",
    as_json: options.AsJson = False,
) -> None:
    """Check quizzes by all rules that need no judge. Needs no key and no deployment.

    A finding is printed as FILE:LINE:COLUMN RULE, with what is wrong and what to write instead. Rules that were not
    applied are named.

    Exit code 0: no findings; 1: there are findings, or --fix left some; 2: a file cannot be read or written (all other
    files are still checked); 3: no findings, but the tables of script and pinyin are not installed.
    """
    from touchstone.cli.files.quiz_files import read_all
    from touchstone.cli.local import quiz_checking as checking
    from touchstone.cli.screens.junit import write_junit
    from touchstone.cli.screens.quiz_reports import sarif_run, suites
    from touchstone.cli.screens.sarif import write_sarif

    if diff and fix:
        raise InputError("Give --fix or --diff, not both: --diff changes nothing.", where="--diff")
    if diff and as_json:
        raise InputError("Give --diff or --json, not both.", where="--diff")
    check_place(junit, where="--junit", read=paths)
    check_place(sarif, where="--sarif", read=paths)
    sought = checking.requirements_of(ui_language, curriculum, chapter)
    with checking.not_collecting():
        outcome = checking.outcome_of(read_all(paths), sought, fix=fix)
        if diff:
            checking.print_differences(outcome, sought)
    checking.print_outcome(outcome, form=form, as_json=as_json, findings=not diff)
    write_junit(junit, suites(outcome))
    write_sarif(sarif, sarif_run(outcome))
    raise typer.Exit(outcome.exit)


@quiz.command()
def generate(
    *,
    curriculum: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A file with the course, as JSON or CSV; without --local also the id of a course in the deployment.",
        ),
    ],
    chapter: Annotated[str, typer.Option(metavar="ID", help="The id of the chapter that the quiz is about.")],
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file with the learner, as JSON or CSV; without --local also an id. The quiz practises the "
            "learner's weak points.",
        ),
    ] = None,
    learner_id: Annotated[
        str | None, typer.Option("--learner-id", metavar="ID", help="The id of the learner, if the file has several.")
    ] = None,
    ui_language: Annotated[
        str | None, typer.Option(metavar="TAG", help="The language of the questions. Default: the learner's, else en.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, max=50, help="The number of questions.")] = 10,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Only these kinds of questions, for example single_choice,true_false. Default: the kinds that fit.",
        ),
    ] = None,
    out: QuizOut = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="In a deployment: whether to wait until the quiz is made.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="With --local: the longest time to make the quiz, in seconds (default 30). Else: the longest time to "
            "wait (default 60).",
        ),
    ] = None,
    use_cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Whether a stored reply of a model may be used again.")
    ] = True,
    local: options.Local = False,
    as_json: options.AsJson = False,
) -> None:
    """Have a quiz made from a chapter of a course, checked and judged.

    If the quiz breaks rules, it is written again, twice at most. The quiz goes to standard output or to --out; the
    outcome goes to standard error. With --local the model that LLM_MODEL names writes it; default: OpenAI's strong
    model, else a strong model that has a key.

    Exit code 0: the quiz is clean; 1: it still breaks rules; 3: it is unchecked (no evaluator could be asked), or
    nobody could write a quiz.
    """
    from touchstone.cli.local.inprocess import done_here
    from touchstone.cli.local.quiz_making import made_here, request_of

    check_place(out, where="--out", read=[curriculum, *([] if learner is None else [learner])])
    wanted = None if kinds is None else [kind.strip() for kind in kinds.split(",")]
    request, course = request_of(
        curriculum, chapter, learner=learner, learner_id=learner_id, kinds=wanted, local=local,
        questions=questions, ui_language=ui_language, use_cache=use_cache
    )  # fmt: skip
    if local:
        seconds = LOCAL_SECONDS if timeout is None else timeout
        view: View = done_here(made_here(request, course, seconds=seconds))
    else:
        seconds = WAIT_SECONDS if timeout is None else timeout
        with open_api(or_local=True) as api:
            view = api.post("quizzes", body=request.model_dump(mode="json", exclude_none=True))
            if wait:
                view = awaited(api, "quizzes", view, until=is_over, seconds=seconds, shown_by="touchstone quiz show")
    _show(view, out=out, as_json=as_json)


@quiz.command("list")
@listing(
    "quizzes",
    begun_by="touchstone quiz generate",
    filters={
        "status": only(
            "Only quizzes with this status.", "generating|checking|clean|violations|unchecked|failed|unfinished|ended"
        ),
        **SEARCHED,
        "kind": only("generate: only quizzes that were made; check: only quizzes that were checked.", "generate|check"),
        "curriculum": only("Only quizzes about the course with this id."),
        "chapter": only("Only quizzes about the chapter with this id."),
        "language": only("Only quizzes with questions in this language."),
        "model": options.AskedModel,
        "provider": options.AskedProvider,
    },
)
def list_quizzes() -> Columns:
    """List your deployment's quizzes, made or checked. Newest first; with filters: only those that match all."""
    return QUIZZES


@quiz.command()
def show(
    quiz_id: Annotated[str, typer.Argument(metavar="ID", help="The quiz's id.")],
    *,
    out: QuizOut = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a quiz of your deployment, and the rules it still breaks.

    The exit codes are those of `touchstone quiz generate`.
    """
    check_place(out, where="--out")
    _show(fetch("quizzes", quiz_id), out=out, as_json=as_json)


def _show(view: View, *, out: Path | None, as_json: bool) -> None:
    """Write or print the quiz, say its outcome on standard error, and leave with its exit code."""
    quiz = view.get("quiz")
    if quiz is not None and out is not None:
        write_json(out, plain(quiz))
    if as_json:
        print_json(view)
    elif quiz is not None and out is None:
        print_json(plain(quiz))
    for sentence in sentences(view):
        say(sentence)
    raise typer.Exit(exit_of(view))
