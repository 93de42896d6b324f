"""Commands about answers: verify an answer, solve a problem, list and read answers, ask for a deep evaluation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from touchstone.cli.commands.listing import DATED, Columns, listing, only
from touchstone.cli.deployment.api import awaited, fetch, open_api, uploaded
from touchstone.cli.files.requests import image_bytes, inline, judge_count, key_options, solve_request, verify_request
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import print_json
from touchstone.cli.terminal.words import View
from touchstone.extras import require_extras

if TYPE_CHECKING:
    from touchstone.answers.model import SolveRequest
    from touchstone.cli.deployment.client import ApiClient

INLINE_IMAGE_BYTES = 1_000_000
"""The largest picture that is sent inside a request, as base64. A larger one would fill it and is uploaded first."""
IMAGE_TYPE = "application/octet-stream"
SHOWN_BY = "touchstone answers show"

app = typer.Typer()
listed = options.group("answers", "List, read and evaluate answers.")
app.add_typer(listed)

Subject = Annotated[str | None, typer.Option(help="The subject, for the statistics and for routing.")]
Language = Annotated[
    Literal["zh", "en"] | None, typer.Option(help="The problem's language. Default: recognised from the text.")
]
Cached = Annotated[
    bool | None,
    typer.Option("--cache/--no-cache", help="Whether a stored reply of a judge may be used again. Default: yes."),
]
Deep = Annotated[
    bool | None,
    typer.Option(
        "--deep-evaluation/--no-deep-evaluation",
        help="Whether to evaluate the answer in five dimensions too. Default: yes for `solve` in a deployment, "
        "else no.",
    ),
]
JudgeSeconds = Annotated[
    float | None,
    typer.Option(
        help="How many seconds a judge has for a verification. Default: 60, or TOUCHSTONE_VERIFY_SECONDS. For "
        "`verify` in a deployment: 5 at most."
    ),
]
HowManyJudges = Annotated[
    Literal["1", "2", "3", "until_sure"] | None,
    typer.Option(
        "--judges",
        help="How many judges are asked if no check decides. 1 (the default): a second one only if the first is "
        "not sure enough. 2 or 3: more than half must agree. until_sure: one after the other, until one is "
        "sure.",
    ),
]
AnswerId = Annotated[str, typer.Argument(metavar="ID", help="The answer's id.")]


@app.command()
def verify(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A file with one request as JSON, or - for standard input.")
    ] = None,
    *,
    problem: Annotated[str | None, typer.Option(help="The text of the problem.")] = None,
    answer: Annotated[str | None, typer.Option(help="The answer to verify.")] = None,
    steps: Annotated[str | None, typer.Option(help="The steps of the solution, or a summary of them.")] = None,
    expected: options.Expected = None,
    tolerance: options.Tolerance = None,
    subject: Subject = None,
    difficulty: Annotated[
        Literal["easy", "medium", "hard"] | None, typer.Option(help="The difficulty, for the statistics.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that gave the answer, for the statistics.")] = None,
    language: Language = None,
    use_cache: Cached = None,
    deep_evaluation: Deep = None,
    seconds: JudgeSeconds = None,
    judges: HowManyJudges = None,
    local: options.Local = False,
    as_json: options.AsJson = False,
) -> None:
    """Verify an answer that you already have, and print the verdict.

    Your answer key decides first, then a proof if there is one, else a judge. Give the request as options or as FILE.

    Exit code 0: verified; 1: caution; 3: unverified, nobody could decide.
    """
    given: dict[str, Any] = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "subject": subject,
        "difficulty": difficulty,
    }
    given |= {"model": model, "language": language, "use_cache": use_cache, "deep_evaluation": deep_evaluation}
    given |= {"verify_seconds": seconds, "judges": judge_count(judges)}
    given |= key_options(expected, tolerance)
    request = verify_request(source, given)
    if local:
        require_extras("checks")
        from touchstone.cli.local import inprocess

        _show(inprocess.answer(request), as_json=as_json)
    else:
        with open_api(or_local=True) as api:
            view = api.post("verifications", body=request.model_dump(mode="json"))
        _show(view, as_json=as_json)


@app.command()
def solve(
    *,
    problem: Annotated[str | None, typer.Option(help="The text of the problem.")] = None,
    image: Annotated[
        Path | None, typer.Option(help="A file with a picture of the problem: PNG, JPEG, WebP or GIF.")
    ] = None,
    expected: options.Expected = None,
    tolerance: options.Tolerance = None,
    subject: Subject = None,
    language: Language = None,
    use_cache: Cached = None,
    use_retrieved: Annotated[
        bool | None,
        typer.Option(
            "--retrieved/--no-retrieved", help="Whether an earlier verified solution may be used again. Default: yes."
        ),
    ] = None,
    deep_evaluation: Deep = None,
    seconds: JudgeSeconds = None,
    judges: HowManyJudges = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Whether to wait until the answer is finished.")
    ] = True,
    timeout: options.WaitSeconds = 300.0,
    local: options.Local = False,
    as_json: options.AsJson = False,
) -> None:
    """Have a problem solved, and its solution verified. Print both.

    Give the problem as a text or as a picture, not both. Exit code 0: verified, or with --no-wait still in work; 1:
    caution; 3: unverified, or nobody could solve it.
    """
    given: dict[str, Any] = {"problem": problem, "subject": subject, "language": language, "use_cache": use_cache}
    given |= {"use_retrieved": use_retrieved, "deep_evaluation": deep_evaluation, "verify_seconds": seconds}
    given |= {"judges": judge_count(judges)}
    given |= key_options(expected, tolerance)
    if local:
        require_extras("checks")
        from touchstone.cli.local import inprocess

        given["deep_evaluation"] = bool(deep_evaluation)
        _show(inprocess.answer(_solve_request(given, image, None)), as_json=as_json)
        return

    with open_api(or_local=True) as api:
        request = _solve_request(given, image, api)
        view = api.post("solutions", body=request.model_dump(mode="json", exclude_none=True))
        if wait:
            view = awaited(api, "answers", view, until=_is_ended, seconds=timeout, shown_by=SHOWN_BY)
    _show(view, as_json=as_json)


@listed.command("list")
@listing(
    "answers",
    begun_by="touchstone verify",
    filters={
        "limit": options.Limit,
        "status": only("Only answers with this status.", "verified|unverified|caution|failed|unfinished|ended"),
        "search": only("Only answers that have all these words in the problem or in the answer."),
        **DATED,
        "subject": only("Only answers with this subject."),
        "difficulty": only("Only answers with this difficulty.", "easy|medium|hard"),
        "model": only("Only answers that this model gave."),
        "provider": only("Only answers that a model of this provider gave."),
        "language": only("Only answers to problems in this language.", "zh|en"),
        "batch": only("Only answers of the batch with this id."),
        "decided_by": only(
            "Only answers with an attempt that was decided in this way.", "expected|proof|judge|retrieved|none"
        ),
        "verdict": only("Only answers with an attempt that has this verdict.", "right|wrong|decided|none"),
        "skip_reason": only("Only answers that nobody decided, for this reason, for example timed_out."),
        "evaluation": only(
            "Only answers whose deep evaluation is in this state.",
            "none|waiting|deferred|submitted|running|done|failed",
        ),
        "label": only("Only answers with an attempt that people labelled so.", "right|wrong|none"),
    },
)
def list_answers() -> Columns:
    """List your answers, newest first. With filters: only answers that match all of them."""
    from touchstone.cli.screens.verdicts import ANSWERS

    return ANSWERS


@listed.command()
def show(answer_id: AnswerId, *, as_json: options.AsJson = False) -> None:
    """Show an answer, its verdict, and how the verdict was reached."""
    _show(fetch("answers", answer_id), as_json=as_json)


@listed.command()
def evaluate(
    answer_id: AnswerId,
    *,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait in the line: ask as soon as the quota allows.")
    ] = False,
    cheap: Annotated[
        bool, typer.Option("--cheap", help="Ask through a provider's batch: at half the price, within a day.")
    ] = False,
    pay_twice: Annotated[
        bool,
        typer.Option(
            "--pay-twice",
            help="With --now: ask even if the evaluation is already in a batch. The batch is paid for, so it is paid "
            "twice.",
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Whether to wait until the evaluation is done.")
    ] = False,
    timeout: options.WaitSeconds = 300.0,
    as_json: options.AsJson = False,
) -> None:
    """Request a deep evaluation of a finished answer.

    It waits in a line, and is done as soon as the quota allows.
    """
    if now and cheap:
        raise typer.BadParameter("--now and --cheap exclude each other.")
    query = {"when": "now" if now else "cheap"} if now or cheap else {}
    if pay_twice:
        query["pay_twice"] = "true"
    with open_api() as api:
        view = api.post("answers", answer_id, "deep-evaluation", query=query)
        if wait:
            view = awaited(api, "answers", view, until=_is_evaluated, seconds=timeout, shown_by=SHOWN_BY)
    _show(view, as_json=as_json, verdict=False)


def _solve_request(given: dict[str, Any], image: Path | None, api: "ApiClient | None") -> "SolveRequest":
    """The request to solve a problem, with its picture. A large picture is uploaded to the deployment, if there is one.

    `api` None: there is no deployment, and every picture is put into the request.
    """
    if image is None:
        return solve_request(given)
    solve_request({**given, "image": inline(b"")})  # tells the faults of the request before anything is uploaded
    data = image_bytes(image)
    if api is None or len(data) <= INLINE_IMAGE_BYTES:
        return solve_request({**given, "image": inline(data)})
    place = uploaded(api, "images", data, content_type=IMAGE_TYPE)
    return solve_request({**given, "image": {"s3_key": place.get("s3_key")}})


def _is_ended(view: View) -> bool:
    from touchstone.answers.model import ENDED

    return view.get("stage") in ENDED


def _is_evaluated(view: View) -> bool:
    return (view.get("evaluation") or {}).get("state") in {"done", "failed", "deferred"}


def _show(view: View, *, as_json: bool, verdict: bool = True) -> None:
    """Show an answer, and leave with the exit code of its verdict.

    Without `verdict` the exit code is 0, since the verdict is not what the command was asked for.
    """
    from touchstone.cli.screens.verdicts import exit_of, print_answer

    (print_json if as_json else print_answer)(view)
    if verdict:
        raise typer.Exit(exit_of(view))
