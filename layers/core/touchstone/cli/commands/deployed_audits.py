"""Commands about audits that a deployment makes: start one, follow it, read its report, run its proofs again."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.commands.audits import audit
from touchstone.cli.local.audit_targets import Also, Requirement
from touchstone.cli.terminal.options import AsJson, CostFrom, CostTo, Cursor, FromDay, Limit, Search, Sort, ToDay
from touchstone.extras import need

if TYPE_CHECKING:
    from touchstone.audits.record import DefinitionFile
    from touchstone.cli.deployment.client import ApiClient, Document

app = typer.Typer()
_audits = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(_audits, name="audits", hidden=True, help="The old name of what is now under `touchstone audit`.")

MAX_NAME_CHARS = 200
"""Of a file's name as it is sent."""
SECONDS = 3600.0

AuditId = Annotated[str, typer.Argument(metavar="ID", help="The audit's id.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait until it is over.")]
Seconds = Annotated[float, typer.Option(min=0, help="How long to wait at most, in seconds.")]
FailOn = Annotated[
    str,
    typer.Option(
        metavar="A,B", help="Exit with code 1 on incorrect, ambiguous, unproven cases, or any drift; or none."
    ),
]
FAIL_ON = "incorrect,ambiguous,drift"


def start(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Cases as YAML, JSON or JSON Lines, and folders of them.")
    ],
    *,
    target: Requirement,
    also: Also = None,
    previous: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="An earlier audit: its proofs are run first, and only what drifted is solved again."
        ),
    ] = None,
    provider: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose strong model solves; else Gemini's, if it has a key.")
    ] = None,
    turns: Annotated[int, typer.Option(min=1, max=200, help="How many turns a case may take.")] = 40,
    max_cost: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Begin no turn once it has cost so much in all.")
    ] = None,
    weekly: Annotated[
        bool, typer.Option("--weekly", help="Audit again each week, with what the requirement then comes to.")
    ] = False,
    wait: Wait = False,
    timeout: Seconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: AsJson = False,
) -> None:
    """Have your deployment audit a benchmark. Every fault of the definitions is told before anything is sent.

    It goes on by itself, for minutes or hours; --wait waits for it. Exit code 1 where --fail-on says, else 3 where a
    case is Unproven or the target is no good.
    """
    need("audits")
    from pydantic import ValidationError

    from touchstone.audits.agent import Bounds
    from touchstone.audits.record import AuditRequest
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.local.audit_targets import target_of
    from touchstone.errors import InputError

    _failing(fail_on)
    wanted = target_of(target, also)
    try:
        request = AuditRequest(
            target=wanted,
            files=tuple(_definitions(files)),
            provider=provider,
            bounds=Bounds(turns=turns),
            max_cost_usd=max_cost,
            previous=previous,
            weekly=weekly,
        )
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{fault['msg']}.", where=".".join(map(str, fault["loc"]))) from None
    with open_api() as api:
        view = api.post("audits", body=request.model_dump(mode="json", exclude_defaults=True))
        _show(_awaited(api, view, seconds=timeout) if wait else view, fail_on, as_json=as_json)


