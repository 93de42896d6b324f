"""Commands about tasks of a deployment: create one, hand in work, read what came of it, challenge a ranking."""

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.terminal.options import (
    AsJson,
    CostFrom,
    CostTo,
    Cursor,
    FromDay,
    GateJudgesOption,
    Limit,
    ScoringJudgesOption,
    Search,
    Sort,
    ToDay,
)

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient, Document

INLINE_TEXT_BYTES = 1_000_000
"""Longer texts are uploaded first: a request to the API has room for a few megabytes, and may be sent again."""
TEXT_TYPE = "text/markdown"
MOST_NAMED = 100
"""Of submissions, the newest, whose submitters a ranking names; of others it tells the id alone."""

app = typer.Typer()
tasks = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(tasks, name="tasks", help="Create tasks, hand in work, read what came of it, challenge a ranking.")

TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.")]
SubmissionId = Annotated[str, typer.Argument(metavar="SUBMISSION", help="The submission's id.")]
Party = Annotated[
    str, typer.Option(metavar="NAME", help="For whom: the owner or a submitter, by your own name for them.")
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for what comes of it.")]
Seconds = Annotated[float, typer.Option(min=0, help="How long to wait at most, in seconds.")]


@tasks.command()
def create(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The task as JSON, or - for standard input: description, acceptance_criteria, and where you want "
            "language, owner, path, deadline, challenge_period, judges, scoring_judges and when.",
        ),
    ],
    *,
    owner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who asks for the work, by your own name for them.")
    ] = None,
    path: Annotated[
        Literal["fastest_first", "quality_first"] | None,
        typer.Option(help="Whether the first that passes wins, or the best at the deadline."),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="When it ends: 2027-01-31T12:00+01:00, or from now on 3d, 12h, 90m, 30s."),
    ] = None,
    challenge_period: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long a ranking may be challenged; 72h if nothing is said."),
    ] = None,
    judges: GateJudgesOption = None,
    cheap: Annotated[
        bool,
        typer.Option("--cheap", help="Score a contest through a provider's batches: at half the price, within a day."),
    ] = False,
    scoring_judges: ScoringJudgesOption = None,
    wait: Wait = False,
    timeout: Seconds = 300.0,
    as_json: AsJson = False,
) -> None:
    """Create a task. It takes submissions once its dimensions are made, in a minute or so; --wait waits for that.

    Options go before what the file says. Exit code 3 where nobody could make the dimensions.
    """
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.files.requests import judge_count
    from touchstone.cli.files.task_files import TaskOptions, task_request
    from touchstone.cli.screens.contests import is_set_up
    from touchstone.clock import system_clock

    options = TaskOptions(
        owner=owner,
        path=path,
        deadline=deadline,
        challenge_period=challenge_period,
        judges=judge_count(judges),
        scoring_judges=scoring_judges,
        when="cheap" if cheap else None,
    )
    request = task_request(source, options, now=system_clock())
    with open_api() as api:
        # An older deployment knows none of these, and does as they say by default.
        defaults = {"judges": 1, "scoring_judges": 1, "when": "now"}
        usual = {name for name, value in defaults.items() if getattr(request, name) == value}
        body = request.model_dump(mode="json", exclude=usual)
        view = api.post("tasks", body=body)
        if wait:
            task_id = str(view.get("id"))
            view = _awaited(
                view, lambda: api.get("tasks", task_id), until=is_set_up, seconds=timeout, place=f"show {task_id}"
            )
    _show_task(view, as_json=as_json)


