"""Commands about tenants, for operators: they use the table itself and not the API, so no tenant can run them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone import usage
from touchstone.cli.terminal import options, waiting
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import print_json, say, visible
from touchstone.cli.terminal.tables import column, print_facts, print_rows, print_table
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.cli.terminal.words import dollars
from touchstone.clock import system_clock
from touchstone.errors import ConflictError, InputError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

    from touchstone.operations.tenants.deleting import Deleted, Deletion
    from touchstone.records.objects import TenantObjects
    from touchstone.records.table import Item

type Counters = Mapping[tuple[str, str], Item]
"""The items of the table that count a tenant's records, by their key."""

tenant = options.group(
    "tenant",
    "For operators: create, limit, recount, export, delete tenants. Needs TOUCHSTONE_TABLE and AWS credentials; "
    "recount, export and delete also need TOUCHSTONE_BUCKET.",
)

FIRST_TOKEN = "first admin token"  # noqa: S105 - a token's name
UNREAD = {"ignore_unknown_options": True}
"""Settings with which -5 is read as an amount of money, and refused as such, and not as an unknown option."""
REMAINS = (
    "What remains goes by itself or is not this command's: the table's backups (point-in-time recovery, 35 days),"
    " responses remembered for repeated requests (15 days), messages in the queues (14 days), the histories of"
    " executions, which hold ids (90 days), logs with ids and counts, and what the judges' providers keep. The shared"
    " counts of the quotas stay; they name nobody."
)
"""Said after a tenant was deleted."""

TenantId = Annotated[str, typer.Argument(metavar="ID", help="The tenant's id: lower-case letters, digits and dashes.")]
KnownTenantId = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's id.")]


@tenant.command()
def create(
    tenant_id: TenantId,
    *,
    name: Annotated[str, typer.Option(help="The tenant's name, for people to read.")],
    as_json: options.AsJson = False,
) -> None:
    """Create a tenant and its first admin token.

    The token is printed only this once. The command writes to the table itself: set TOUCHSTONE_TABLE to the table's
    name, and use AWS credentials that may write to it.
    """
    from touchstone.cli.deployment.stores import table

    token = _new_tenant(table(), tenant_id, name=name)
    if as_json:
        print_json({"tenant": tenant_id, "name": name, "role": "admin", "token": token})
        return
    say(f"The tenant {tenant_id} exists. Its first admin token is shown this once; keep it:")
    typer.echo(token)