def list_audits(
    *,
    status: Annotated[
        Literal["waiting", "auditing", "done", "failed", "unfinished", "ended"] | None,
        typer.Option(help="Only audits with this status."),
    ] = None,
    search: Search = None,
    since: FromDay = None,
    until: ToDay = None,
    kind: Annotated[
        Literal["audit", "recheck"] | None, typer.Option(help="Only audits, or only rechecks of stored proofs.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Only of this distribution, as google-adk, or of this whole requirement.")
    ] = None,
    found: Annotated[
        Literal["incorrect", "ambiguous", "drifted", "nothing"] | None,
        typer.Option(help="Only those that found this."),
    ] = None,
    weekly: Annotated[
        Literal["yes", "no"] | None, typer.Option(help="Only those that are made again each week, or are not.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Only where this provider was named to solve.")] = None,
    cost_from: CostFrom = None,
    cost_to: CostTo = None,
    sort: Sort = "newest",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your deployment's audits, newest first, or find those that all filters mean."""
    from touchstone.cli.deployment.finding import show_found
    from touchstone.cli.screens.audit_views import AUDITS

    filters: dict[str, str | float | None] = {
        "status": status,
        "search": search,
        "from": since,
        "to": until,
        "kind": kind,
        "target": target,
        "found": found,
        "weekly": weekly,
        "provider": provider,
        "cost_from": cost_from,
        "cost_to": cost_to,
        "sort": sort,
    }
    show_found("audits", filters, AUDITS, limit=limit, cursor=cursor, as_json=as_json)


def show(
    audit_id: AuditId,
    *,
    wait: Wait = False,
    timeout: Seconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: AsJson = False,
) -> None:
    """Show how far an audit of your deployment is, what it cost so far, and what it found.

    Exit codes as of `touchstone audit start`.
    """
    need("audits")
    from touchstone.cli.deployment.client import open_api

    _failing(fail_on)
    with open_api() as api:
        view = api.get("audits", audit_id)
        _show(_awaited(api, view, seconds=timeout) if wait else view, fail_on, as_json=as_json)


def report(
    audit_id: AuditId,
    *,
    form: Annotated[
        Literal["md", "json"], typer.Option("--format", help="For people, or for programs and `audit recheck`.")
    ] = "md",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write quality_report.json and quality_audit.md here; else it is printed."),
    ] = None,
) -> None:
    """Print the report of an audit of your deployment that is done, or write it into a folder."""
    need("audits")
    import tempfile

    from touchstone.audits.report import read_report, report_json, report_markdown
    from touchstone.cli.commands.audits import write_report
    from touchstone.cli.deployment.client import download, fetch
    from touchstone.cli.terminal.screen import visible
    from touchstone.errors import ConflictError

    view = fetch("audits", audit_id)
    if not view.get("report_url"):
        raise ConflictError(f"The audit has no report: its state is {view.get('state')}.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quality_report.json"
        download(str(view["report_url"]), file)
        found = read_report(file.read_bytes(), name="the report")
    if out is not None:
        write_report(out, found)
        return
    text = report_markdown(found) if form == "md" else report_json(found)
    typer.echo(visible(text) if form == "md" else text, nl=not text.endswith("\n"))


def recheck(
    audit_id: AuditId,
    *,
    target: Requirement,
    also: Also = None,
    wait: Wait = False,
    timeout: Seconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: AsJson = False,
) -> None:
    """Have your deployment run the proofs of an audit against another version of its target, without any model.

    It is an audit of its own. With --fail-on a case counts where its rating is another than it was.
    """
    need("audits")
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.local.audit_targets import target_of

    _failing(fail_on)
    wanted = target_of(target, also)
    body = {"requirement": wanted.requirement, **({} if also is None else {"also": list(wanted.also)})}
    with open_api() as api:
        view = api.post("audits", audit_id, "recheck", body=body)
        _show(_awaited(api, view, seconds=timeout) if wait else view, fail_on, as_json=as_json)


def end_weekly(audit_id: AuditId, *, as_json: AsJson = False) -> None:
    """Have an audit, and those that took over from it, not made again each week. What is begun goes on to its end."""
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.screens.audit_views import print_audit
    from touchstone.cli.terminal.screen import print_json

    with open_api() as api:
        view = api.delete("audits", audit_id, "weekly") or {}
    (print_json if as_json else print_audit)(view)


def _definitions(paths: Iterable[Path]) -> "Iterable[DefinitionFile]":
    """The files that hold cases, as they are sent. Raises `InputError` where any of them has a fault."""
    from touchstone.audits.record import DefinitionFile
    from touchstone.cli.local.audit_running import cases_in

    for file in dict.fromkeys(loaded.file for loaded in cases_in(paths)):
        yield DefinitionFile(name=str(file)[-MAX_NAME_CHARS:], text=file.read_text("utf-8-sig"))


def _failing(text: str) -> None:
    """Raises `InputError` for what --fail-on does not know, before anything is sent."""
    from touchstone.cli.screens.audit_screen import failing_of

    failing_of(text, drift=True)


def _awaited(api: "ApiClient", view: "Document", *, seconds: float) -> "Document":
    """The audit once it is over, or as it is after so many seconds."""
    from touchstone.cli.screens.audit_views import is_over
    from touchstone.cli.terminal import waiting
    from touchstone.cli.terminal.progress import noted_progress
    from touchstone.cli.terminal.screen import cost_of, say

    audit_id = str(view.get("id"))
    try:
        with noted_progress("Cases") as told:

            def look() -> "Document":
                found = api.get("audits", audit_id)
                told(found.get("done", 0), found.get("cases"), cost_of(found))
                return found

            return waiting.awaited(view, look, until=is_over, seconds=seconds)
    except KeyboardInterrupt:
        say(f"It goes on without you; see it with: touchstone audit show {audit_id}")
        raise


def _show(view: "Document", fail_on: str, *, as_json: bool) -> None:
    """Show it, say what to do next, and leave with its exit code."""
    from touchstone.cli.screens.audit_screen import failing_of
    from touchstone.cli.screens.audit_views import exit_of, is_over, print_audit
    from touchstone.cli.terminal.screen import print_json, say

    show_it: Callable[[Document], None] = print_json if as_json else print_audit
    show_it(view)
    if not as_json and not is_over(view):
        say(f"It goes on; see it with: touchstone audit show {view.get('id')}")
    elif not as_json and view.get("state") == "done":
        say(f"Its report: touchstone audit report {view.get('id')}")
    raise typer.Exit(exit_of(view, failing_of(fail_on, drift=True)))


# At the end, where all of them are defined: the commands of `audit` that ask a deployment, and their old names.
for _name, _command in (
    ("start", start),
    ("list", list_audits),
    ("show", show),
    ("report", report),
    ("start-recheck", recheck),
    ("end-weekly", end_weekly),
):
    audit.command(_name)(_command)
    _audits.command(_name.removeprefix("start-"))(_command)
