"""Commands about tenants, for operators: they work on the table itself, so that no tenant can run them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

    from touchstone.records.table import Item

type Counters = Mapping[tuple[str, str], Item]
"""The items that a tenant's records are counted in, by their key."""

FIRST_TOKEN = "first admin token"  # noqa: S105 - a token's name
UNREAD = {"ignore_unknown_options": True}
"""So that -5 is an amount of money, and refused as such, where it would be an option that does not exist."""

tenant = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
TenantId = Annotated[str, typer.Argument(metavar="ID", help="Its id: lower-case letters, digits and dashes.")]


@tenant.command()
def create(
    tenant_id: TenantId, *, name: Annotated[str, typer.Option(help="Its name, for people.")], as_json: AsJson = False
) -> None:
    """Create a tenant and its first admin token, which is shown this once.

    Works on the table itself: set TOUCHSTONE_TABLE to its name, and AWS credentials that may write to it.
    """
    from touchstone.cli.deployment.stores import table
    from touchstone.cli.terminal.screen import print_json, say

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
        float | None, typer.Argument(metavar="USD", help="US dollars a day from 0 up; shown if left out.")
    ] = None,
    *,
    default: Annotated[bool, typer.Option("--default", help="Fall back to the deployment's ceiling.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show or set what a tenant may spend on judges a UTC day; it holds within half a minute.

    Without a ceiling of its own, TOUCHSTONE_DAILY_CEILING_USD of the deployment holds.
    """
    from touchstone import usage
    from touchstone.budgets import Spending
    from touchstone.cli.deployment.stores import check_known_tenant, table
    from touchstone.cli.terminal.screen import dollars, print_facts, print_json
    from touchstone.errors import InputError

    if default and usd is not None:
        raise InputError("Either an amount or --default, not both.", where="usd")
    records = table()
    check_known_tenant(records, tenant_id)
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
def recount(tenant_id: TenantId, *, as_json: AsJson = False) -> None:
    """Count a tenant's records again, and show what differed. Exit code 1 where anything did; it is right now.

    To be run while nothing of this tenant is under way: what ends meanwhile may be counted wrongly. Needs
    TOUCHSTONE_BUCKET too, where the longest records are.
    """
    from touchstone.cli.deployment.stores import artifacts, check_known_tenant, table
    from touchstone.cli.terminal.screen import ScreenColumn, field, print_rows, say

    records = table()
    check_known_tenant(records, tenant_id)
    from touchstone.operations.labelling import keep_thresholds
    from touchstone.records import Statistics  # with boto3, which `table` says is missing
    from touchstone.records.thresholds import Thresholds

    statistics = Statistics(records, artifacts())
    before = statistics.counters(tenant_id)
    counted = statistics.rebuild(tenant_id)
    if statistics.labels(tenant_id):
        keep_thresholds(Thresholds(records), statistics, tenant=tenant_id)
    differences = list(_differences(tenant_id, before, statistics.counters(tenant_id)))
    document = {"tenant": tenant_id, "records": counted, "differences": differences}
    titles = ("counter", "field", "was", "is")
    columns = [ScreenColumn(title=title, of=field(title), right=title in {"was", "is"}) for title in titles]
    print_rows(document, columns, differences, empty="The counters are what the records add up to.", as_json=as_json)
    say(f"Records counted: {counted}. Numbers that were wrong: {len(differences)}.")
    raise typer.Exit(Exit.VERDICT if differences else Exit.DONE)


def _new_tenant(records: "Table", tenant: str, *, name: str) -> str:
    """Create a tenant; returns its first admin token. A run that broke off in between is finished by a repeat.

    Raises `InputError` for a malformed id, `ConflictError` where the id is taken, `StoreError` where the table cannot
    be used.
    """
    from touchstone.errors import ConflictError
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
    """Each number or text that is another one now. What was not there counted nothing: None.

    A number that is spread over shards is another one where their sum is.
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
    """The numbers of a tenant's counters, each over all its shards, and its texts."""
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
    """A number or a text of the table as JSON has it."""
    return value if value is None or isinstance(value, str) else int(value)
