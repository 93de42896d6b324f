"""Measurements: have a quiz, a summary or a deck of flashcards measured, and read the results of its metrics."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from functions.api.openapi import answering
from functions.api.requests import Cursor, FoundList, Limit, accepted, caller, json_response, sender_key
from functions.composition.intakes import of_measurements as intake
from functions.composition.stores import measurements
from touchstone.records import MeasurementSummary
from touchstone.records.measurements import MeasurementQuery
from touchstone.references import Reference
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import AnyMeasurementRequest

router = Router()


class MeasurementPage(FoundList):
    """A page of a list of measurements. The newest come first unless `sort` says otherwise."""

    items: tuple[MeasurementSummary, ...]


@router.post(
    "/v1/measurements",
    summary="Measure a quiz, a summary or flashcards",
    tags=["measurements"],
    responses=answering(HTTPStatus.ACCEPTED),
)
def measure(body: Annotated[AnyMeasurementRequest, Body(discriminator="surface")]) -> Response[MeasurementView]:
    """Measure material by the metrics of its surface. The results can be read at the address in `Location`."""
    here = intake(caller(router, at_least="member").tenant)
    measurement = here.measure(body, key=sender_key(router))
    return accepted(router, here.shown(measurement), "measurements", measurement.id)


@router.get("/v1/measurements", summary="List measurements", tags=["measurements"])
def list_measurements(
    query: Annotated[MeasurementQuery, Query()], limit: Limit = 50, cursor: Cursor = None
) -> MeasurementPage:
    """Your measurements that match every filter, newest first. `search` looks in the material."""
    page = measurements().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return MeasurementPage.model_validate(page)


@router.post(
    "/v1/measurements/<measurement_id>/now",
    summary="Have a measurement asked now",
    tags=["measurements"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
)
def hasten(measurement_id: str, *, pay_twice: bool = False) -> Response[MeasurementView]:
    """Take a measurement out of the line for batches: its open questions are asked as soon as the quota allows it.

    Questions that are already in a provider's batch are paid for. They are asked a second time only with `pay_twice`.
    """
    here = intake(caller(router, at_least="member").tenant)
    return json_response(here.shown(here.ask_now(measurement_id, pay_twice=pay_twice)))


@router.get("/v1/measurements/<measurement_id>", summary="Read a measurement", tags=["measurements"])
def read_measurement(measurement_id: str) -> MeasurementView:
    """A measurement with the result of each metric so far, and the reason where a metric has no result."""
    tenant = caller(router).tenant
    return intake(tenant).shown(measurements().get(Reference(tenant, "measurement", measurement_id)))
