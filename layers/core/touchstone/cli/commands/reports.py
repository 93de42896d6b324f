"""Commands about the state of a deployment: today's budget, the backlog of deferred work, the statistics."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer

from touchstone.cli.deployment.api import fetch, fetch_whole, open_api
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import print_json
from touchstone.cli.terminal.tables import (
    Row,
    ScreenColumn,
    column,
    columns,
    print_facts,
    print_rows,
    print_table,
    time_column,
)
from touchstone.cli.terminal.words import cost_of, dollars, moment, percent

DIMENSIONS = ("overall", "correctness", "completeness", "clarity", "pedagogy", "format")
NO_DATA = "Nothing has been counted yet."

app = typer.Typer()
stats = options.group("stats", "Show rates, volume, trends, suggestions and approaches.")
app.add_typer(stats)


@app.command()
def budget(*, as_json: options.AsJson = False) -> None:
    """Show today's budget: the judges' quotas, and the money spent."""
    report = fetch("budget")
    if as_json:
        print_json(report)
        return
    quotas = _by_quota(report.get("quotas", ()))
    print_table(QUOTAS, quotas, empty="No judge has a key: checks decide alone.")
    print_facts(
        (
            *(("held back", _held(quota)) for quota in quotas if quota.get("blocked_until")),
            ("spent today", cost_of(report, name="spent_usd")),
            ("reserved", dollars(report.get("reserved_usd"))),
            ("ceiling", dollars(report.get("ceiling_usd"))),
        )
    )


@app.command()
def backlog(*, as_json: options.AsJson = False) -> None:
    """Show the state of your deep evaluations and of their batches.

    Also shows when the deferred evaluations will be done.
    """
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
    if batches := report.get("batches"):
        print_table(BATCHES, batches, empty="")
        print_facts((f"{one.get('provider')} {one.get('model')}", one.get("because")) for one in batches)


@stats.command()
def rates(*, as_json: options.AsJson = False) -> None:
    """Show how often answers were right, with 95 % intervals."""
    tables = ("provider_subject", "model_subject", "model_difficulty")
    report = fetch_whole("statistics", "rates", lists=tables)
    rows = [{"by": table.replace("_", " × "), **row} for table in tables for row in report.get(table, ())]
    print_rows(report, RATES, rows, empty=NO_DATA, as_json=as_json)


@stats.command()
def volume(*, days: options.Days = 30, as_json: options.AsJson = False) -> None:
    """Show for each day the answers, the skips and the cost."""
    _list("volume", VOLUME, as_json=as_json, days=days)


@stats.command()
def trends(*, days: options.Days = 30, as_json: options.AsJson = False) -> None:
    """Show for each day the mean scores of deep evaluations."""
    _list("trends", TRENDS, as_json=as_json, days=days)


@stats.command()
def suggestions(*, limit: options.Limit = 20, as_json: options.AsJson = False) -> None:
    """Show the most frequent suggestions for improvement."""
    _list("suggestions", SUGGESTIONS, as_json=as_json, limit=limit)


@stats.command()
def approaches(*, limit: options.Limit = 20, as_json: options.AsJson = False) -> None:
    """Show better approaches from deep evaluations, newest first."""
    _list("approaches", APPROACHES, as_json=as_json, limit=limit)


def _list(name: str, columns: Sequence[ScreenColumn], *, as_json: bool, **query: int) -> None:
    with open_api() as api:
        rows = api.get_list("statistics", name, **query)
    print_rows(rows, columns, rows, empty=NO_DATA, as_json=as_json)


def _by_quota(tiers: Iterable[Row]) -> list[Row]:
    """A row for each quota. If one model serves two tiers, they share a quota, and its row names both tiers."""
    found: list[dict[str, Any]] = []
    for one in tiers:
        same = next((each for each in found if {**each, "tier": None} == {**one, "tier": None}), None)
        if same is None:
            found.append(dict(one))
        else:
            same["tier"] = f"{same['tier']}, {one['tier']}"
    return list(found)


def _held(quota: Row) -> str:
    """A sentence that says for which tier nothing is sent, until when, and why."""
    until = f"{quota.get('tier')}: nothing is sent before {moment(quota.get('blocked_until'))} UTC."
    return " ".join(filter(None, (until, quota.get("blocked_why"))))


def _share(row: Row) -> str | None:
    """What the tenant has used of its own share of a quota; None if it may use all of the quota."""
    share = row.get("share")
    if share is None:
        return None
    return f"{share['used']} of {'all' if share['limit'] is None else share['limit']}"


def _count(status: str) -> Any:
    return lambda row: (row.get("statuses") or {}).get(status, 0)


def _mean(dimension: str) -> Any:
    return lambda row: percent((row.get("means") or {}).get(dimension))


def _counts(found: Mapping[str, object]) -> str | None:
    return ", ".join(f"{name} {count}" for name, count in sorted(found.items())) or None


def _interval(row: Row) -> str | None:
    lower, upper = percent(row.get("lower")), percent(row.get("upper"))
    return None if lower is None or upper is None else f"{lower} to {upper}"


QUOTAS = (
    column("tier"),
    column("model", lambda row: f"{row.get('provider')} {row.get('model')}"),
    column("used today", "used", right=True),
    column("left", right=True),
    column("of", "limit", right=True),
    column("your share", _share, right=True),
    column("left this minute", "left_this_minute", right=True),
    time_column("resets (UTC)", "resets_at"),
    time_column("blocked until (UTC)", "blocked_until"),
)
BATCHES = (
    column("of", lambda row: f"{row.get('of') or 'evaluation'}s"),
    column("batch", lambda row: f"{row.get('provider')} {row.get('model')}"),
    column("state", lambda row: str(row.get("ended") or row.get("state"))),
    *columns("questions", "answered", right=True),
    time_column("submitted (UTC)", "submitted_at"),
    time_column("there by (UTC)", "ends_by"),
    column("saved", lambda row: dollars(row.get("saved_usd")), right=True),
)
RATES = (
    *columns("by", "name", "of"),
    column("right", lambda row: percent(row.get("rate")), right=True),
    column("95 % interval", _interval),
    *columns("correct", "decided", "skipped", right=True),
)
VOLUME = (
    column("day (UTC)", "day"),
    *(column(status, _count(status), right=True) for status in ("verified", "caution", "unverified")),
    column("skipped because", lambda row: _counts(row.get("skips") or {})),
    column("cost", cost_of, right=True),
)
TRENDS = (
    column("day (UTC)", "day"),
    column("evaluations", right=True),
    *(column(dimension, _mean(dimension), right=True) for dimension in DIMENSIONS),
)
SUGGESTIONS = (column("times", "count", right=True), column("suggestion", "text"))
APPROACHES = (column("answer", "answer_id"), column("approach", "text"))
