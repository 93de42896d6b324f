"""The first page: how many answers came, their verdicts and cost, and whether the judges answer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from functions.composition.reports import backlog_report, budget_report
from functions.composition.stores import audits, statistics
from functions.pages.attention import attention_table, attention_today
from functions.pages.charts import DayBars, Tone
from functions.pages.finding import found_at
from functions.pages.rendering import cost, usd
from functions.pages.tables import COST, Column, PageTable, Row, fact
from functions.pages.visit import Page, PageView, router, visit
from functions.pages.words import PageTexts
from touchstone.clock import system_clock
from touchstone.judges.base import Tier
from touchstone.operations.reports.budgets import BacklogReport, BudgetReport, QuotaView
from touchstone.records.answer_lists import SKIP_REASONS

if TYPE_CHECKING:
    from touchstone.records import Day

DAYS = 30
AUDITS = 20
"""How many of the newest audits are looked at for drifts."""
STATUSES = ("verified", "unverified", "caution", "failed")
IN_LINE = ("deferred", "waiting", "running", "submitted")
"""The states of deep evaluations that are not over."""
TONES: dict[str, Tone] = {"verified": "good", "unverified": "quiet", "caution": "warn", "failed": "bad"}


@router.get("/")
def overview() -> Page:
    """The page: what calls for attention, volume, verdicts by status, spending and ceiling, the judges' health."""
    this_visit = visit()
    volume = statistics().volume(this_visit.tenant, days=DAYS)
    budget = budget_report(this_visit.tenant)
    backlog = backlog_report(this_visit.tenant)
    checked = audits().page(tenant=this_visit.tenant, limit=AUDITS).items
    wrong = attention_today(tenant=this_visit.tenant, volume=volume, budget=budget, backlog=backlog, audits=checked)
    totals, since = _totals(volume), _days_ago(DAYS - 1)
    return this_visit.show(
        PageView(
            title="overview.title",
            template="overview.html",
            tables=(_health(budget), _skips(volume), _days(volume)),
            facts=(_statuses(totals, since), attention_table(wrong), today_of(budget, backlog)),
            given={
                "attention": wrong,
                "counted": sum(totals.values()),
                "by_day": _by_day(this_visit.words, volume),
                "multiples": _multiples(this_visit.words, volume, totals, since),
                "budget": budget,
                "backlog": backlog,
                "shown_days": DAYS,
                "in_line": [(state, getattr(backlog, state), _found(None, evaluation=state)) for state in IN_LINE],
            },
        )
    )


def _days_ago(days: int) -> date:
    return system_clock().date() - timedelta(days=days)


def _found(since: date | None, until: date | None = None, **filters: str) -> str:
    """The address of the list of answers that a figure counts, from day `since` to day `until`.

    If only `since` is given, the list ends today. If neither is, it has the answers of all days.
    """
    last = until or (None if since is None else _days_ago(0))
    return found_at("app/answers", {**filters, "from": since, "to": last})


def _totals(volume: Sequence["Day"]) -> dict[str, int]:
    found = Counter[str]()
    for day in volume:
        found.update(day.statuses)
    return {status: found[status] for status in STATUSES}


def _statuses(totals: dict[str, int], since: date) -> PageTable:
    count = sum(totals.values())
    rows: list[Row] = [
        {
            "status": status,
            "answers": number,
            "share": number / count if count else None,
            "found": _found(since, status=status),
        }
        for status, number in totals.items()
    ]
    columns = (
        Column(name="status", shown="badge"),
        Column(name="answers", shown="number", to="found"),
        Column(name="share", shown="share", to="found"),
    )
    return PageTable(name="statuses", columns=columns, rows=rows)


def _days(volume: Sequence["Day"]) -> PageTable:
    rows: list[Row] = [
        {
            "day": day.day,
            **{status: day.statuses.get(status, 0) for status in STATUSES},
            **{f"found_{status}": _found(day.day, day.day, status=status) for status in STATUSES},
            "found": _found(day.day, day.day),
            "cost_usd": day.cost_usd,
            "unpriced_calls": day.unpriced_calls,
            "batched": day.batched,
            "saved_usd": day.saved_usd,
            "batches": "app/quotas#table-provider_batches" if day.batched else None,
        }
        for day in reversed(volume)
    ]
    batched = any(day.batched for day in volume)
    columns = (
        Column(name="day", shown="moment", to="found"),
        *(Column(name=status, shown="number", to=f"found_{status}") for status in STATUSES),
        replace(COST[0], to="found"),
        *COST[1:],
        Column(name="batched", shown="number", to="batches", detail=True, hidden=not batched),
        Column(name="saved_usd", shown="usd", to="batches", detail=True, hidden=not batched),
    )
    return PageTable(name="days", columns=columns, rows=rows)


