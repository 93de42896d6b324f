"""Commands about answers: verify one, have one made, list and read them, ask for a deep evaluation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from touchstone.cli.terminal.options import (
    AsJson,
    CostFrom,
    CostTo,
    Cursor,
    Expected,
    FromDay,
    Limit,
    Local,
    Sort,
    ToDay,
    Tolerance,
)
from touchstone.extras import need

if TYPE_CHECKING:
    from touchstone.answers.model import SolveRequest
    from touchstone.cli.deployment.client import ApiClient, Document

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
HowManyJudges = Annotated[
    Literal["1", "2", "3", "until_sure"] | None,
    typer.Option(
        "--judges",
        help="How many judges are asked where no check decides: 1, with a second where the first is not sure enough; "
        "2 or 3, of whom more than half must agree; or until_sure, one after the other until one is.",
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
    judges: HowManyJudges = None,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Verify an answer that you have: by your answer key, by proof where there is one, by a judge otherwise."""
    from touchstone.cli.files.requests import judge_count, key_options, verify_request

    options: dict[str, Any] = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "subject": subject,
        "difficulty": difficulty,
    }
    options |= {"model": model, "language": language, "use_cache": use_cache, "deep_evaluation": deep_evaluation}
    options |= {"verify_seconds": seconds, "judges": judge_count(judges)}
    options |= key_options(expected, tolerance)
    request = verify_request(source, options)
    if local:
        need("checks")
        from touchstone.cli.local import inprocess

        _show(inprocess.answer(request), as_json=as_json)
    else:
        from touchstone.cli.deployment.client import open_api

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
    judges: HowManyJudges = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for the answer.")] = True,
    timeout: Seconds = 300.0,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Have a problem solved, and the solution verified."""
    from touchstone.cli.files.requests import judge_count, key_options

    options: dict[str, Any] = {"problem": problem, "subject": subject, "language": language, "use_cache": use_cache}
    options |= {"use_retrieved": use_retrieved, "deep_evaluation": deep_evaluation, "verify_seconds": seconds}
    options |= {"judges": judge_count(judges)}
    options |= key_options(expected, tolerance)
    if local:
        need("checks")
        from touchstone.cli.local import inprocess

        options["deep_evaluation"] = bool(deep_evaluation)
        _show(inprocess.answer(_solve_request(options, image, None)), as_json=as_json)
        return
    from touchstone.cli.deployment.client import open_api

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
        Literal["verified", "unverified", "caution", "failed", "unfinished", "ended"] | None,
        typer.Option(help="Only answers with this status."),
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="Words of which each stands in the problem or in the answer.")
    ] = None,
    since: FromDay = None,
    until: ToDay = None,
    subject: Annotated[str | None, typer.Option(help="Only of this subject.")] = None,
    difficulty: Annotated[
        Literal["easy", "medium", "hard"] | None, typer.Option(help="Only of this difficulty.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Only where this model answered.")] = None,
    provider: Annotated[str | None, typer.Option(help="Only where a model of this provider answered.")] = None,
    language: Annotated[Literal["zh", "en"] | None, typer.Option(help="Only problems in this language.")] = None,
    batch: Annotated[str | None, typer.Option(help="Only of this batch, by its id.")] = None,
    decided_by: Annotated[
        Literal["expected", "proof", "judge", "retrieved", "none"] | None,
        typer.Option(help="Only where an attempt was decided so."),
    ] = None,
    verdict: Annotated[
        Literal["right", "wrong", "decided", "none"] | None,
        typer.Option(help="Only where this was found of an attempt."),
    ] = None,
    skip_reason: Annotated[
        str | None, typer.Option(help="Only where nobody decided for this reason, such as timed_out.")
    ] = None,
    evaluation: Annotated[
        Literal["none", "waiting", "deferred", "submitted", "running", "done", "failed"] | None,
        typer.Option(help="Only where the deep evaluation stands so."),
    ] = None,
    label: Annotated[
        Literal["right", "wrong", "none"] | None, typer.Option(help="Only where people said this of an attempt.")
    ] = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your answers, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.screens.verdicts import badge_of, confidence_of
    from touchstone.cli.terminal.screen import ScreenColumn, cost_of, field, moment, short

    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "subject": subject,
        "difficulty": difficulty,
        "model": model,
        "provider": provider,
        "language": language,
        "batch": batch,
        "decided_by": decided_by,
        "verdict": verdict,
        "skip_reason": skip_reason,
        "evaluation": evaluation,
        "label": label,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    columns = (
        ScreenColumn(title="created (UTC)", of=lambda row: moment(row.get("created_at"))),
        ScreenColumn(title="id", of=field("id")),
        ScreenColumn(title="status", of=badge_of),
        ScreenColumn(title="confidence", of=confidence_of, right=True),
        ScreenColumn(title="problem", of=lambda row: short(row.get("problem"))),
        ScreenColumn(title="answer", of=lambda row: short(row.get("answer"))),
        ScreenColumn(title="cost", of=cost_of, right=True),
    )
    show_found("answers", filters, columns, limit=limit, cursor=cursor, as_json=as_json)


@listed.command()
def show(answer_id: AnswerId, *, as_json: AsJson = False) -> None:
    """Show an answer with its verdict and how it was reached."""
    from touchstone.cli.deployment.client import fetch

    _show(fetch("answers", answer_id), as_json=as_json)


@listed.command()
def evaluate(
    answer_id: AnswerId,
    *,
    now: Annotated[bool, typer.Option("--now", help="Take it out of the line and ask as soon as possible.")] = False,
    cheap: Annotated[
        bool, typer.Option("--cheap", help="Through a provider's batch: at half the price, within a day.")
    ] = False,
    pay_twice: Annotated[
        bool, typer.Option("--pay-twice", help="With --now: also where it is in a batch, which is paid for already.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for the evaluation.")] = False,
    timeout: Seconds = 300.0,
    as_json: AsJson = False,
) -> None:
    """Ask for a deep evaluation of a finished answer; it comes as soon as the quota admits it."""
    from touchstone.cli.deployment.client import open_api

    if now and cheap:
        raise typer.BadParameter("--now and --cheap exclude each other.")
    query = {"when": "now" if now else "cheap"} if now or cheap else {}
    if pay_twice:
        query["pay_twice"] = "true"
    with open_api() as api:
        view = api.post("answers", answer_id, "deep-evaluation", query=query)
        if wait:
            view = _awaited(api, view, seconds=timeout, until=_is_evaluated)
    _show(view, as_json=as_json, verdict=False)


def _solve_request(options: dict[str, Any], image: Path | None, api: "ApiClient | None") -> "SolveRequest":
    """The request, with its picture inside, or uploaded where it is large and there is a deployment."""
    from touchstone.cli.files.requests import image_bytes, inline, solve_request

    if image is None:
        return solve_request(options)
    solve_request({**options, "image": inline(b"")})  # its faults are told before anything is uploaded
    data = image_bytes(image)
    if api is None or len(data) <= INLINE_IMAGE_BYTES:
        return solve_request({**options, "image": inline(data)})
    from touchstone.cli.deployment.client import upload

    place = api.post("images")
    upload(str(place.get("upload_url")), data, content_type=IMAGE_TYPE)
    return solve_request({**options, "image": {"s3_key": place.get("s3_key")}})


def _awaited(api: "ApiClient", view: "Document", *, seconds: float, until: Any) -> "Document":
    """The answer once `until` holds of it, or as it is after so many seconds."""
    from touchstone.cli.terminal import waiting
    from touchstone.cli.terminal.screen import say

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
    from touchstone.cli.screens.verdicts import exit_of, print_answer
    from touchstone.cli.terminal.screen import print_json

    (print_json if as_json else print_answer)(view)
    if verdict:
        raise typer.Exit(exit_of(view))
