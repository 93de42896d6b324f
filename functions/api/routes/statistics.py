"""Statistics: rates, trends, volume, suggestions and better approaches. They are counters, read by key."""

from datetime import date
from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel

from functions.api.requests import caller
from functions.composition.stores import statistics
from touchstone.operations.reports.rates import MOST, RatesReport, rates_report

router = Router()

type Days = Annotated[int, Query(ge=1, le=90)]
type Limit = Annotated[int, Query(ge=1, le=100)]


class Day(BaseModel):
    """The figures of one UTC day.

    `statuses` counts answers by status, `skips` counts skipped verifications by reason. `cost_usd` is in US dollars and
    leaves out the `unpriced_calls`; null if no cost is known. `batched` is the number of calls that went by a
    provider's batch, and `saved_usd` is what the batches saved, in US dollars.
    """

    day: date
    statuses: dict[str, int]
    skips: dict[str, int]
    cost_usd: float | None
    unpriced_calls: int
    batched: int = 0
    saved_usd: float = 0.0


class TrendDay(BaseModel):
    """One UTC day: the number of deep evaluations, and the mean score (0–1) of each dimension."""

    day: date
    evaluations: int
    means: dict[str, float]


class SuggestionView(BaseModel):
    """A suggestion for improvement, and how often it was made."""

    text: str
    count: int


class ApproachView(BaseModel):
    """A better approach, and the answer for which it was found."""

    answer_id: str
    text: str


@router.get("/v1/statistics/rates", summary="Correctness by model", tags=["statistics"])
def rates(limit: Annotated[int, Query(ge=1, le=MOST)] = MOST, cursor: str | None = None) -> RatesReport:
    """How often answers were right, with 95 % confidence intervals."""
    tenant = caller(router).tenant
    return rates_report(statistics().rates(tenant), tenant=tenant, limit=limit, cursor=cursor)


@router.get("/v1/statistics/volume", summary="Answers a day", tags=["statistics"])
def volume(days: Days = 30) -> list[Day]:
    """The number of answers and skips and the cost of each of the last days."""
    found = statistics().volume(caller(router).tenant, days=days)
    return [Day.model_validate(volume, from_attributes=True) for volume in found]


@router.get("/v1/statistics/trends", summary="Quality over time", tags=["statistics"])
def trends(days: Days = 30) -> list[TrendDay]:
    """The mean scores of deep evaluations on each of the last days."""
    found = statistics().trends(caller(router).tenant, days=days)
    return [TrendDay.model_validate(trend, from_attributes=True) for trend in found]


@router.get("/v1/statistics/suggestions", summary="Common suggestions", tags=["statistics"])
def suggestions(limit: Limit = 20) -> list[SuggestionView]:
    """The most frequent improvement suggestions."""
    found = statistics().suggestions(caller(router).tenant, limit=limit)
    return [SuggestionView(text=suggestion.text, count=suggestion.count) for suggestion in found]


@router.get("/v1/statistics/approaches", summary="Better approaches", tags=["statistics"])
def approaches(limit: Limit = 20) -> list[ApproachView]:
    """The better approaches that deep evaluations found, newest first."""
    found = statistics().approaches(caller(router).tenant, limit=limit)
    return [ApproachView(answer_id=approach.answer_id, text=approach.text) for approach in found]
