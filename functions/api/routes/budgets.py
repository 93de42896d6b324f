"""The used part of today's budget, the deferred evaluations, and when they will be done."""

from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.requests import caller
from functions.composition.judging import judges
from functions.composition.stores import evaluations, provider_batches, quotas, spending, statistics
from functions.environment import environment
from touchstone.operations.reports.budgets import BacklogReport, BudgetReport, backlog_report, budget_report

router = Router()


@router.get("/v1/budget", summary="Today's budget", tags=["budget"])
def budget() -> BudgetReport:
    """The quotas of the judges and your own spending, both of today."""
    tenant = caller(router).tenant
    return budget_report(
        tenant=tenant,
        judges=judges(tenant),
        quotas=quotas(),
        spending=spending(),
        ceiling_usd=environment().daily_ceiling_usd,
    )


@router.get("/v1/backlog", summary="The deferred backlog", tags=["budget"])
def backlog() -> BacklogReport:
    """The states of your deep evaluations, and when the deferred ones will be done."""
    tenant = caller(router).tenant
    return backlog_report(
        tenant=tenant,
        judges=judges(tenant),
        quotas=quotas(),
        evaluations=evaluations(),
        statistics=statistics(),
        batches=provider_batches(),
    )
