"""Commands about audits that a deployment makes: start one, follow it, read its report, run its proofs again."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from touchstone.cli.commands.audits import DEFAULT_TURNS, Definitions, MaxCost, Provider, Turns, audit, write_report
from touchstone.cli.commands.listing import SEARCHED, Columns, listing, only
from touchstone.cli.deployment.api import fetch, fetch_file, followed, hastened, open_api
from touchstone.cli.files.requests import checked
from touchstone.cli.local.audit_targets import Also, Requirement, target_of
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.tables import print_markdown
from touchstone.cli.terminal.words import View, is_over
from touchstone.errors import ConflictError
from touchstone.extras import require_extras
from touchstone.text.decoding import decoded

if TYPE_CHECKING:
    from touchstone.audits.record import DefinitionFile
    from touchstone.cli.screens.audit_views import Failing

old_audits = options.group("audits", "The old name of commands that are now under `touchstone audit`.", hidden=True)

MAX_NAME_CHARS = 200
"""The limit of the name of a file that is sent. Of a longer name the end is sent."""
SECONDS = 3600.0

AuditId = Annotated[str, typer.Argument(metavar="ID", help="The audit's id.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait until the audit has ended.")]
FailOn = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Findings that give exit code 1: any of incorrect, ambiguous, unproven (ratings) and drift; or none.",
    ),
]
FAIL_ON = "incorrect,ambiguous,drift"


def start(
    files: Definitions,
    *,
    target: Requirement,
    also: Also = None,
    previous: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The id of an earlier audit. Its proofs run first, and the model solves only cases that drifted or "
            "are new.",
        ),
    ] = None,
    provider: Provider = None,
    turns: Turns = DEFAULT_TURNS,
    max_cost: MaxCost = None,
    weekly: Annotated[
        bool,
        typer.Option(
            "--weekly", help="Repeat the audit each week, with the version that the requirement then resolves to."
        ),
    ] = False,
    cheap: Annotated[
        bool,
        typer.Option(
            "--cheap",
            help="Ask the first turn of each case through a provider's batch: at half the price, within a day or two.",
        ),
    ] = False,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: options.AsJson = False,
) -> None:
    """Start an audit of a benchmark in your deployment.

    The definitions are checked before anything is sent, and every fault is reported. The audit takes minutes or hours;
    the command returns at once, unless --wait is given.

    Exit code 1: there is a finding that --fail-on names; else 3: a case is Unproven, or the audit failed, for example
    because the target cannot be used; else 0, also while the audit is still going on.
    """
    require_extras("audits")
    from touchstone.audits.agent import Bounds
    from touchstone.audits.record import AuditRequest

    failing = _failing(fail_on)
    fields = {
        "target": target_of(target, also),
        "files": tuple(_definitions(files)),
        "provider": provider,
        "bounds": Bounds(turns=turns),
        "max_cost_usd": max_cost,
        "previous": previous,
        "weekly": weekly,
        "when": "cheap" if cheap else "now",
    }
    request = checked(AuditRequest, fields)
    with open_api() as api:
        view = api.post("audits", body=request.model_dump(mode="json", exclude_defaults=True))
        _show(followed(api, "audits", view, seconds=timeout) if wait else view, failing, as_json=as_json)


@listing(
    "audits",
    begun_by="touchstone audit start",
    filters={
        "status": only("Only audits with this status.", "waiting|auditing|done|failed|unfinished|ended"),
        **SEARCHED,
        "kind": only("Only audits, or only rechecks of stored proofs.", "audit|recheck"),
        "target": only("Only audits of this distribution, for example google-adk, or of this whole requirement."),
        "found": only("Only audits with this finding.", "incorrect|ambiguous|drifted|nothing"),
        "weekly": only("Only audits that are repeated each week (yes), or only the others (no).", "yes|no"),
        "provider": only("Only audits for which --provider was this provider."),
    },
)
def list_audits() -> Columns:
    """List your deployment's audits, newest first. With filters: only audits that match all."""
    from touchstone.cli.screens.audit_views import AUDITS

    return AUDITS


def show(
    audit_id: AuditId,
    *,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: options.AsJson = False,
) -> None:
    """Show the progress, cost and findings of an audit.

    The exit codes are those of `touchstone audit start`. In a recheck a rating counts only if it has changed.
    """
    require_extras("audits")
    failing = _failing(fail_on)
    with open_api() as api:
        view = api.get("audits", audit_id)
        _show(followed(api, "audits", view, seconds=timeout) if wait else view, failing, as_json=as_json)


