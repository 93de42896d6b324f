"""Commands about tasks of a deployment: create a task, hand in work, read its judgement, challenge a ranking."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.commands.listing import DATED, SEARCHED, Columns, listing, only
from touchstone.cli.deployment.api import awaited, fetch, open_api, uploaded
from touchstone.cli.files.requests import judge_count
from touchstone.cli.terminal import options, waiting
from touchstone.cli.terminal.screen import print_json
from touchstone.cli.terminal.tables import print_page
from touchstone.cli.terminal.words import View
from touchstone.clock import system_clock
from touchstone.errors import NotFoundError

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient

INLINE_TEXT_BYTES = 1_000_000
"""The longest text that is sent inside a request. A longer one is uploaded first.

A request to the API has room for a few megabytes, and may be sent again.
"""
TEXT_TYPE = "text/markdown"
MOST_NAMED = 100
"""For how many submissions, the newest ones, a ranking names the submitter. For all others it shows only the id."""

tasks = options.group("tasks", "Create tasks, hand in work, read and challenge its judgement.")

TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.")]
SubmissionId = Annotated[str, typer.Argument(metavar="SUBMISSION", help="The submission's id.")]
Party = Annotated[
    str, typer.Option(metavar="NAME", help="The party that asks: the owner or a submitter, by the name that you gave.")
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait for the outcome.")]


@tasks.command()
def create(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file with the task as JSON, or - for standard input. Fields: description and acceptance_criteria; "
            "optionally language, owner, path, deadline, challenge_period, judges, scoring_judges and when.",
        ),
    ],
    *,
    owner: Annotated[
        str | None, typer.Option(metavar="NAME", help="The party that asks for the work, by a name that you choose.")
    ] = None,
    path: Annotated[
        Literal["fastest_first", "quality_first"] | None,
        typer.Option(
            help="fastest_first: the first submission that passes wins; quality_first: the best one at the deadline "
            "wins."
        ),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="When the task ends: a moment such as 2027-01-31T12:00+01:00, or a time from now: 3d, 12h, 90m, 30s.",
        ),
    ] = None,
    challenge_period: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="How long the ranking may be challenged, for example 48h. Default: what the file says, else 72h.",
        ),
    ] = None,
    judges: options.GateJudges = None,
    cheap: Annotated[
        bool,
        typer.Option("--cheap", help="Score a contest through a provider's batches, at half the price, within a day."),
    ] = False,
    scoring_judges: options.ScoringJudges = None,
    wait: Wait = False,
    timeout: options.WaitSeconds = 300.0,
    as_json: options.AsJson = False,
) -> None:
    """Create a task from a JSON file.

    The task takes submissions as soon as its dimensions are made, after about a minute; --wait waits for that. An
    option replaces the same field of the file.

    Exit code 0: created; 3: nobody could make the dimensions.
    """
    from touchstone.cli.files.task_files import TaskOptions, task_request
    from touchstone.cli.screens.contests import is_set_up

    said = TaskOptions(
        owner=owner,
        path=path,
        deadline=deadline,
        challenge_period=challenge_period,
        judges=judge_count(judges),
        scoring_judges=scoring_judges,
        when="cheap" if cheap else None,
    )
    request = task_request(source, said, now=system_clock())
    with open_api() as api:
        # An older deployment does not know these fields, and always does what their defaults say.
        defaults = {"judges": 1, "scoring_judges": 1, "when": "now"}
        usual = {name for name, value in defaults.items() if getattr(request, name) == value}
        body = request.model_dump(mode="json", exclude=usual)
        view = api.post("tasks", body=body)
        if wait:
            view = awaited(api, "tasks", view, until=is_set_up, seconds=timeout, shown_by="touchstone tasks show")
    _show_task(view, as_json=as_json)


@tasks.command("list")
@listing(
    "tasks",
    begun_by="touchstone tasks create",
    filters={
        "status": only("Only tasks with this status.", "drafting|open|scoring|challenge|final|failed|unfinished|ended"),
        **SEARCHED,
        "path": only("Only tasks that are won in this way.", "fastest_first|quality_first"),
        "owner": only("Only tasks of this owner."),
        "winner": only("Only tasks that have a winner (yes), or that have none (no).", "yes|no"),
    },
)
def list_tasks() -> Columns:
    """List your tasks, newest first. With filters: only tasks that match all of them."""
    from touchstone.cli.screens.contests import TASKS

    return TASKS


@tasks.command()
def show(
    task_id: TaskId,
    *,
    party: Annotated[
        str | None, typer.Option(metavar="NAME", help="The party that asks. The owner and submitters see the ranking.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a task: state, dimensions with weights, and ranking.

    Only a party of the task sees the ranking: give --party. Exit code 3 if nobody could make the dimensions.
    """
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
        str,
        typer.Argument(
            metavar="WHEN", help="A moment such as 2027-01-31T12:00+01:00, or a time from now: 3d, 12h, 90m, 30s."
        ),
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Move a task's deadline, earlier or later. The old deadline must not have passed."""
    from touchstone.cli.files.task_files import moment_of

    moment = moment_of(when, where="when", now=system_clock())
    with open_api() as api:
        view = api.patch("tasks", task_id, body={"deadline": moment.isoformat()})
    _show_task(view, as_json=as_json)


