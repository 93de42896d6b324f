"""Audits: have a benchmark's questions proved, see how far that is, read the report, and run its proofs again."""

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.api.found import Cursor, FoundList, Limit
from functions.api.openapi import answering
from functions.api.requests import accepted, caller, sender_key
from functions.composition.intakes import of_audits as intake
from functions.composition.stores import audits
from touchstone.audits.record import AuditRequest, AuditView, RecheckRequest
from touchstone.operations.audits.files import REPORTS, AuditReportFormat
from touchstone.records import AuditSummary
from touchstone.records.audits import AuditQuery

router = Router()

REPORT_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""A report quotes benchmarks and whatever scripts printed: a browser runs nothing in it and loads nothing."""


class AuditPage(FoundList):
    """Some audits, newest first unless `sort` says otherwise."""

    items: tuple[AuditSummary, ...]


@router.post(
    "/v1/audits",
    summary="Audit a benchmark",
    tags=["audits"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def audit(body: AuditRequest) -> Response[AuditView]:
    """Have each option of a benchmark's questions proved by running code; follow it at `Location`."""
    here = intake(caller(router, at_least="member").tenant)
    record = here.audit(body, key=sender_key(router))
    return accepted(router, here.shown(record), "audits", record.id)


@router.get("/v1/audits", summary="List audits", tags=["audits"])
def list_audits(query: Annotated[AuditQuery, Query()], limit: Limit = 50, cursor: Cursor = None) -> AuditPage:
    """Your audits and what they found, or those that all filters mean, newest first; `search` looks in requirements."""
    page = audits().page(tenant=caller(router).tenant, limit=limit, cursor=cursor, query=query)
    return AuditPage.model_validate(page)


@router.get("/v1/audits/<audit_id>", summary="Read an audit", tags=["audits"])
def read_audit(audit_id: str) -> AuditView:
    """How far an audit is and what it cost so far, and what it found once it is done."""
    return intake(caller(router).tenant).view(audit_id)


@router.get(
    "/v1/audits/<audit_id>/report",
    summary="Read the report of an audit",
    tags=["audits"],
    responses={
        HTTPStatus.OK.value: {
            "description": HTTPStatus.OK.phrase,
            "content": {kind: {"schema": {"type": "string"}} for _, kind in REPORTS.values()},
        },
        HTTPStatus.CONFLICT.value: {"description": HTTPStatus.CONFLICT.phrase},
    },
)
def read_report(audit_id: str, form: Annotated[AuditReportFormat, Query(alias="format")] = "json") -> Response[str]:
    """The report for programs (`json`, which `touchstone audit recheck` reads) or for people (`md`).

    One of more than four megabytes is read by the audit's `report_url` or `page_url` alone.
    """
    text = intake(caller(router).tenant).report(audit_id, form)
    return Response(
        status_code=HTTPStatus.OK.value, content_type=REPORTS[form][1], body=text, headers=dict(REPORT_HEADERS)
    )


@router.post(
    "/v1/audits/<audit_id>/recheck",
    summary="Run an audit's proofs again",
    tags=["audits"],
    responses=answering(HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def recheck(audit_id: str, body: RecheckRequest) -> Response[AuditView]:
    """Run the stored proofs against another version of the target, without any model; follow it at `Location`."""
    here = intake(caller(router, at_least="member").tenant)
    record = here.recheck(audit_id, body, key=sender_key(router))
    return accepted(router, here.shown(record), "audits", record.id)


@router.delete("/v1/audits/<audit_id>/weekly", summary="Stop auditing each week", tags=["audits"])
def end_weekly(audit_id: str) -> AuditView:
    """Have an audit, and those that took over from it, not made again each week; the last of them as it is."""
    here = intake(caller(router, at_least="member").tenant)
    return here.shown(here.end_weekly(audit_id))
