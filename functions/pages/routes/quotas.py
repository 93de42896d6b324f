"""Quotas: what may still be asked of the judges today, what was spent against the ceiling, and the deferred backlog."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.stores import spending
from functions.pages.charts import Chart, Series
from functions.pages.finding import found_at
from functions.pages.rendering import usd
from functions.pages.routes.overview import backlog_of, budget_of, today_of
from functions.pages.tables import Column, PageTable, Row
from functions.pages.visit import PageView, visit
from functions.pages.words import PageTexts
from touchstone.budgets import Spent
from touchstone.operations.reporting import BacklogReport, BudgetReport, QuotaView

router = Router()

DAYS = 30
STATES = ("waiting", "deferred", "submitted", "running", "done", "failed")


@router.get("/app/quotas")
def quotas() -> Response[str]:
    """Today's quotas of the judges with the tenant's share, spending day by day, where deep evaluations stand."""
    met = visit(router)
    budget, backlog = budget_of(met), backlog_of(met)
    spent = spending().history(met.tenant, days=DAYS)
    limited = [quota for quota in budget.quotas if quota.limit is not None]
    charts = [
        *([_used(met.words, limited)] if limited else []),
        *([_spending(met.words, spent, budget.ceiling_usd)] if spent else []),
    ]
    return met.show(
        PageView(
            title="quotas.title",
            template="quotas.html",
            tables=(_quotas(budget), _spent(spent, budget.ceiling_usd), _backlog(backlog), _batches(backlog)),
            facts=(today_of(budget, backlog),),
            charts=charts,
            given={
                "budget": budget,
                "backlog": backlog,
                "resets": _resets(budget),
                "deferred": _found("deferred"),
            },
        )
    )


def _quotas(budget: BudgetReport) -> PageTable:
    rows: list[Row] = [
        {
            **quota.model_dump(exclude={"share"}),
            **({} if quota.share is None else {f"share_{name}": value for name, value in quota.share}),
        }
        for quota in budget.quotas
    ]
    columns = (
        Column(name="tier", shown="word", words="tier"),
        Column(name="model", shown="code"),
        Column(name="provider", detail=True),
        Column(name="used", shown="number", out_of="limit"),
        Column(name="limit", shown="number", hidden=True),
        Column(name="left", shown="number"),
        Column(name="share_used", shown="number", out_of="share_limit"),
        Column(name="share_limit", shown="number", hidden=True),
        Column(name="resets_at", shown="moment"),
        Column(name="blocked_until", shown="moment", detail=True),
        Column(name="blocked_why", detail=True),
        Column(name="per_minute", shown="number", detail=True),
        Column(name="left_this_minute", shown="number", detail=True),
        Column(name="share_per_minute", shown="number", detail=True),
        Column(name="share_left_this_minute", shown="number", detail=True),
        Column(name="learned_per_day", shown="number", detail=True),
        Column(name="learned_per_minute", shown="number", detail=True),
    )
    return PageTable(name="quotas", columns=columns, rows=rows)


def _spent(spent: Sequence[Spent], ceiling_usd: float | None) -> PageTable:
    rows: list[Row] = [
        {
            "day": day.day,
            "spent_usd": day.spent_usd,
            "of_ceiling": day.spent_usd / ceiling_usd if ceiling_usd else None,
            "reserved_usd": day.reserved_usd,
            "calls": day.calls,
            "unpriced_calls": day.unpriced_calls,
        }
        for day in spent
    ]
    columns = (
        Column(name="day", shown="moment"),
        Column(name="spent_usd", shown="usd"),
        Column(name="of_ceiling", shown="share"),
        Column(name="reserved_usd", shown="usd"),
        Column(name="calls", shown="number"),
        Column(name="unpriced_calls", shown="number"),
    )
    return PageTable(name="spending", columns=columns, rows=rows)


def _found(state: str) -> str:
    """Where the answers are whose deep evaluations stand so."""
    return found_at("answers", {"evaluation": state})


def _backlog(backlog: BacklogReport) -> PageTable:
    rows: list[Row] = [
        {
            "state": state,
            "evaluations": getattr(backlog, state),
            "found": _found(state),
        }
        for state in STATES
    ]
    columns = (
        Column(name="state", shown="word", words="evaluation"),
        Column(name="evaluations", shown="number", to="found"),
    )
    return PageTable(name="backlog", columns=columns, rows=rows)


def _batches(backlog: BacklogReport) -> PageTable:
    rows: list[Row] = [
        {
            **one.model_dump(),
            "state": one.state if one.ended is None else one.ended,
            "sent_at": one.submitted_at,
            "provider_said": one.because,
        }
        for one in backlog.batches
    ]
    columns = (
        Column(name="created_at", shown="moment"),
        Column(name="of", shown="word", words="batch_of"),
        Column(name="provider"),
        Column(name="model", shown="code"),
        Column(name="state", shown="word", words="batch_state"),
        Column(name="questions", shown="number"),
        Column(name="answered", shown="number"),
        Column(name="sent_at", shown="moment"),
        Column(name="ends_by", shown="moment"),
        Column(name="finished_at", shown="moment"),
        Column(name="cost_usd", shown="usd"),
        Column(name="saved_usd", shown="usd"),
        Column(name="provider_said"),
    )
    return PageTable(name="provider_batches", columns=columns, rows=rows)


def _resets(budget: BudgetReport) -> list[tuple[str, datetime]]:
    """When the day of each provider ends."""
    return sorted({(quota.provider, quota.resets_at) for quota in budget.quotas})


def _used(words: PageTexts, quotas: Sequence[QuotaView]) -> Chart:
    """The requests of today: the tenant's own, those of others and what is left; all as one where no share is kept."""
    labels = [f"{words.known('tier', quota.tier)} · {quota.model}" for quota in quotas]
    shares = [quota.share for quota in quotas if quota.share is not None]
    parts = [Series(name=words("quotas.used"), values=[quota.used for quota in quotas])]
    if len(shares) == len(quotas):
        others = [max(0, quota.used - share.used) for quota, share in zip(quotas, shares, strict=True)]
        parts = [
            Series(name=words("quotas.yours"), values=[share.used for share in shares]),
            Series(name=words("quotas.others"), values=others),
        ]
    left = Series(name=words("quotas.left"), values=[quota.left for quota in quotas], tone="quiet")
    return Chart(kind="stacked", title=words("quotas.chart"), labels=labels, series=(*parts, left))


def _spending(words: PageTexts, spent: Sequence[Spent], ceiling_usd: float | None) -> Chart:
    """Every day from the first to the last with a call; nothing was spent on the others."""
    by_day = {day.day: day.spent_usd for day in spent}
    first, last = min(by_day), max(by_day)
    days = [first + timedelta(days=each) for each in range((last - first).days + 1)]
    series = [Series(name=words("quotas.spent"), values=[by_day.get(day, 0.0) for day in days])]
    if ceiling_usd is not None:
        series.append(Series(name=words("quotas.ceiling"), values=[ceiling_usd] * len(days), tone="bad"))
    title = words("quotas.spending_chart", ceiling=usd(ceiling_usd))
    return Chart(kind="lines", title=title, labels=[day.isoformat() for day in days], series=series, decimals=4)
