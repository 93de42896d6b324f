"""Measurements: have a quiz, a summary or a deck of flashcards measured, and read what its metrics say."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from functions.api.found import Cursor, FoundList, Limit
from functions.api.openapi import answering
from functions.api.requests import accepted, caller, sender_key
from functions.composition.intakes import of_measurements as intake
from functions.composition.stores import measurements
from touchstone.records import MeasurementSummary
from touchstone.records.measurements import MeasurementQuery
from touchstone.references import Reference
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import AnyMeasurementRequest

router = Router()


class MeasurementPage(FoundList):
    """Some measurements, newest first unless `sort` says otherwise."""

    items: tuple[MeasurementSummary, ...]


@router.post(
    "/v1/measurements",
    summary="Measure a quiz, a summary or flashcards",
    tags=["measurements"],
    responses=answering(HTTPStatus.ACCEPTED),
)
def measure(body: Annotated[AnyMeasurementRequest, Body(discriminator="surface")]) -> Response[MeasurementView]:
    """Have some material measured by the metrics of its surface; read them at the address in `Location`."""
    here = intake(caller(router, at_least="member").tenant)
    measurement = here.measure(body, key=sender_key(router))
    return accepted(router, here.shown(measurement), "measurements", measurement.id)


@router.get("/v1/measurements", summary="List measurements", tags=["measurements"])
def list_measurements(
    query: Annotated[MeasurementQuery, Query()], limit: Limit = 50, cursor: Cursor = None
) -> MeasurementPage:
    """Your measurements, or those that all filters mean, newest first; `search` looks in the material."""
    page = measurements().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return MeasurementPage.model_validate(page)


@router.post(
    "/v1/measurements/<measurement_id>/now",
    summary="Have a measurement asked now",
    tags=["measurements"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
)
def hasten(measurement_id: str, *, pay_twice: bool = False) -> Response[MeasurementView]:
    """Take a measurement out of the line for batches: what it still wants is asked as soon as the quota admits it.

    What is in a provider's batch already is paid for, so it is asked a second time only with `pay_twice`.
    """
    here = intake(caller(router, at_least="member").tenant)
    measurement = here.hasten(measurement_id, pay_twice=pay_twice)
    return Response(
        status_code=HTTPStatus.ACCEPTED.value,
        content_type="application/json",
        body=here.shown(measurement),
    )


@router.get("/v1/measurements/<measurement_id>", summary="Read a measurement", tags=["measurements"])
def read_measurement(measurement_id: str) -> MeasurementView:
    """One measurement: what each metric says so far, and why where it says nothing."""
    tenant = caller(router).tenant
    return intake(tenant).shown(measurements().get(Reference(tenant, "measurement", measurement_id)))
