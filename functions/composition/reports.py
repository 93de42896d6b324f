"""The reports of a tenant's budget, backlog and routing, which the API and the pages show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.operations.reports.budgets import BacklogReport, BudgetReport
    from touchstone.operations.reports.routing import RoutingReport
    from touchstone.records import Rates
    from touchstone.records.routing_pins import Routing


def budget_report(tenant: str) -> BudgetReport:
    """Today's quotas of the judges, and the tenant's own spending."""
    from touchstone.operations.reports.budgets import budget_report

    return budget_report(
        tenant=tenant,
        judges=judging.judges(tenant),
        quotas=stores.quotas(),
        spending=stores.spending(),
        ceiling_usd=environment().daily_ceiling_usd,
    )


def backlog_report(tenant: str) -> BacklogReport:
    """The states of the tenant's deep evaluations, and when the deferred ones will be done."""
    from touchstone.operations.reports.budgets import backlog_report

    return backlog_report(
        tenant=tenant,
        judges=judging.judges(tenant),
        quotas=stores.quotas(),
        evaluations=stores.evaluations(),
        statistics=stores.statistics(),
        batches=stores.provider_batches(),
    )


def routing_report(
    tenant: str,
    *,
    rates: Rates | None = None,
    routing: Routing | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> RoutingReport:
    """The report of which provider solves which subject of a tenant, and why.

    `rates` and `routing` are given if they are read already; None: they are read here. `limit` is the most subjects;
    None: as many as one response holds. Raises `InputError` for a cursor of another list.
    """
    from touchstone.operations.reports.rates import MOST
    from touchstone.operations.reports.routing import routing_report

    return routing_report(
        tenant=tenant,
        routing=stores.routing_pins().read(tenant) if routing is None else routing,
        everywhere=environment().subject_provider_map,
        rates=(stores.statistics().rates(tenant) if rates is None else rates).of_providers,
        available=judging.judges(tenant).available(),
        limit=limit or MOST,
        cursor=cursor,
    )
