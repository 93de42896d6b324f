"""The matters that call for attention today: what is wrong, where to see it, and what to do about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from functions.pages.finding import found_at
from functions.pages.tables import Column, PageTable, row_of
from touchstone.clock import system_clock
from touchstone.operations.reports.budgets import BacklogReport, BudgetReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from touchstone.records import AuditSummary, Day

type Concern = Literal["no_judge", "held", "used_up", "failed", "undecided", "spent", "deferred", "drifted"]
"""What may be wrong. The text `attention.<concern>` describes it, and `attention.<concern>.do` says what to do."""

MUCH_SPENT = 0.8
"""The part of the day's ceiling from which on spending is a concern. From here on an operator's alarm goes off, too."""
MUCH_UNDECIDED = 0.2
"""The part of today's ended answers above which unverified ones are a concern: people then read much that nobody
checked."""
DRIFTS_WITHIN = timedelta(days=7)
"""How old a drift may be to be shown: audits are rechecked weekly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """One matter that calls for attention. Its texts are filled with `figure`, `of`, `moment` and `name`.

    `address` leads to the page with the counted things. `command` is the shell command that shows or changes them.
    `because` is what a provider said.
    """

    concern: Concern
    figure: float = 0
    of: float | None = None
    moment: datetime | None = None
    name: str = ""
    because: str | None = None
    address: str
    command: str


def attention_today(
    *,
    tenant: str,
    volume: "Sequence[Day]",
    budget: BudgetReport,
    backlog: BacklogReport,
    audits: "Sequence[AuditSummary]",
) -> tuple[Attention, ...]:
    """The matters that call for attention; empty if all is well. Those that stop everything else come first."""
    return (*_judges(budget), *_answers(volume), *_money(budget, tenant), *_line(backlog), *_drifts(audits))


def attention_table(found: "Sequence[Attention]") -> PageTable:
    """The matters that call for attention as a table, for programs."""
    columns = [
        *(Column(name=name) for name in ("concern", "figure", "of", "moment")),
        Column(name="name", of=lambda each: each.name or None),
        *(Column(name=name) for name in ("because", "address", "command")),
    ]
    return PageTable(name="attention", columns=columns, rows=[row_of(columns, each) for each in found])


def _judges(budget: BudgetReport) -> Iterator[Attention]:
    if not budget.quotas:
        yield Attention(concern="no_judge", address="app/quotas", command="touchstone budget")
    for quota in {each.model: each for each in budget.quotas if each.blocked_until}.values():
        yield Attention(
            concern="held",
            moment=quota.blocked_until,
            name=quota.model,
            because=quota.blocked_why,
            address="app/quotas",
            command="touchstone budget",
        )
    for quota in {each.model: each for each in budget.quotas if each.left == 0 and not each.blocked_until}.values():
        yield Attention(
            concern="used_up",
            moment=quota.resets_at,
            name=quota.model,
            address="app/quotas",
            command="touchstone budget",
        )


def _answers(volume: "Sequence[Day]") -> Iterator[Attention]:
    today = system_clock().date()
    counted = next((day.statuses for day in volume if day.day == today), {})
    ended = sum(counted.values())
    looked_for: tuple[tuple[Concern, str, float], ...] = (
        ("failed", "failed", 0.0),
        ("undecided", "unverified", MUCH_UNDECIDED),
    )
    for concern, status, most in looked_for:
        if (number := counted.get(status, 0)) > most * ended:
            yield Attention(
                concern=concern,
                figure=number,
                of=ended,
                address=found_at("app/answers", {"status": status, "from": today, "to": today}),
                command=f"touchstone answers list --status {status} --from {today}",
            )


def _money(budget: BudgetReport, tenant: str) -> Iterator[Attention]:
    taken = budget.spent_usd + budget.reserved_usd
    if budget.ceiling_usd is not None and taken >= MUCH_SPENT * budget.ceiling_usd:
        yield Attention(
            concern="spent",
            figure=taken,
            of=budget.ceiling_usd,
            address="app/quotas",
            command=f"touchstone tenant ceiling {tenant}",
        )


def _line(backlog: BacklogReport) -> Iterator[Attention]:
    if backlog.deferred:
        yield Attention(
            concern="deferred",
            figure=backlog.deferred,
            moment=backlog.oldest_requested_at,
            address=found_at("app/answers", {"evaluation": "deferred"}),
            command="touchstone backlog",
        )


def _drifts(audits: "Sequence[AuditSummary]") -> Iterator[Attention]:
    since = system_clock() - DRIFTS_WITHIN
    for audit in audits:
        if audit.drifted and audit.finished_at is not None and audit.finished_at >= since:
            yield Attention(
                concern="drifted",
                figure=audit.drifted,
                of=audit.cases,
                moment=audit.finished_at,
                name=audit.requirement,
                address=f"app/audits/{audit.id}#table-drifts",
                command=f"touchstone audit show {audit.id}",
            )
