"""Commands about the state of a deployment: today's budget, the backlog of deferred work, the statistics."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from touchstone.cli.terminal.options import AsJson, Days, Limit

if TYPE_CHECKING:
    from touchstone.cli.terminal.screen import Row, ScreenColumn

DIMENSIONS = ("overall", "correctness", "completeness", "clarity", "pedagogy", "format")
NO_DATA = "Nothing has been counted yet."

app = typer.Typer()
stats = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(stats, name="stats", help="Show rates, volume, trends, suggestions and approaches.")


@app.command()
def budget(*, as_json: AsJson = False) -> None:
    """Show today's budget: the judges' quotas, and the money spent."""
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.screen import (
        ScreenColumn,
        cost_of,
        dollars,
        field,
        moment,
        print_facts,
        print_json,
        print_table,
    )

    report = fetch("budget")
    if as_json:
        print_json(report)
        return
    columns = (
        ScreenColumn(title="tier", of=field("tier")),
        ScreenColumn(title="model", of=lambda row: f"{row.get('provider')} {row.get('model')}"),
        ScreenColumn(title="used today", of=field("used"), right=True),
        ScreenColumn(title="left", of=field("left"), right=True),
        ScreenColumn(title="of", of=field("limit"), right=True),
        ScreenColumn(title="your share", of=_share, right=True),
        ScreenColumn(title="left this minute", of=field("left_this_minute"), right=True),
        ScreenColumn(title="resets (UTC)", of=lambda row: moment(row.get("resets_at"))),
        ScreenColumn(title="blocked until (UTC)", of=lambda row: moment(row.get("blocked_until"))),
    )
    quotas = _by_quota(report.get("quotas", ()))
    print_table(columns, quotas, empty="No judge has a key: checks decide alone.")
    print_facts(
        (
            *(("held back", _held(quota)) for quota in quotas if quota.get("blocked_until")),
            ("spent today", cost_of(report, name="spent_usd")),
            ("reserved", dollars(report.get("reserved_usd"))),
            ("ceiling", dollars(report.get("ceiling_usd"))),
        )
    )


@app.command()
def backlog(*, as_json: AsJson = False) -> None:
    """Show the state of your deep evaluations and of their batches.

    Also shows when the deferred evaluations will be done.
    """
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.screen import (
        ScreenColumn,
        dollars,
        field,
        moment,
        print_facts,
        print_json,
        print_table,
    )

    report = fetch("backlog")
    if as_json:
        print_json(report)
        return
    states = ("waiting", "deferred", "submitted", "running", "done", "failed")
    print_facts(
        (
            *((state, report.get(state)) for state in states),
            ("before you", report.get("deferred_before_you")),
            ("of them for a batch", report.get("waiting_for_batch")),
            ("oldest asked (UTC)", moment(report.get("oldest_requested_at"))),
            ("done by (UTC)", moment(report.get("done_by"))),
        )
    )
    columns = (
        ScreenColumn(title="of", of=lambda row: f"{row.get('of') or 'evaluation'}s"),
        ScreenColumn(title="batch", of=lambda row: f"{row.get('provider')} {row.get('model')}"),
        ScreenColumn(title="state", of=lambda row: str(row.get("ended") or row.get("state"))),
        ScreenColumn(title="questions", of=field("questions"), right=True),
        ScreenColumn(title="answered", of=field("answered"), right=True),
        ScreenColumn(title="submitted (UTC)", of=lambda row: moment(row.get("submitted_at"))),
        ScreenColumn(title="there by (UTC)", of=lambda row: moment(row.get("ends_by"))),
        ScreenColumn(title="saved", of=lambda row: dollars(row.get("saved_usd")), right=True),
    )
    if batches := report.get("batches"):
        print_table(columns, batches, empty="")
        print_facts((f"{one.get('provider')} {one.get('model')}", one.get("because")) for one in batches)


@stats.command()
def rates(*, as_json: AsJson = False) -> None:
    """Show how often answers were right, with 95 % intervals."""
    from touchstone.cli.deployment.client import fetch_whole
    from touchstone.cli.terminal.screen import ScreenColumn, field, percent, print_rows

    tables = ("provider_subject", "model_subject", "model_difficulty")
    report = fetch_whole("statistics", "rates", lists=tables)
    columns = (
        ScreenColumn(title="by", of=field("by")),
        ScreenColumn(title="name", of=field("name")),
        ScreenColumn(title="of", of=field("of")),
        ScreenColumn(title="right", of=lambda row: percent(row.get("rate")), right=True),
        ScreenColumn(title="95 % interval", of=_interval),
        ScreenColumn(title="correct", of=field("correct"), right=True),
        ScreenColumn(title="decided", of=field("decided"), right=True),
        ScreenColumn(title="skipped", of=field("skipped"), right=True),
    )
    rows = [{"by": table.replace("_", " × "), **row} for table in tables for row in report.get(table, ())]
    print_rows(report, columns, rows, empty=NO_DATA, as_json=as_json)


@stats.command()
def volume(*, days: Days = 30, as_json: AsJson = False) -> None:
    """Show for each day the answers, the skips and the cost."""
    from touchstone.cli.terminal.screen import ScreenColumn, cost_of, field

    columns = (
        ScreenColumn(title="day (UTC)", of=field("day")),
        *(ScreenColumn(title=status, of=_count("statuses", status), right=True) for status in _STATUSES),
        ScreenColumn(title="skipped because", of=lambda row: _counts(row.get("skips") or {})),
        ScreenColumn(title="cost", of=cost_of, right=True),
    )
    _list("volume", columns, as_json=as_json, days=days)


@stats.command()
def trends(*, days: Days = 30, as_json: AsJson = False) -> None:
    """Show for each day the mean scores of deep evaluations."""
    from touchstone.cli.terminal.screen import ScreenColumn, field

    columns = (
        ScreenColumn(title="day (UTC)", of=field("day")),
        ScreenColumn(title="evaluations", of=field("evaluations"), right=True),
        *(ScreenColumn(title=dimension, of=_mean(dimension), right=True) for dimension in DIMENSIONS),
    )
    _list("trends", columns, as_json=as_json, days=days)


@stats.command()
def suggestions(*, limit: Limit = 20, as_json: AsJson = False) -> None:
    """Show the most frequent suggestions for improvement."""
    from touchstone.cli.terminal.screen import ScreenColumn, field

    columns = (
        ScreenColumn(title="times", of=field("count"), right=True),
        ScreenColumn(title="suggestion", of=field("text")),
    )
    _list("suggestions", columns, as_json=as_json, limit=limit)


@stats.command()
def approaches(*, limit: Limit = 20, as_json: AsJson = False) -> None:
    """Show better approaches from deep evaluations, newest first."""
    from touchstone.cli.terminal.screen import ScreenColumn, field

    columns = (ScreenColumn(title="answer", of=field("answer_id")), ScreenColumn(title="approach", of=field("text")))
    _list("approaches", columns, as_json=as_json, limit=limit)


_STATUSES = ("verified", "caution", "unverified")


def _list(name: str, columns: "tuple[ScreenColumn, ...]", *, as_json: bool, **query: int) -> None:
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.terminal.screen import print_rows

    with open_api() as api:
        rows = api.get_list("statistics", name, **query)
    print_rows(rows, columns, rows, empty=NO_DATA, as_json=as_json)


def _by_quota(tiers: Iterable["Row"]) -> "list[Row]":
    """A row for each quota. If one model serves two tiers, they share a quota, and its row names both tiers."""
    found: list[dict[str, Any]] = []
    for one in tiers:
        same = next((each for each in found if {**each, "tier": None} == {**one, "tier": None}), None)
        if same is None:
            found.append(dict(one))
        else:
            same["tier"] = f"{same['tier']}, {one['tier']}"
    return list(found)


def _held(quota: "Row") -> str:
    """A sentence that says for which tier nothing is sent, until when, and why."""
    from touchstone.cli.terminal.screen import moment

    until = f"{quota.get('tier')}: nothing is sent before {moment(quota.get('blocked_until'))} UTC."
    return " ".join(filter(None, (until, quota.get("blocked_why"))))


def _share(row: "Row") -> str | None:
    """What the tenant has used of its own share of a quota; None if it may use all of the quota."""
    share = row.get("share")
    if share is None:
        return None
    return f"{share['used']} of {'all' if share['limit'] is None else share['limit']}"


def _count(group: str, name: str) -> Any:
    return lambda row: (row.get(group) or {}).get(name, 0)


def _mean(dimension: str) -> Any:
    from touchstone.cli.terminal.screen import percent

    return lambda row: percent((row.get("means") or {}).get(dimension))


def _counts(found: Mapping[str, object]) -> str | None:
    return ", ".join(f"{name} {count}" for name, count in sorted(found.items())) or None


def _interval(row: "Row") -> str | None:
    from touchstone.cli.terminal.screen import percent

    lower, upper = percent(row.get("lower")), percent(row.get("upper"))
    return None if lower is None or upper is None else f"{lower} to {upper}"