@tasks.command()
def submit(
    task_id: TaskId,
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with the work, as text or Markdown, or - for standard input.")
    ],
    *,
    submitter: Annotated[str, typer.Option(metavar="NAME", help="The author of the work, by a name that you choose.")],
    wait: Wait = False,
    timeout: options.WaitSeconds = 600.0,
    as_json: options.AsJson = False,
) -> None:
    """Hand in work to a task. With --wait the command waits until it is judged.

    If the work does not meet a criterion, the gate fails and the command shows hints: revise the work and hand it in
    again.

    Exit code 1: the gate failed; 3: nobody could judge the work; else 0.
    """
    from touchstone.cli.files.task_files import submission_of
    from touchstone.cli.screens.contests import is_judged

    text = submission_of(source)
    with open_api() as api:
        body = {"submitter": submitter, **_content(api, text)}
        view = api.post("tasks", task_id, "submissions", body=body)
        if wait:
            submission_id = str(view.get("id"))
            view = waiting.awaited(
                view,
                lambda: api.get("tasks", task_id, "submissions", submission_id, party=submitter),
                until=is_judged,
                seconds=timeout,
                later=f"touchstone tasks submission {task_id} {submission_id} --party {quote(submitter)}",
            )
    _show_submission(view, as_json=as_json)


@tasks.command("submissions")
@listing(
    "tasks",
    "task_id",
    "submissions",
    given={"task_id": TaskId, "party": Party},
    empty="There is nothing that this party may see.",
    filters={
        "status": only(
            "Only submissions with this standing.",
            "received|gate_failed|gate_passed|scored|unscored|overtaken|eliminated|ranked",
        ),
        "submitter": only("Only submissions of this submitter.", metavar="NAME"),
        "reason": only("Only submissions that nobody could judge, for this reason, for example timed_out."),
        "search": options.Search,
        "label": only(
            "Only submissions with a criterion that people gave this label. none: no criterion has a label.",
            "pass|fail|none",
        ),
        **DATED,
    },
)
def submissions() -> Columns:
    """List the submissions that a party may see, newest first.

    A submitter sees its own submissions; once the task is closed, each party sees all of them.
    """
    from touchstone.cli.screens.contests import SUBMISSIONS

    return SUBMISSIONS


@tasks.command()
def submission(task_id: TaskId, submission_id: SubmissionId, *, party: Party, as_json: options.AsJson = False) -> None:
    """Show a submission with the feedback that the party may see now.

    Exit code 1: the gate failed, or the contest eliminated the submission; 3: nobody could judge it, or the task was
    decided before it was judged (overtaken); else 0.
    """
    _show_submission(fetch("tasks", task_id, "submissions", submission_id, party=party), as_json=as_json)


@tasks.command()
def challenge(
    task_id: TaskId,
    submission_id: SubmissionId,
    *,
    party: Party,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason of the challenge. People read it; no judge sees it.")
    ],
    wait: Wait = False,
    timeout: options.WaitSeconds = 600.0,
    as_json: options.AsJson = False,
) -> None:
    """Challenge the place of a submission in a contest's ranking.

    Another provider scores the submission again. If its place changes, the new ranking counts.

    Exit code 1: the challenge was rejected; 3: nobody could judge the submission again; else 0.
    """
    from touchstone.cli.screens.contests import challenge_exit, is_decided, print_challenge

    with open_api() as api:
        body = {"challenger": party, "submission_id": submission_id, "reason": reason}
        view = api.post("tasks", task_id, "challenges", body=body)
        if wait:
            challenge_id = view.get("id")
            view = waiting.awaited(
                view,
                lambda: _challenge(api, task_id, challenge_id, party=party),
                until=is_decided,
                seconds=timeout,
                later=f"touchstone tasks challenges {task_id} --party {quote(party)}",
            )
    (print_json if as_json else print_challenge)(view)
    raise typer.Exit(challenge_exit(view))


@tasks.command()
def challenges(task_id: TaskId, *, party: Party, as_json: options.AsJson = False) -> None:
    """List the challenges to a task's ranking. Oldest first, with their outcomes."""
    from touchstone.cli.screens.contests import CHALLENGES

    found = fetch("tasks", task_id, "challenges", party=party)
    print_page(found, CHALLENGES, empty="Nobody challenged it.", as_json=as_json)


def _content(api: "ApiClient", text: str) -> dict[str, object]:
    """The fields of a request with the work: its text, or the key of the file to which a long text was uploaded."""
    data = text.encode()
    if len(data) <= INLINE_TEXT_BYTES:
        return {"text": text}
    return {"text_key": uploaded(api, "submission-files", data, content_type=TEXT_TYPE).get("text_key")}


def _challenge(api: "ApiClient", task_id: str, challenge_id: object, *, party: str) -> View:
    """One challenge of a task, from the list of its challenges. Raises `NotFoundError` if it is not in the list."""
    listed = api.get("tasks", task_id, "challenges", party=party).get("items", ())
    found: View | None = next((one for one in listed if one.get("id") == challenge_id), None)
    if found is None:
        raise NotFoundError("The challenge is not in the task's list; look again with `touchstone tasks challenges`.")
    return found


def _show_task(view: View, *, as_json: bool) -> None:
    from touchstone.cli.screens.contests import print_task, task_exit

    (print_json if as_json else print_task)(view)
    raise typer.Exit(task_exit(view))


def _show_submission(view: View, *, as_json: bool) -> None:
    from touchstone.cli.screens.contests import print_submission, submission_exit

    (print_json if as_json else print_submission)(view)
    raise typer.Exit(submission_exit(view))