def report(
    audit_id: AuditId,
    *,
    form: Annotated[
        Literal["md", "json"],
        typer.Option("--format", help="md: for people; json: for programs and for `audit recheck`."),
    ] = "md",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write quality_report.json and quality_audit.md into this folder. Default: the report is printed.",
        ),
    ] = None,
) -> None:
    """Print or write the report of a deployment's finished audit."""
    require_extras("audits")
    from touchstone.audits.report import read_report, report_json, report_markdown

    view = fetch("audits", audit_id)
    if not view.get("report_url"):
        raise ConflictError(f"The audit has no report: its state is {view.get('state')}.")
    found = read_report(fetch_file(view["report_url"]), name="the report")
    if out is not None:
        write_report(out, found)
        return
    if form == "md":
        print_markdown(report_markdown(found))
    else:
        text = report_json(found)
        typer.echo(text, nl=not text.endswith("\n"))


def recheck(
    audit_id: AuditId,
    *,
    target: Requirement,
    also: Also = None,
    wait: Wait = False,
    timeout: options.WaitSeconds = SECONDS,
    fail_on: FailOn = FAIL_ON,
    as_json: options.AsJson = False,
) -> None:
    """Start a recheck of an audit in your deployment.

    It runs the proofs of the audit against another version of its target, without a model. The recheck is a new audit
    with its own id. Without --also the further distributions of the earlier audit count.

    Exit code 1: a case drifted, if --fail-on names drift, or a case now has another rating than before and --fail-on
    names it; 3: the recheck failed; else 0, also while it is still going on.
    """
    require_extras("audits")
    failing = _failing(fail_on)
    wanted = target_of(target, also)
    body = {"requirement": wanted.requirement, **({} if also is None else {"also": list(wanted.also)})}
    with open_api() as api:
        view = api.post("audits", audit_id, "recheck", body=body)
        _show(followed(api, "audits", view, seconds=timeout) if wait else view, failing, as_json=as_json)


def ask_now(audit_id: AuditId, *, pay_twice: options.PayTwice = False, as_json: options.AsJson = False) -> None:
    """Ask the waiting turns of an audit at once, at the full price.

    This is for an audit that waits for a provider's batches. What is already in a batch stays there, unless --pay-twice
    is given.
    """
    from touchstone.cli.screens.audit_views import print_audit

    view = hastened("audits", audit_id, pay_twice=pay_twice)
    (print_json if as_json else print_audit)(view)


def end_weekly(audit_id: AuditId, *, as_json: options.AsJson = False) -> None:
    """Stop the weekly repetition of an audit.

    This also stops it for the audits that followed from it. An audit that has begun goes on to its end.
    """
    from touchstone.cli.screens.audit_views import print_audit

    with open_api() as api:
        view = api.delete("audits", audit_id, "weekly") or {}
    (print_json if as_json else print_audit)(view)


def _definitions(paths: Iterable[Path]) -> "Iterable[DefinitionFile]":
    """The files that hold cases, in the form of the request. Raises `InputError` if any of them has a fault."""
    from touchstone.audits.record import DefinitionFile
    from touchstone.cli.local.audit_running import cases_in

    for file in dict.fromkeys(loaded.file for loaded in cases_in(paths)):
        fields = {"name": str(file)[-MAX_NAME_CHARS:], "text": decoded(file.read_bytes())}
        yield checked(DefinitionFile, fields)


def _failing(text: str) -> "frozenset[Failing]":
    """The findings that --fail-on names. Raises `InputError` for an unknown one: call it before anything is sent."""
    from touchstone.cli.screens.audit_views import failing_of

    return failing_of(text, drift=True)


def _show(view: View, failing: "frozenset[Failing]", *, as_json: bool) -> None:
    """Show an audit, say what to do next, and leave with its exit code."""
    from touchstone.cli.screens.audit_views import exit_of, print_audit

    (print_json if as_json else print_audit)(view)
    if not as_json and not is_over(view):
        say(f"It goes on; see it with: touchstone audit show {view.get('id')}")
    elif not as_json and view.get("state") == "done":
        say(f"Its report: touchstone audit report {view.get('id')}")
    raise typer.Exit(exit_of(view, failing))


# Register the commands of `audit` that ask a deployment, and their old names. All of them are defined above.
for _name, _command in (
    ("start", start),
    ("list", list_audits),
    ("show", show),
    ("report", report),
    ("start-recheck", recheck),
    ("now", ask_now),
    ("end-weekly", end_weekly),
):
    audit.command(_name)(_command)
    old_audits.command(_name.removeprefix("start-"))(_command)
