"""Commands about all data of a tenant, for operators: export it, and delete it for good."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.commands.tenants import tenant
from touchstone.cli.terminal import options, waiting
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.progress import noted_progress
from touchstone.cli.terminal.screen import column, print_json, print_table, say, visible
from touchstone.clock import system_clock
from touchstone.errors import InputError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

    from touchstone.operations.tenants.deleting import Deleted, Deletion
    from touchstone.records.objects import TenantObjects

app = typer.Typer()
app.add_typer(
    tenant,
    name="tenant",
    help="For operators: create, limit, recount, export, delete tenants. Needs TOUCHSTONE_TABLE and AWS credentials; "
    "recount, export and delete also need TOUCHSTONE_BUCKET.",
)
app.add_typer(tenant, name="tenants", hidden=True, help="The old name of `touchstone tenant`.")

REMAINS = (
    "What remains goes by itself or is not this command's: the table's backups (point-in-time recovery, 35 days),"
    " responses remembered for repeated requests (15 days), messages in the queues (14 days), the histories of"
    " executions, which hold ids (90 days), logs with ids and counts, and what the judges' providers keep. The shared"
    " counts of the quotas stay; they name nobody."
)
"""Said after a tenant was deleted."""

TenantId = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's id.")]


@tenant.command()
def export(
    tenant_id: TenantId,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder to write: an empty one, a new one, or that of an unfinished export."
        ),
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Write all data of a tenant into a folder.

    The folder gets a file of JSON lines for each kind of record, the tenant's objects, and manifest.json. The manifest
    names the files with their lines and SHA-256, and says what was left out. Its "complete" is false until everything
    is there. To continue an export that was interrupted, run the command again with the same folder.

    Exit code 1: some objects were deleted during the export; they are left out, and manifest.json names them.
    """
    from touchstone.cli.deployment.stores import artifacts, known_tenant, objects, table

    records = table()
    found = known_tenant(records, tenant_id)
    from touchstone.operations.tenants.exporting import Export  # needs boto3: `table` says if it is missing
    from touchstone.operations.tenants.folder import ExportFolder
    from touchstone.records.belongings import Belongings

    work = Export(belongings=Belongings(records), objects=objects(), bodies=artifacts(), courses=artifacts("courses"))
    place = ExportFolder(path=folder, tenant=tenant_id)
    with noted_progress("exporting") as show:
        done = work.run(found, place, show=lambda number, what: show(number, None, what))
    if as_json:
        files = [file.shown for file in done.files]
        summed = {"objects": done.objects, "gone": list(done.gone)}
        print_json({"tenant": tenant_id, "folder": str(folder), "files": files, **summed})
    lines = sum(file.lines for file in done.files) - done.objects
    say(f"Exported {tenant_id} to {folder}: {lines:,} records and {done.objects:,} objects.")
    if done.gone:
        say(f"Deleted before they could be read, and named in manifest.json: {len(done.gone):,} objects.")
        raise typer.Exit(Exit.VERDICT)


@tenant.command()
def delete(
    tenant_id: TenantId,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask to type the tenant's id again.")] = False,
    wait: Annotated[
        bool, typer.Option(help="Wait until no work of the tenant can be running any more, then finish the deletion.")
    ] = True,
    as_json: options.AsJson = False,
) -> None:
    """Delete a tenant and all its data for good.

    Deletes the tokens first, then the records and every version of the objects. Running work ends at its next step.
    After 16 minutes the command removes what that work still stored, and then the tenant's id; until then the id cannot
    be used again. If a run was stopped, or used --no-wait, run the command again to finish.
    """
    from touchstone.cli.deployment.stores import known_tenant, objects, table

    records = table()
    found = known_tenant(records, tenant_id, in_deletion=True)
    deletion = _deletion(records, objects())
    if not yes:
        _confirm(tenant_id, name=found.name)
    done = _run(deletion, tenant_id)
    removed = dict(done.removed)
    while wait and done.again_at is not None:
        say(f"What was under way has ended by {_time(done.again_at)} UTC; looking again then. Ctrl-C is safe.")
        waiting.pause(max(0.0, (done.again_at - system_clock()).total_seconds()))
        done = _run(deletion, tenant_id)
        removed = {what: removed.get(what, 0) + done.removed.get(what, 0) for what in {**removed, **done.removed}}
    if as_json:
        again_at = None if done.again_at is None else done.again_at.isoformat()
        print_json({"tenant": tenant_id, "removed": removed, "again_at": again_at})
    else:
        _print_removed(removed)
    if done.again_at is None:
        say(f"{tenant_id} is deleted. {REMAINS}")
    else:
        say(f"Run this again after {_time(done.again_at)} UTC, when nothing of {tenant_id} can be under way any more.")


def _deletion(records: "Table", objects: "TenantObjects") -> "Deletion":
    from touchstone.operations.tenants.deleting import Deletion
    from touchstone.records import Tenants, Tokens
    from touchstone.records.belongings import Belongings
    from touchstone.records.removal import Removal

    return Deletion(
        tenants=Tenants(records, clock=system_clock),
        tokens=Tokens(records),
        belongings=Belongings(records),
        removal=Removal(records),
        objects=objects,
        clock=system_clock,
    )


def _confirm(tenant_id: str, *, name: str) -> None:
    """Ask the user to type the tenant's id once more. Raises `InputError` if another id is typed."""
    say(f"All that {tenant_id} ({visible(name)}) has is deleted for good; `touchstone tenant export` keeps a copy.")
    if typer.prompt(f"Type {tenant_id} to delete it", err=True) != tenant_id:
        raise InputError("That is another id; nothing was deleted.", where="tenant")


def _run(deletion: "Deletion", tenant_id: str) -> "Deleted":
    with noted_progress("deleting") as show:
        return deletion.run(tenant_id, show=lambda number, what: show(number, None, what))


def _print_removed(removed: Mapping[str, int]) -> None:
    columns = (
        column("removed", "what"),
        column("number", right=True),
    )
    rows = [{"what": what.replace("_", " "), "number": f"{number:,}"} for what, number in sorted(removed.items())]
    print_table(columns, rows, empty="Nothing more was found.")


def _time(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}"