@tasks.command("list")
def list_tasks(
    *,
    status: Annotated[
        Literal["drafting", "open", "scoring", "challenge", "final", "failed", "unfinished", "ended"] | None,
        typer.Option(help="Only tasks with this status."),
    ] = None,
    search: Search = None,
    since: FromDay = None,
    until: ToDay = None,
    path: Annotated[
        Literal["fastest_first", "quality_first"] | None, typer.Option(help="Only those that are won so.")
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Only of this owner.")] = None,
    winner: Annotated[Literal["yes", "no"] | None, typer.Option(help="Only those that were won, or were not.")] = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your tasks, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.screens.contests import TASKS

    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "path": path,
        "owner": owner,
        "winner": winner,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found("tasks", filters, TASKS, limit=limit, cursor=cursor, as_json=as_json)


@tasks.command()
def show(
    task_id: TaskId,
    *,
    party: Annotated[
        str | None, typer.Option(metavar="NAME", help="For whom; the owner and submitters see the ranking.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a task: how far it is, its dimensions with weights, and the ranking to its parties.

    Exit code 3 where nobody could make the dimensions.
    """
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.screens.contests import with_names

    with open_api() as api:
        view = api.get("tasks", task_id, party=party)
        if view.get("ranking") and not as_json:
            found = api.get("tasks", task_id, "submissions", party=party, limit=MOST_NAMED)
            view = with_names(view, found.get("items") or ())
    _show_task(view, as_json=as_json)


@tasks.command()
def deadline(
    task_id: TaskId,
    when: Annotated[
        str, typer.Argument(metavar="WHEN", help="2027-01-31T12:00+01:00, or from now on 3d, 12h, 90m, 30s.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Move a task's deadline, earlier or later, as long as it has not passed."""
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.files.moments import moment_of
    from touchstone.clock import system_clock

    moment = moment_of(when, where="when", now=system_clock())
    with open_api() as api:
        view = api.patch("tasks", task_id, body={"deadline": moment.isoformat()})
    _show_task(view, as_json=as_json)


@tasks.command()
def submit(
    task_id: TaskId,
    source: Annotated[str, typer.Argument(metavar="FILE", help="The work, text or Markdown, or - for standard input.")],
    *,
    submitter: Annotated[str, typer.Option(metavar="NAME", help="Whose work it is, by your own name for them.")],
    wait: Wait = False,
    timeout: Seconds = 600.0,
    as_json: AsJson = False,
) -> None:
    """Hand in work; --wait waits until it is judged. Exit code 1 where its gate failed, 3 where nobody could judge it.

    What a failed gate asks for is shown; revise the work and hand it in again.
    """
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.files.submissions import submission_of
    from touchstone.cli.screens.contests import is_judged

    text = submission_of(source)
    with open_api() as api:
        body = {"submitter": submitter, **_content(api, text)}
        view = api.post("tasks", task_id, "submissions", body=body)
        if wait:
            submission_id = str(view.get("id"))
            view = _awaited(
                view,
                lambda: api.get("tasks", task_id, "submissions", submission_id, party=submitter),
                until=is_judged,
                seconds=timeout,
                place=f"submission {task_id} {submission_id} --party {quote(submitter)}",
            )
    _show_submission(view, as_json=as_json)


@tasks.command()
def submissions(
    task_id: TaskId,
    *,
    party: Party,
    status: Annotated[
        Literal["received", "gate_failed", "gate_passed", "scored", "unscored", "overtaken", "eliminated", "ranked"]
        | None,
        typer.Option(help="Only those that stand so."),
    ] = None,
    submitter: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this submitter.")] = None,
    reason: Annotated[
        str | None, typer.Option(help="Only where nobody could judge for this reason, such as timed_out.")
    ] = None,
    since: FromDay = None,
    until: ToDay = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List what a party may see of a task's submissions, newest first: its own, and all once the task is closed."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.screens.contests import SUBMISSIONS, summed

    filters: dict[str, str | float | None] = {
        "status": status,
        "submitter": submitter,
        "reason": reason,
        "from": since,
        "to": until,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found(
        f"tasks/{task_id}/submissions",
        filters,
        SUBMISSIONS,
        limit=limit,
        cursor=cursor,
        as_json=as_json,
        shown=summed,
        empty="There is nothing that this party may see.",
        party=party,
    )


@tasks.command()
def submission(task_id: TaskId, submission_id: SubmissionId, *, party: Party, as_json: AsJson = False) -> None:
    """Show a submission with the feedback that the task's stage allows.

    Exit code 1 where its gate failed or a contest eliminated it, 3 where nobody could judge it.
    """
    from touchstone.cli.deployment.client import fetch

    _show_submission(fetch("tasks", task_id, "submissions", submission_id, party=party), as_json=as_json)


@tasks.command()
def challenge(
    task_id: TaskId,
    submission_id: SubmissionId,
    *,
    party: Party,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for people to read; no judge is shown it.")],
    wait: Wait = False,
    timeout: Seconds = 600.0,
    as_json: AsJson = False,
) -> None:
    """Challenge a contest's ranking: the submission is scored again by another provider, and the ranking follows.

    Exit code 1 where it was rejected, 3 where nobody could judge it again.
    """
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.screens.contests import challenge_exit, is_decided, print_challenge
    from touchstone.cli.terminal.screen import print_json

    with open_api() as api:
        body = {"challenger": party, "submission_id": submission_id, "reason": reason}
        view = api.post("tasks", task_id, "challenges", body=body)
        if wait:
            challenge_id = view.get("id")
            view = _awaited(
                view,
                lambda: _challenge(api, task_id, challenge_id, party=party),
                until=is_decided,
                seconds=timeout,
                place=f"challenges {task_id} --party {quote(party)}",
            )
    (print_json if as_json else print_challenge)(view)
    raise typer.Exit(challenge_exit(view))


@tasks.command()
def challenges(task_id: TaskId, *, party: Party, as_json: AsJson = False) -> None:
    """List the challenges to a task's ranking and what came of them, oldest first."""
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.screens.contests import CHALLENGES
    from touchstone.cli.terminal.screen import print_page

    found = fetch("tasks", task_id, "challenges", party=party)
    print_page(found, CHALLENGES, empty="Nobody challenged it.", as_json=as_json)


def _content(api: "ApiClient", text: str) -> dict[str, object]:
    """The work as a request carries it: itself, or by the key of a file that was uploaded for it."""
    data = text.encode()
    if len(data) <= INLINE_TEXT_BYTES:
        return {"text": text}
    from touchstone.cli.deployment.client import upload

    place = api.post("submission-files")
    upload(str(place.get("upload_url")), data, content_type=TEXT_TYPE)
    return {"text_key": place.get("text_key")}


def _challenge(api: "ApiClient", task_id: str, challenge_id: object, *, party: str) -> "Document":
    """One of a task's challenges. Raises `NotFoundError` where the list does not have it."""
    from touchstone.errors import NotFoundError

    listed = api.get("tasks", task_id, "challenges", party=party).get("items", ())
    found: Document | None = next((one for one in listed if one.get("id") == challenge_id), None)
    if found is None:
        raise NotFoundError("The challenge is not in the task's list; look again with `touchstone tasks challenges`.")
    return found


def _awaited(
    view: "Document",
    look: "Callable[[], Document]",
    *,
    until: "Callable[[Document], bool]",
    seconds: float,
    place: str,
) -> "Document":
    """What is looked at once `until` holds of it, or as it is after so many seconds; `place` shows it later."""
    from touchstone.cli.terminal import waiting
    from touchstone.cli.terminal.screen import say

    try:
        return waiting.awaited(view, look, until=until, seconds=seconds)
    except KeyboardInterrupt:
        say(f"It goes on without you; see it with: touchstone tasks {place}")
        raise


def _show_task(view: "Document", *, as_json: bool) -> None:
    from touchstone.cli.screens.contests import print_task, task_exit
    from touchstone.cli.terminal.screen import print_json

    (print_json if as_json else print_task)(view)
    raise typer.Exit(task_exit(view))


def _show_submission(view: "Document", *, as_json: bool) -> None:
    from touchstone.cli.screens.contests import print_submission, submission_exit
    from touchstone.cli.terminal.screen import print_json

    (print_json if as_json else print_submission)(view)
    raise typer.Exit(submission_exit(view))
