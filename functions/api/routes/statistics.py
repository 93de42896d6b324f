"""Statistics: rates, trends, volume, suggestions and better approaches. They are counters, read by key."""

from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.api.requests import caller
from functions.composition.stores import statistics
from touchstone.operations.reports.rates import MOST, RatesReport, rates_report
from touchstone.records import ApproachView, Day, SuggestionView, TrendDay

router = Router()

type Days = Annotated[int, Query(ge=1, le=90)]
type Limit = Annotated[int, Query(ge=1, le=100)]


@router.get("/v1/statistics/rates", summary="Correctness by model", tags=["statistics"])
def rates(limit: Annotated[int, Query(ge=1, le=MOST)] = MOST, cursor: str | None = None) -> RatesReport:
    """How often answers were right, with 95 % confidence intervals."""
    tenant = caller(router).tenant
    return rates_report(statistics().rates(tenant), tenant=tenant, limit=limit, cursor=cursor)


@router.get("/v1/statistics/volume", summary="Answers a day", tags=["statistics"])
def volume(days: Days = 30) -> list[Day]:
    """The number of answers and skips and the cost of each of the last days."""
    return list(statistics().volume(caller(router).tenant, days=days))


@router.get("/v1/statistics/trends", summary="Quality over time", tags=["statistics"])
def trends(days: Days = 30) -> list[TrendDay]:
    """The mean scores of deep evaluations on each of the last days."""
    return list(statistics().trends(caller(router).tenant, days=days))


@router.get("/v1/statistics/suggestions", summary="Common suggestions", tags=["statistics"])
def suggestions(limit: Limit = 20) -> list[SuggestionView]:
    """The most frequent improvement suggestions."""
    return list(statistics().suggestions(caller(router).tenant, limit=limit))


@router.get("/v1/statistics/approaches", summary="Better approaches", tags=["statistics"])
def approaches(limit: Limit = 20) -> list[ApproachView]:
    """The better approaches that deep evaluations found, newest first."""
    return list(statistics().approaches(caller(router).tenant, limit=limit))