@tenant.command(context_settings=UNREAD)
def ceiling(
    tenant_id: TenantId,
    usd: Annotated[
        float | None,
        typer.Argument(metavar="USD", help="The new limit in US dollars a day, 0 or more. Default: show the limit."),
    ] = None,
    *,
    default: Annotated[
        bool, typer.Option("--default", help="Remove the tenant's own limit: the deployment's limit holds again.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show or set how much a tenant may spend on judges in a UTC day.

    A new limit takes effect within half a minute. A tenant without its own limit has that of the deployment:
    TOUCHSTONE_DAILY_CEILING_USD.
    """
    from touchstone.budgets import Spending
    from touchstone.cli.deployment.stores import known_tenant, table

    if default and usd is not None:
        raise InputError("Either an amount or --default, not both.", where="usd")
    records = table()
    known_tenant(records, tenant_id)  # raises if it does not exist
    spending = Spending(records)
    if default or usd is not None:
        spending.set_ceiling(tenant_id, usd)
    spent = spending.today(tenant_id)
    if as_json:
        names = ("ceiling_usd", "spent_usd", "reserved_usd", "unpriced_calls")
        print_json({"tenant": tenant_id, **{name: getattr(spent, name) for name in names}})
        return
    print_facts(
        (
            ("ceiling", dollars(spent.ceiling_usd) or "the deployment's (TOUCHSTONE_DAILY_CEILING_USD)"),
            ("spent today", usage.dollars(spent.spent_usd, spent.unpriced_calls)),
            ("reserved", dollars(spent.reserved_usd)),
        )
    )


@tenant.command()
def recount(tenant_id: TenantId, *, as_json: options.AsJson = False) -> None:
    """Count a tenant's records again, and correct its counters.

    Shows each number that differed. Run it while no work of this tenant is running: work that ends meanwhile may be
    counted wrongly. It also needs TOUCHSTONE_BUCKET, because the longest records are in the bucket.

    Exit code 0: all counters were right; 1: some were wrong, and are corrected now.
    """
    from touchstone.cli.deployment.stores import artifacts, known_tenant, table

    records = table()
    known_tenant(records, tenant_id)  # raises if it does not exist
    from touchstone.operations.labels.labelling import keep_thresholds
    from touchstone.records import Statistics  # needs boto3: `table` says if it is missing
    from touchstone.records.thresholds import Thresholds

    statistics = Statistics(records, artifacts())
    before = statistics.counters(tenant_id)
    counted = statistics.rebuild(tenant_id)
    if statistics.labels(tenant_id):
        keep_thresholds(Thresholds(records), statistics, tenant=tenant_id)
    differences = list(_differences(tenant_id, before, statistics.counters(tenant_id)))
    document = {"tenant": tenant_id, "records": counted, "differences": differences}
    titles = ("counter", "field", "was", "is")
    columns = [column(title, title, right=title in {"was", "is"}) for title in titles]
    print_rows(document, columns, differences, empty="The counters are what the records add up to.", as_json=as_json)
    say(f"Records counted: {counted}. Numbers that were wrong: {len(differences)}.")
    raise typer.Exit(Exit.VERDICT if differences else Exit.DONE)


@tenant.command()
def export(
    tenant_id: KnownTenantId,
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
    tenant_id: KnownTenantId,
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
        say(
            f"All that {tenant_id} ({visible(found.name)}) has is deleted for good; `touchstone tenant export` keeps a "
            "copy."
        )
        if typer.prompt(f"Type {tenant_id} to delete it", err=True) != tenant_id:
            raise InputError("That is another id; nothing was deleted.", where="tenant")
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


def _new_tenant(records: "Table", tenant: str, *, name: str) -> str:
    """Create a tenant, and return its first admin token. If a run broke off in between, a repeat finishes it.

    Raises `InputError` if the id is malformed, `ConflictError` if it is taken, and `StoreError` if the table cannot be
    used.
    """
    from touchstone.records import Tenants, Tokens

    tokens = Tokens(records)
    try:
        Tenants(records).create(tenant=tenant, name=name)
    except ConflictError:
        if tokens.list(tenant):
            raise
    token, _ = tokens.issue(tenant=tenant, role="admin", name=FIRST_TOKEN)
    return token


def _differences(tenant: str, before: "Counters", after: "Counters") -> Iterator[dict[str, Any]]:
    """Each number or text of the counters that has changed; None for a field that was not, or is not, there.

    A number that is spread over shards has changed only if the sum of the shards has.
    """
    was_in_all, is_in_all = _over_shards(before), _over_shards(after)
    for key in sorted({*before, *after}):
        old, new = before.get(key, {}), after.get(key, {})
        counter = " ".join((key[0].removeprefix(f"T#{tenant}#"), key[1]))
        for name in sorted({*old, *new} - {"pk", "sk"}):
            was, now = _plain(old.get(name)), _plain(new.get(name))
            place = (_unsharded(key[0]), key[1], name)
            if (was or 0) != (now or 0) and was_in_all.get(place, 0) != is_in_all.get(place, 0):
                yield {"counter": counter, "field": name, "was": was, "is": now}


def _over_shards(counters: "Counters") -> dict[tuple[str, str, str], int | str]:
    """The numbers of a tenant's counters, each as the sum over all its shards, and their texts."""
    found: dict[tuple[str, str, str], int | str] = {}
    for (pk, sk), item in counters.items():
        for name in item.keys() - {"pk", "sk"}:
            place, value = (_unsharded(pk), sk, name), _plain(item[name])
            earlier = found.get(place, 0)
            if isinstance(value, int) and isinstance(earlier, int):
                found[place] = earlier + value
            else:
                found[place] = value or 0
    return found


def _unsharded(pk: str) -> str:
    return pk.rpartition("#")[0] if "#COUNTS#" in pk else pk


def _plain(value: Any) -> int | str | None:
    """A number or a text of the table in the type that JSON has."""
    return value if value is None or isinstance(value, str) else int(value)


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


def _run(deletion: "Deletion", tenant_id: str) -> "Deleted":
    with noted_progress("deleting") as show:
        return deletion.run(tenant_id, show=lambda number, what: show(number, None, what))


def _print_removed(removed: Mapping[str, int]) -> None:
    rows = [{"what": what.replace("_", " "), "number": f"{number:,}"} for what, number in sorted(removed.items())]
    print_table(REMOVED, rows, empty="Nothing more was found.")


def _time(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}"


REMOVED = (
    column("removed", "what"),
    column("number", right=True),
)
