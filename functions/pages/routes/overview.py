"""The first page: how much came, what became of it, what it cost, and whether the judges answer."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.judging import judges
from functions.composition.stores import evaluations, quotas, spending, statistics
from functions.environment import environment
from functions.pages.charts import Chart, Series, Tone
from functions.pages.tables import COST, Column, Row, Table, fact
from functions.pages.visit import View, Visit, visit
from functions.pages.words import Words
from touchstone.operations.reporting import BacklogReport, BudgetReport, backlog_report, budget_report

if TYPE_CHECKING:
    from touchstone.records import Volume

router = Router()

DAYS = 30
STATUSES = ("verified", "unverified", "caution", "failed")
TONES: dict[str, Tone] = {"verified": "good", "unverified": "quiet", "caution": "warn", "failed": "bad"}


@router.get("/")
def overview() -> Response[str]:
    """Volume, verdicts by status, spending against the ceiling, the judges' health."""
    met = visit(router)
    volume = statistics().volume(met.tenant, days=DAYS)
    budget = budget_of(met)
    backlog = backlog_of(met)
    totals = _totals(volume)
    return met.show(
        View(
            title="overview.title",
            template="overview.html",
            tables=(_statuses(totals), _days(volume), _health(budget), _skips(volume)),
            facts=(today_of(budget, backlog),),
            charts=(_chart(met.words, volume),) if volume else (),
            given={"totals": totals, "budget": budget, "backlog": backlog, "shown_days": DAYS},
        )
    )


def _totals(volume: Sequence["Volume"]) -> dict[str, int]:
    found = Counter[str]()
    for day in volume:
        found.update(day.statuses)
    return {status: found[status] for status in STATUSES}


def _statuses(totals: dict[str, int]) -> Table:
    count = sum(totals.values())
    rows: list[Row] = [
        {"status": status, "answers": number, "share": number / count if count else None}
        for status, number in totals.items()
    ]
    columns = (
        Column(name="status", shown="badge"),
        Column(name="answers", shown="number"),
        Column(name="share", shown="share"),
    )
    return Table(name="statuses", columns=columns, rows=rows)


def _days(volume: Sequence["Volume"]) -> Table:
    rows: list[Row] = [
        {
            "day": day.day,
            **{status: day.statuses.get(status, 0) for status in STATUSES},
            "cost_usd": day.cost_usd,
            "unpriced_calls": day.unpriced_calls,
        }
        for day in reversed(volume)
    ]
    columns = (
        Column(name="day", shown="moment"),
        *(Column(name=status, shown="number") for status in STATUSES),
        *COST,
    )
    return Table(name="days", columns=columns, rows=rows)


def _health(budget: BudgetReport) -> Table:
    rows: list[Row] = [
        {
            "tier": quota.tier,
            "model": quota.model,
            "used": quota.used,
            "limit": quota.limit,
            "left": quota.left,
            "resets_at": quota.resets_at,
            "blocked_until": quota.blocked_until,
            "blocked_why": quota.blocked_why,
        }
        for quota in budget.quotas
    ]
    columns = (
        Column(name="tier", shown="word", words="tier"),
        Column(name="model", shown="code"),
        Column(name="used", shown="number"),
        Column(name="limit", shown="number"),
        Column(name="left", shown="number"),
        Column(name="resets_at", shown="moment"),
        Column(name="blocked_until", shown="moment"),
        Column(name="blocked_why"),
    )
    return Table(name="judges_today", columns=columns, rows=rows)


def _skips(volume: Sequence["Volume"]) -> Table:
    """Why nobody decided, in the last week: a judge that does not answer is seen here first."""
    since = datetime.now(UTC).date() - timedelta(days=6)
    found = Counter[str]()
    for day in volume:
        if day.day >= since:
            found.update(day.skips)
    rows: list[Row] = [{"reason": reason, "attempts": number} for reason, number in found.most_common()]
    columns = (Column(name="reason", shown="word", words="skip"), Column(name="attempts", shown="number"))
    return Table(name="skips", columns=columns, rows=rows)


def _chart(words: Words, volume: Sequence["Volume"]) -> Chart:
    series = [
        Series(
            name=words(f"status.{status}"), values=[day.statuses.get(status, 0) for day in volume], tone=TONES[status]
        )
        for status in STATUSES
    ]
    labels = [day.day.isoformat() for day in volume]
    return Chart(kind="stacked", title=words("overview.volume", days=DAYS), labels=labels, series=series)


def today_of(budget: BudgetReport, backlog: BacklogReport) -> Table:
    """What was spent of today's ceiling, and where the deep evaluations stand."""
    row = {
        "spent_usd": budget.spent_usd,
        "reserved_usd": budget.reserved_usd,
        "unpriced_calls": budget.unpriced_calls,
        "ceiling_usd": budget.ceiling_usd,
        "waiting": backlog.waiting,
        "running": backlog.running,
        "deferred": backlog.deferred,
        "deferred_before_you": backlog.deferred_before_you,
        "oldest_requested_at": backlog.oldest_requested_at,
        "done_by": backlog.done_by,
    }
    return fact("today", row)


def budget_of(met: Visit) -> BudgetReport:
    """Today's budget of whoever visits."""
    return budget_report(
        tenant=met.tenant,
        judges=judges(met.tenant),
        quotas=quotas(),
        spending=spending(),
        ceiling_usd=environment().daily_ceiling_usd,
    )


def backlog_of(met: Visit) -> BacklogReport:
    """Where the deep evaluations of whoever visits stand."""
    return backlog_report(
        tenant=met.tenant,
        judges=judges(met.tenant),
        quotas=quotas(),
        evaluations=evaluations(),
        statistics=statistics(),
    )