def _health(budget: BudgetReport) -> PageTable:
    columns = (
        Column(name="tier", shown="words", words="tier"),
        Column(name="model", shown="code"),
        Column(name="used", shown="number", out_of="limit", to="quotas"),
        Column(name="limit", shown="number", hidden=True),
        Column(name="left", shown="number"),
        Column(name="resets_at", shown="moment"),
        Column(name="blocked_until", shown="moment"),
        Column(name="blocked_why", shown="kept", detail=True),
    )
    rows: list[Row] = [
        {**quota.model_dump(), "tier": ", ".join(tiers), "quotas": "app/quotas#table-quotas"}
        for tiers, quota in by_quota(budget)
    ]
    return PageTable(name="judges_today", columns=columns, rows=rows)


def _skips(volume: Sequence["Day"]) -> PageTable:
    """The reasons for which nobody decided in the last week. A judge that does not answer shows here first."""
    since = _days_ago(6)
    found = Counter[str]()
    for day in volume:
        if day.day >= since:
            found.update(day.skips)
    rows: list[Row] = [
        {
            "reason": reason,
            "attempts": number,
            "found": _found(since, skip_reason=reason, status="ended") if reason in SKIP_REASONS else None,
        }
        for reason, number in found.most_common()
    ]
    columns = (
        Column(name="reason", shown="word", words="skip"),
        Column(name="attempts", shown="number", to="found"),
    )
    return PageTable(name="skips", columns=columns, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Multiple:
    """One figure of the last days and its bars by day, on the same scale as the others.

    It counts the answers of `status`; None: all that ended.
    """

    status: str | None
    number: int
    share: float | None
    address: str
    drawn: DayBars


def _multiples(words: PageTexts, volume: Sequence["Day"], totals: dict[str, int], since: date) -> tuple[_Multiple, ...]:
    """The figures of all answers that ended and of each status: one bar for each day, all on one scale."""
    days = _shown_days()
    by_day = {day.day: day.statuses for day in volume}
    counts = {status: [by_day.get(day, {}).get(status, 0) for day in days] for status in STATUSES}
    ended = [sum(each) for each in zip(*counts.values(), strict=True)]
    count = sum(totals.values())

    def multiple(status: str | None, values: Sequence[int], tone: Tone) -> _Multiple:
        name = words("overview.answers", days=DAYS) if status is None else words(f"status.{status}")
        return _Multiple(
            status=status,
            number=sum(values),
            share=None if status is None or not count else sum(values) / count,
            address=_found(since, status=status or "ended"),
            drawn=DayBars(
                title=words("overview.bars", name=name, least=min(values), most=max(values)),
                days=[f"{day:%Y-%m-%d}: {value:,}" for day, value in zip(days, values, strict=True)],
                values=values,
                most=max(ended),
                tone=tone,
            ),
        )

    each = (multiple(status, counts[status], TONES[status]) for status in STATUSES)
    return (multiple(None, ended, ""), *each)


def _by_day(words: PageTexts, volume: Sequence["Day"]) -> DayBars:
    """The bars of the answers' cost on each of the last days. The text of a bar tells the number of unpriced calls."""
    days, by_day = _shown_days(), {day.day: day for day in volume}
    known = [(by_day[day].cost_usd or 0.0) if day in by_day else 0.0 for day in days]
    told = [cost(words, by_day[day].cost_usd, by_day[day].unpriced_calls) if day in by_day else "–" for day in days]
    return DayBars(
        title=words("overview.cost_bars", days=DAYS, most=usd(max(known))),
        days=[f"{day:%Y-%m-%d}: {said}" for day, said in zip(days, told, strict=True)],
        values=known,
        most=max(known),
    )


def _shown_days() -> list[date]:
    """The last `DAYS` days, which the bars show, oldest first."""
    return [_days_ago(ago) for ago in reversed(range(DAYS))]


def today_of(budget: BudgetReport, backlog: BacklogReport) -> PageTable:
    """Today's spending and its ceiling, and how many deep evaluations are in each state."""
    row = {
        "spent_usd": budget.spent_usd,
        "reserved_usd": budget.reserved_usd,
        "unpriced_calls": budget.unpriced_calls,
        "ceiling_usd": budget.ceiling_usd,
        "waiting": backlog.waiting,
        "running": backlog.running,
        "deferred": backlog.deferred,
        "submitted": backlog.submitted,
        "deferred_before_you": backlog.deferred_before_you,
        "oldest_requested_at": backlog.oldest_requested_at,
        "done_by": backlog.done_by,
    }
    return fact("today", row)


def by_quota(budget: BudgetReport) -> list[tuple[list[Tier], QuotaView]]:
    """Each quota once, with the tiers that share it: one model may serve two tiers."""
    found: list[tuple[list[Tier], QuotaView]] = []
    for quota in budget.quotas:
        same = next((tiers for tiers, one in found if one == quota.model_copy(update={"tier": one.tier})), None)
        if same is None:
            found.append(([quota.tier], quota))
        else:
            same.append(quota.tier)
    return found
