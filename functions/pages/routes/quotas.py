"""Quotas: how many calls the judges still take today, the spending and its ceiling, and the deferred backlog."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from functions.composition.reports import backlog_report, budget_report
from functions.composition.stores import spending
from functions.pages.charts import Chart, Series, Tone
from functions.pages.finding import found_at
from functions.pages.rendering import usd
from functions.pages.routes.overview import by_quota, today_of
from functions.pages.tables import Column, PageTable, Row, row_of
from functions.pages.visit import Page, PageView, router, visit
from functions.pages.words import PageTexts
from touchstone.budgets import Spent
from touchstone.judges.base import Tier
from touchstone.operations.reports.budgets import BacklogReport, BudgetReport, QuotaView

DAYS = 30
LISTS = ("answers", "measurements", "quizzes", "experiments", "audits", "tasks")
"""The lists of the records for which judges are asked."""
LEAST_USD = "0.000001"
"""The least cost that is counted, in US dollars."""
CEILING_IN_SIGHT = 0.2
"""The ceiling is drawn only if a day has spent at least this part of it: otherwise the days would be one flat line."""
STATES = ("waiting", "deferred", "submitted", "running", "done", "failed")


@router.get("/app/quotas")
def quotas() -> Page:
    """The judges' quotas today with the tenant's share, spending by day, and the states of deep evaluations."""
    this_visit = visit()
    budget, backlog = budget_report(this_visit.tenant), backlog_report(this_visit.tenant)
    spent = spending().history(this_visit.tenant, days=DAYS)
    limited = [(tiers, quota) for tiers, quota in by_quota(budget) if quota.limit is not None]
    charts = [
        *([_used(this_visit.words, limited)] if limited else []),
        *([_spending(this_visit.words, spent, budget.ceiling_usd)] if spent else []),
    ]
    return this_visit.show(
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
            "tier": ", ".join(tiers),
            **({} if quota.share is None else {f"share_{name}": value for name, value in quota.share}),
        }
        for tiers, quota in by_quota(budget)
    ]
    columns = (
        Column(name="tier", shown="words", words="tier"),
        Column(name="model", shown="code"),
        Column(name="provider", detail=True),
        Column(name="used", shown="number", out_of="limit"),
        Column(name="limit", shown="number", hidden=True),
        Column(name="left", shown="number"),
        Column(name="share_used", shown="number", out_of="share_limit"),
        Column(name="share_limit", shown="number", hidden=True),
        Column(name="resets_at", shown="moment"),
        Column(name="blocked_until", shown="moment", detail=True),
        Column(name="blocked_why", shown="kept", detail=True),
        Column(name="per_minute", shown="number", detail=True),
        Column(name="left_this_minute", shown="number", detail=True),
        Column(name="share_per_minute", shown="number", detail=True),
        Column(name="share_left_this_minute", shown="number", detail=True),
        Column(name="learned_per_day", shown="number", detail=True),
        Column(name="learned_per_minute", shown="number", detail=True),
    )
    return PageTable(name="quotas", columns=columns, rows=rows)


def _spent(spent: Sequence[Spent], ceiling_usd: float | None) -> PageTable:
    columns = (
        Column(name="day", shown="moment"),
        Column(name="spent_usd", shown="usd"),
        Column(name="of_ceiling", of=lambda day: day.spent_usd / ceiling_usd if ceiling_usd else None, shown="share"),
        Column(name="calls", shown="number"),
        Column(name="arrived", of=lambda _: ", ".join(LISTS), shown="words", words="list"),
        Column(name="reserved_usd", shown="usd", detail=True),
        Column(name="unpriced_calls", shown="number", detail=True),
    )
    return PageTable(name="spending", columns=columns, rows=[row_of(columns, day, **_arrived(day)) for day in spent])


def _arrived(day: Spent) -> dict[str, str]:
    """The addresses of the lists of records that came on a day and cost something, by kind.

    If some calls of the day have no known price, a list has all records of the day.
    """
    asked = {"from": day.day, "to": day.day, "cost_from": None if day.unpriced_calls else LEAST_USD}
    return {f"found_{name}": found_at(name, asked) for name in LISTS}


def _found(state: str) -> str:
    """The address of the list of answers whose deep evaluations are in this state."""
    return found_at("answers", {"evaluation": state})


def _backlog(backlog: BacklogReport) -> PageTable:
    rows: list[Row] = [
        {"state": state, "evaluations": getattr(backlog, state), "found": _found(state)} for state in STATES
    ]
    columns = (
        Column(name="state", shown="word", words="evaluation"),
        Column(name="evaluations", shown="number", to="found"),
    )
    return PageTable(name="backlog", columns=columns, rows=rows)


def _batches(backlog: BacklogReport) -> PageTable:
    columns = (
        Column(name="created_at", shown="moment"),
        Column(name="of", shown="word", words="batch_of"),
        Column(name="model", shown="code"),
        Column(name="state", of=lambda one: one.ended or one.state, shown="word", words="batch_state"),
        Column(name="questions", shown="number"),
        Column(name="cost_usd", shown="usd"),
        Column(name="provider", detail=True),
        Column(name="answered", shown="number", detail=True),
        Column(name="sent_at", of=lambda one: one.submitted_at, shown="moment", detail=True),
        Column(name="ends_by", shown="moment", detail=True),
        Column(name="finished_at", shown="moment", detail=True),
        Column(name="saved_usd", shown="usd", detail=True),
        Column(name="provider_said", of=lambda one: one.because, shown="kept", detail=True),
    )
    rows = [row_of(columns, one) for one in backlog.batches]
    return PageTable(name="provider_batches", columns=columns, rows=rows)


def _resets(budget: BudgetReport) -> list[tuple[str, datetime]]:
    """Each provider, and when its day ends."""
    return sorted({(quota.provider, quota.resets_at) for quota in budget.quotas})


def _used(words: PageTexts, limited: Sequence[tuple[Sequence[Tier], QuotaView]]) -> Chart:
    """The chart of today's requests: the tenant's own, those of others, and what is left.

    If a quota keeps no share for the tenant, own requests and those of others are one series.
    """
    quotas = [quota for _, quota in limited]
    labels = [f"{', '.join(words.known('tier', tier) for tier in tiers)} · {quota.model}" for tiers, quota in limited]
    shares = [quota.share for quota in quotas if quota.share is not None]
    parts = [_requests(words("quotas.used"), [quota.used for quota in quotas])]
    if len(shares) == len(quotas):
        others = [max(0, quota.used - share.used) for quota, share in zip(quotas, shares, strict=True)]
        parts = [
            _requests(words("quotas.yours"), [share.used for share in shares]),
            _requests(words("quotas.others"), others),
        ]
    left = _requests(words("quotas.left"), [quota.left for quota in quotas], tone="quiet")
    return Chart(kind="stacked", title=words("quotas.chart"), labels=labels, series=(*parts, left), whole=True)


def _requests(name: str, values: Sequence[int | None], *, tone: Tone = "") -> Series:
    return Series(
        name=name, values=values, texts=["–" if value is None else f"{value:,}" for value in values], tone=tone
    )


def _spending(words: PageTexts, spent: Sequence[Spent], ceiling_usd: float | None) -> Chart:
    """The chart of spending on every day from the first to the last with a call; days without a call are 0."""
    by_day = {day.day: day.spent_usd for day in spent}
    first, last = min(by_day), max(by_day)
    days = [first + timedelta(days=each) for each in range((last - first).days + 1)]
    series = [_dollars(words("quotas.spent"), [by_day.get(day, 0.0) for day in days])]
    if ceiling_usd is not None and max(by_day.values()) >= CEILING_IN_SIGHT * ceiling_usd:
        series.append(_dollars(words("quotas.ceiling"), [ceiling_usd] * len(days), tone="bad"))
    title = words("quotas.spending_chart", ceiling=usd(ceiling_usd))
    return Chart(kind="lines", title=title, labels=[day.isoformat() for day in days], series=series)


def _dollars(name: str, values: Sequence[float], *, tone: Tone = "") -> Series:
    return Series(name=name, values=values, texts=[usd(value) for value in values], tone=tone)
