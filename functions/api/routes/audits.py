"""Audits: have a benchmark's questions proved, follow the progress, read the report, and run its proofs again."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

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
from functions.composition.intakes import of_audits as intake
from functions.composition.stores import audits
from touchstone.audits.record import AuditRequest, AuditView, RecheckRequest
from touchstone.operations.audits.files import REPORTS, AuditReportFormat
from touchstone.records import AuditSummary
from touchstone.records.audits import AuditQuery

router = Router()


class AuditPage(FoundList):
    """A page of a list of audits. The newest come first unless `sort` says otherwise."""

    items: tuple[AuditSummary, ...]


@router.post(
    "/v1/audits",
    summary="Audit a benchmark",
    tags=["audits"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def audit(body: AuditRequest) -> Response[AuditView]:
    """Have each option of a benchmark's questions proved by running code. `Location` is where to follow the audit."""
    here = intake(caller(router, at_least="member").tenant)
    record = here.audit(body, key=sender_key(router))
    return accepted(router, here.shown(record), "audits", record.id)


@router.get("/v1/audits", summary="List audits", tags=["audits"])
def list_audits(query: Annotated[AuditQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> AuditPage:
    """Your audits that match every filter, with what they found, newest first.

    `search` looks in the requirement, in its version, and in the questions and options of the cases.
    """
    page = audits().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return AuditPage.model_validate(page)


@router.get("/v1/audits/<audit_id>", summary="Read an audit", tags=["audits"])
def read_audit(audit_id: str) -> AuditView:
    """The progress and the cost of an audit so far. Once the audit is done, also what it found."""
    return intake(caller(router).tenant).view(audit_id)


@router.get(
    "/v1/audits/<audit_id>/report",
    summary="Read the report of an audit",
    tags=["audits"],
    responses=reporting(kind for _, kind in REPORTS.values()),
)
def read_report(audit_id: str, form: Annotated[AuditReportFormat, Query(alias="format")] = "json") -> Response[str]:
    """The report of an audit: `json` for programs (`touchstone audit recheck` reads it), or `md` for people.

    A report of more than four megabytes can be read only by the audit's `report_url` or `page_url`.
    """
    return report_response(intake(caller(router).tenant).report(audit_id, form), REPORTS[form][1])


@router.post(
    "/v1/audits/<audit_id>/recheck",
    summary="Run an audit's proofs again",
    tags=["audits"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def recheck(audit_id: str, body: RecheckRequest) -> Response[AuditView]:
    """Run the stored proofs against another version of the target, without any model.

    `Location` is where to follow the new audit.
    """
    here = intake(caller(router, at_least="member").tenant)
    record = here.recheck(audit_id, body, key=sender_key(router))
    return accepted(router, here.shown(record), "audits", record.id)


@router.post(
    "/v1/audits/<audit_id>/now",
    summary="Have an audit asked now",
    tags=["audits"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
)
def hasten(audit_id: str, *, pay_twice: bool = False) -> Response[AuditView]:
    """Take an audit out of the line for batches: its first turns are asked for as soon as the quota allows it.

    Questions that are already in a provider's batch are paid for. They are asked a second time only with `pay_twice`.
    """
    here = intake(caller(router, at_least="member").tenant)
    record = here.ask_now(audit_id, pay_twice=pay_twice)
    return json_response(here.shown(record))


@router.delete("/v1/audits/<audit_id>/weekly", summary="Stop auditing each week", tags=["audits"])
def end_weekly(audit_id: str) -> AuditView:
    """Stop the weekly repetition of an audit and of the audits that followed it. Return the last of them."""
    here = intake(caller(router, at_least="member").tenant)
    return here.shown(here.end_weekly(audit_id))
