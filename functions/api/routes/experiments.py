"""Experiments: have two variants compared, follow the progress, and read the report."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, Field

from functions.api.openapi import answering, reporting
from functions.api.requests import (
    Cursor,
    FoundList,
    Limit,
    accepted,
    caller,
    json_response,
    report_response,
    sender_key,
)
from functions.composition.intakes import of_experiments as intake
from functions.composition.stores import experiments
from touchstone.operations.surfaces.experiment_files import REPORTS, ReportFormat
from touchstone.records import ExperimentSummary
from touchstone.records.experiments import ExperimentQuery
from touchstone.surfaces.experiments.record import ExperimentRequest, ExperimentView

router = Router()


class ExperimentPage(FoundList):
    """A page of a list of experiments. The newest come first unless `sort` says otherwise."""

    items: tuple[ExperimentSummary, ...]


class ExperimentUpload(BaseModel):
    """Where to PUT the JSON of an experiment (content type application/json), and the key that names it later."""

    experiment_key: str = Field(description="The key to send as `experiment_key` when the experiment is run.")
    upload_url: str


@router.post(
    "/v1/experiments",
    summary="Run an experiment",
    tags=["experiments"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND),
)
def run(body: ExperimentRequest) -> Response[ExperimentView]:
    """Compare two variants of the same items. `Location` is where to follow the experiment.

    The body holds the experiment itself, or the key of a file that was uploaded before.
    """
    here = intake(caller(router, at_least="member").tenant)
    record = here.run(body, key=sender_key(router))
    return accepted(router, here.shown(record), "experiments", record.id)


@router.get("/v1/experiments", summary="List experiments", tags=["experiments"])
def list_experiments(
    query: Annotated[ExperimentQuery, Query()], limit: Limit = 50, cursor: Cursor = None
) -> ExperimentPage:
    """Your experiments that match every filter, newest first. `search` looks in names and conclusions."""
    page = experiments().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return ExperimentPage.model_validate(page)


@router.get("/v1/experiments/<experiment_id>", summary="Read an experiment", tags=["experiments"])
def read_experiment(experiment_id: str) -> ExperimentView:
    """The progress and the cost of an experiment so far, and its conclusion once there is one."""
    return intake(caller(router).tenant).view(experiment_id)


@router.post(
    "/v1/experiments/<experiment_id>/now",
    summary="Have an experiment asked now",
    tags=["experiments"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
)
def hasten(experiment_id: str, *, pay_twice: bool = False) -> Response[ExperimentView]:
    """Take an experiment out of the line for batches: its open questions are asked as soon as the quota allows it.

    Questions that are already in a provider's batch are paid for. They are asked a second time only with `pay_twice`.
    """
    here = intake(caller(router, at_least="member").tenant)
    record = here.ask_now(experiment_id, pay_twice=pay_twice)
    return json_response(here.shown(record))


@router.get(
    "/v1/experiments/<experiment_id>/report",
    summary="Read the report of an experiment",
    tags=["experiments"],
    responses=reporting(REPORTS.values()),
)
def read_report(experiment_id: str, form: Annotated[ReportFormat, Query(alias="format")] = "html") -> Response[str]:
    """The report for people (`html`, `md`), for a spreadsheet (`csv`) or for a program (`json`).

    `sides` shows both texts of each pair side by side, with the differences marked. `sides_zh` is the same in Chinese.
    """
    return report_response(intake(caller(router).tenant).report(experiment_id, form), REPORTS[form], styled=True)


@router.post("/v1/experiment-files", summary="Upload an experiment", tags=["experiments"])
def upload_experiment() -> ExperimentUpload:
    """A link for uploading an experiment that is too large to send inside a request."""
    key, link = intake(caller(router, at_least="member").tenant).upload_link()
    return ExperimentUpload(experiment_key=key, upload_url=link)
