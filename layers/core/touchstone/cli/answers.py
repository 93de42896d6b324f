"""Commands about answers: verify one, have one made, list and read them, ask for a deep evaluation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from touchstone.cli.options import AsJson, Cursor, Expected, Limit, Local, Tolerance
from touchstone.extras import need

if TYPE_CHECKING:
    from touchstone.answers.model import SolveRequest
    from touchstone.cli.client import Api, Document

INLINE_IMAGE_BYTES = 1_000_000
"""Larger pictures are uploaded first: as base64 inside a request they would fill it."""
IMAGE_TYPE = "application/octet-stream"

app = typer.Typer()
listed = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(listed, name="answers", help="List, read and evaluate answers.")

Subject = Annotated[str | None, typer.Option(help="The subject, for the statistics and for routing.")]
Language = Annotated[Literal["zh", "en"] | None, typer.Option(help="The problem's language; recognised if left out.")]
Cached = Annotated[
    bool | None, typer.Option("--cache/--no-cache", help="Whether an earlier reply of a judge may serve (it may).")
]
Deep = Annotated[
    bool | None,
    typer.Option("--deep-evaluation/--no-deep-evaluation", help="Whether to evaluate it in five dimensions too."),
]
Seconds = Annotated[float, typer.Option(min=0, help="How long to wait at most.")]
JudgeSeconds = Annotated[
    float | None,
    typer.Option(
        help="How long a judge has: 60, or TOUCHSTONE_VERIFY_SECONDS, where nobody waits; 5 at most at the API."
    ),
]
AnswerId = Annotated[str, typer.Argument(metavar="ID", help="The answer's id.")]


@app.command()
def verify(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A file with one request as JSON, or - for standard input.")
    ] = None,
    *,
    problem: Annotated[str | None, typer.Option(help="The problem.")] = None,
    answer: Annotated[str | None, typer.Option(help="The answer to verify.")] = None,
    steps: Annotated[str | None, typer.Option(help="The solution, or a summary of it.")] = None,
    expected: Expected = None,
    tolerance: Tolerance = None,
    subject: Subject = None,
    difficulty: Annotated[
        Literal["easy", "medium", "hard"] | None, typer.Option(help="The difficulty, for the statistics.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Which model answered, for the statistics.")] = None,
    language: Language = None,
    use_cache: Cached = None,
    deep_evaluation: Deep = None,
    seconds: JudgeSeconds = None,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Verify an answer that you have: by your answer key, by proof where there is one, by a judge otherwise."""
    from touchstone.cli.requests import key_options, verify_request

    options: dict[str, Any] = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "subject": subject,
        "difficulty": difficulty,
    }
    options |= {"model": model, "language": language, "use_cache": use_cache, "deep_evaluation": deep_evaluation}
    options |= {"verify_seconds": seconds}
    options |= key_options(expected, tolerance)
    request = verify_request(source, options)
    if local:
        need("checks")
        from touchstone.cli import inprocess

        _show(inprocess.answer(request), as_json=as_json)
    else:
        from touchstone.cli.client import open_api

        with open_api() as api:
            view = api.post("verifications", body=request.model_dump(mode="json"))
        _show(view, as_json=as_json)


