"""Experiments: have two variants compared, see how far that is, and read the report."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, Field

from functions.api.found import Cursor, FoundList, Limit
from functions.api.openapi import answering
from functions.api.requests import accepted, caller, sender_key
from functions.composition.intakes import of_experiments as intake
from functions.composition.stores import experiments
from touchstone.operations.surfaces.experiment_files import REPORTS, ReportFormat
from touchstone.records import ExperimentSummary
from touchstone.records.experiments import ExperimentQuery
from touchstone.surfaces.experiments.record import ExperimentRequest, ExperimentView

router = Router()

REPORT_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""A report is one file without any script: a browser runs nothing in it and loads nothing from elsewhere, whatever a
text in it may look like."""


class ExperimentPage(FoundList):
    """Some experiments, newest first unless `sort` says otherwise."""

    items: tuple[ExperimentSummary, ...]


class ExperimentUpload(BaseModel):
    """Where to PUT the JSON of an experiment (content type application/json), and the key that names it afterwards."""

    experiment_key: str = Field(description="The `experiment_key` of an experiment to be run.")
    upload_url: str


@router.post(
    "/v1/experiments",
    summary="Run an experiment",
    tags=["experiments"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND),
)
def run(body: ExperimentRequest) -> Response[ExperimentView]:
    """Have two variants of the same items compared, itself or as a file uploaded before; follow it at `Location`."""
    here = intake(caller(router, at_least="member").tenant)
    record = here.run(body, key=sender_key(router))
    return accepted(router, here.shown(record), "experiments", record.id)


@router.get("/v1/experiments", summary="List experiments", tags=["experiments"])
def list_experiments(
    query: Annotated[ExperimentQuery, Query()], limit: Limit = 50, cursor: Cursor = None
) -> ExperimentPage:
    """Your experiments, or those that all filters mean, newest first; `search` looks in names and conclusions."""
    page = experiments().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return ExperimentPage.model_validate(page)


@router.get("/v1/experiments/<experiment_id>", summary="Read an experiment", tags=["experiments"])
def read_experiment(experiment_id: str) -> ExperimentView:
    """How far an experiment is and what it cost so far, and its conclusion once there is one."""
    return intake(caller(router).tenant).view(experiment_id)


@router.post(
    "/v1/experiments/<experiment_id>/now",
    summary="Have an experiment asked now",
    tags=["experiments"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
)
def hasten(experiment_id: str, *, pay_twice: bool = False) -> Response[ExperimentView]:
    """Take an experiment out of the line for batches: what it still wants is asked as soon as the quota admits it.

    What is in a provider's batch already is paid for, so it is asked a second time only with `pay_twice`.
    """
    here = intake(caller(router, at_least="member").tenant)
    record = here.hasten(experiment_id, pay_twice=pay_twice)
    return Response(status_code=HTTPStatus.ACCEPTED.value, content_type="application/json", body=here.shown(record))


@router.get(
    "/v1/experiments/<experiment_id>/report",
    summary="Read the report of an experiment",
    tags=["experiments"],
    responses={
        HTTPStatus.OK.value: {
            "description": HTTPStatus.OK.phrase,
            "content": {kind: {"schema": {"type": "string"}} for kind in REPORTS.values()},
        },
        HTTPStatus.CONFLICT.value: {"description": HTTPStatus.CONFLICT.phrase},
    },
)
def read_report(experiment_id: str, form: Annotated[ReportFormat, Query(alias="format")] = "html") -> Response[str]:
    """The report for people (`html`, `md`), for a spreadsheet (`csv`) or for a program (`json`).

    `sides` are both texts of each pair side by side with what differs marked, `sides_zh` the same in Chinese.
    """
    text = intake(caller(router).tenant).report(experiment_id, form)
    return Response(
        status_code=HTTPStatus.OK.value, content_type=REPORTS[form], body=text, headers=dict(REPORT_HEADERS)
    )


@router.post("/v1/experiment-files", summary="Upload an experiment", tags=["experiments"])
def upload_experiment() -> ExperimentUpload:
    """Where to put an experiment that is too large to send inside a request."""
    key, link = intake(caller(router, at_least="member").tenant).upload_link()
    return ExperimentUpload(experiment_key=key, upload_url=link)
