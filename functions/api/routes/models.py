"""The model registry, and which provider solves which subject."""

from datetime import date
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict

from functions.api.requests import caller, decoded_part, no_content
from functions.composition.judging import registry
from functions.composition.reports import routing_report
from functions.composition.stores import routing_pins
from touchstone.errors import InputError, SettingsError
from touchstone.operations.reports.rates import MOST
from touchstone.operations.reports.routing import RoutingReport

router = Router()


class ModelView(BaseModel):
    """A model of the registry.

    `tiers` are the tiers that it serves by default. `price_in` and `price_out` are US dollars per million tokens, null
    if not known. `per_day` and `per_minute` are limits in requests, null if not known. `retires` is the day on which
    the model stops answering, and `successor` the model that replaces it.
    """

    provider: str
    name: str
    tiers: list[str]
    price_in: float | None
    price_out: float | None
    per_day: int | None
    per_minute: int | None
    retires: date | None
    successor: str | None


class Pin(BaseModel):
    """The provider that solves a subject."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str


@router.get("/v1/models", summary="List models", tags=["models"])
def models() -> list[ModelView]:
    """The models that judges and solvers are chosen from."""
    caller(router)
    serves: dict[tuple[str, str], list[str]] = {}
    for default in registry().defaults():
        serves.setdefault((default.provider, default.model.name), []).append(default.tier)
    return [
        ModelView(tiers=serves.get((model.provider, model.name), []), **model.model_dump(include=_SHOWN))
        for model in registry().models()
    ]


_SHOWN = set(ModelView.model_fields) - {"tiers"}


@router.get("/v1/routing", summary="Read the routing", tags=["models"])
def routing(limit: Annotated[int, Query(ge=1, le=MOST)] = MOST, cursor: str | None = None) -> RoutingReport:
    """Which provider solves each subject, why and since when, and which provider would take over."""
    return routing_report(caller(router).tenant, limit=limit, cursor=cursor)


@router.put("/v1/routing/<subject>", summary="Pin a subject", tags=["models"])
def pin(subject: str, body: Pin) -> dict[str, str]:
    """Pin a subject: one provider solves all its problems."""
    tenant = caller(router, at_least="admin").tenant
    try:
        provider = registry().provider(body.provider).name
    except SettingsError as error:
        raise InputError(str(error), where="provider") from None
    name = decoded_part(subject)
    routing_pins().pin(tenant=tenant, subject=name, provider=provider)
    return {name: provider}


@router.delete(
    "/v1/routing/<subject>", summary="Unpin a subject", tags=["models"], status_code=HTTPStatus.NO_CONTENT.value
)
def unpin(subject: str) -> Response[str]:
    """Remove the pin of a subject, so that the data chooses its provider again."""
    routing_pins().unpin(tenant=caller(router, at_least="admin").tenant, subject=decoded_part(subject))
    return no_content()