@app.command()
def solve(
    *,
    problem: Annotated[str | None, typer.Option(help="The problem.")] = None,
    image: Annotated[Path | None, typer.Option(help="A picture of the problem: PNG, JPEG, WebP or GIF.")] = None,
    expected: Expected = None,
    tolerance: Tolerance = None,
    subject: Subject = None,
    language: Language = None,
    use_cache: Cached = None,
    use_retrieved: Annotated[
        bool | None, typer.Option("--retrieved/--no-retrieved", help="Whether an earlier solution may serve (it may).")
    ] = None,
    deep_evaluation: Deep = None,
    seconds: JudgeSeconds = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for the answer.")] = True,
    timeout: Seconds = 300.0,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Have a problem solved, and the solution verified."""
    from touchstone.cli.requests import key_options

    options: dict[str, Any] = {"problem": problem, "subject": subject, "language": language, "use_cache": use_cache}
    options |= {"use_retrieved": use_retrieved, "deep_evaluation": deep_evaluation, "verify_seconds": seconds}
    options |= key_options(expected, tolerance)
    if local:
        need("checks")
        from touchstone.cli import inprocess

        options["deep_evaluation"] = bool(deep_evaluation)
        _show(inprocess.answer(_solve_request(options, image, None)), as_json=as_json)
        return
    from touchstone.cli.client import open_api

    with open_api() as api:
        request = _solve_request(options, image, api)
        view = api.post("solutions", body=request.model_dump(mode="json", exclude_none=True))
        if wait:
            view = _awaited(api, view, seconds=timeout, until=_is_ended)
    _show(view, as_json=as_json)


@listed.command("list")
def list_answers(
    *,
    limit: Limit = 20,
    status: Annotated[
        Literal["verified", "unverified", "caution"] | None, typer.Option(help="Only answers with this status.")
    ] = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your answers, newest first."""
    from touchstone.cli.client import fetch
    from touchstone.cli.screen import Column, cost_of, field, moment, print_page, short
    from touchstone.cli.verdicts import badge_of, confidence_of

    page = fetch("answers", limit=limit, status=status, cursor=cursor)
    columns = (
        Column(title="created (UTC)", of=lambda row: moment(row.get("created_at"))),
        Column(title="id", of=field("id")),
        Column(title="status", of=badge_of),
        Column(title="confidence", of=confidence_of, right=True),
        Column(title="problem", of=lambda row: short(row.get("problem"))),
        Column(title="answer", of=lambda row: short(row.get("answer"))),
        Column(title="cost", of=cost_of, right=True),
    )
    print_page(page, columns, empty="There are no answers yet.", as_json=as_json)


@listed.command()
def show(answer_id: AnswerId, *, as_json: AsJson = False) -> None:
    """Show an answer with its verdict and how it was reached."""
    from touchstone.cli.client import fetch

    _show(fetch("answers", answer_id), as_json=as_json)


@listed.command()
def evaluate(
    answer_id: AnswerId,
    *,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for the evaluation.")] = False,
    timeout: Seconds = 300.0,
    as_json: AsJson = False,
) -> None:
    """Ask for a deep evaluation of a finished answer; it comes as soon as the quota admits it."""
    from touchstone.cli.client import open_api

    with open_api() as api:
        view = api.post("answers", answer_id, "deep-evaluation")
        if wait:
            view = _awaited(api, view, seconds=timeout, until=_is_evaluated)
    _show(view, as_json=as_json, verdict=False)


def _solve_request(options: dict[str, Any], image: Path | None, api: "Api | None") -> "SolveRequest":
    """The request, with its picture inside, or uploaded where it is large and there is a deployment."""
    from touchstone.cli.requests import image_bytes, inline, solve_request

    if image is None:
        return solve_request(options)
    solve_request({**options, "image": inline(b"")})  # its faults are told before anything is uploaded
    data = image_bytes(image)
    if api is None or len(data) <= INLINE_IMAGE_BYTES:
        return solve_request({**options, "image": inline(data)})
    from touchstone.cli.client import upload

    place = api.post("images")
    upload(str(place.get("upload_url")), data, content_type=IMAGE_TYPE)
    return solve_request({**options, "image": {"s3_key": place.get("s3_key")}})


def _awaited(api: "Api", view: "Document", *, seconds: float, until: Any) -> "Document":
    """The answer once `until` holds of it, or as it is after so many seconds."""
    from touchstone.cli import waiting
    from touchstone.cli.screen import say

    answer_id = str(view.get("id"))
    try:
        return waiting.awaited(view, lambda: api.get("answers", answer_id), until=until, seconds=seconds)
    except KeyboardInterrupt:
        say(f"It goes on without you; see it with: touchstone answers show {answer_id}")
        raise


def _is_ended(view: "Document") -> bool:
    from touchstone.answers.model import ENDED

    return view.get("stage") in ENDED


def _is_evaluated(view: "Document") -> bool:
    return (view.get("evaluation") or {}).get("state") in {"done", "failed", "deferred"}


def _show(view: "Document", *, as_json: bool, verdict: bool = True) -> None:
    """Show an answer and leave with its exit code; without `verdict`, what was asked for is done either way."""
    from touchstone.cli.screen import print_json
    from touchstone.cli.verdicts import exit_of, print_answer

    (print_json if as_json else print_answer)(view)
    if verdict:
        raise typer.Exit(exit_of(view))
