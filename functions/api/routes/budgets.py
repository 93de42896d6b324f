"""The used part of today's budget, the deferred evaluations, and when they will be done."""

from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.requests import caller
from functions.composition.reports import backlog_report, budget_report
from touchstone.operations.reports.budgets import BacklogReport, BudgetReport

router = Router()


@router.get("/v1/budget", summary="Today's budget", tags=["budget"])
def budget() -> BudgetReport:
    """The quotas of the judges and your own spending, both of today."""
    return budget_report(caller(router).tenant)


@router.get("/v1/backlog", summary="The deferred backlog", tags=["budget"])
def backlog() -> BacklogReport:
    """The states of your deep evaluations, and when the deferred ones will be done."""
    return backlog_report(caller(router).tenant)
