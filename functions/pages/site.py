"""The pages of the dashboard: one resolver, loaded by the API's function when the first page is asked for."""

from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError

from functions.api.problems import from_error, status_of
from functions.observability import log_fault
from functions.pages import paths
from functions.pages.kept import kept
from functions.pages.routes import (
    answers,
    assets,
    audits,
    disagreements,
    experiments,
    judges,
    labelling,
    measurements,
    overview,
    pairs,
    quizzes,
    quotas,
    rates,
    signing_in,
    submissions,
    tasks,
    traces,
    trends,
)
from functions.pages.visit import PageView, Visit, redirect, stranger, visit
from touchstone.errors import TouchstoneError, UnauthenticatedError

SAID = frozenset({400, 403, 404, 409, 413, 429, 503})
"""The statuses of errors that have a text of their own; any other of a visitor's errors is said as 400."""

site = APIGatewayHttpResolver()
for routes in (
    signing_in,
    overview,
    answers,
    measurements,
    quizzes,
    rates,
    trends,
    quotas,
    experiments,
    pairs,
    tasks,
    submissions,
    audits,
    judges,
    labelling,
    disagreements,
    traces,
    assets,
):
    site.include_router(routes.router)


@site.exception_handler(TouchstoneError)
def on_error(error: TouchstoneError) -> Response[str]:
    """A domain error as a page, or in the API's form if no HTML was asked for.

    A visitor who is not signed in is led from a page to the sign-in page.
    """
    met = stranger(site)
    if met.query.get("format", "html") != "html":
        return from_error(error)
    if isinstance(error, UnauthenticatedError) and site.current_event.http_method == "GET":
        return redirect(paths.sign_in(met.path, paths.address(met.path)))
    return _whoever().page(_told(met, error), status=status_of(error))


@site.exception_handler(Exception)
def on_fault(error: Exception) -> Response[str]:
    """An unexpected error of ours: it is logged without its message, and nothing of it is shown to the visitor."""
    log_fault("A page failed unexpectedly", error)
    met = stranger(site)
    return met.page(_error(met.words("error.unexpected")), status=HTTPStatus.INTERNAL_SERVER_ERROR)


@site.not_found
def on_no_route(error: NoRouteError) -> Response[str]:  # noqa: ARG001 - Powertools' signature
    """An address without a page."""
    met = _whoever()
    return met.page(_error(met.words("error.no_page")), status=HTTPStatus.NOT_FOUND)


def answer(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one request for a page."""
    return site.resolve(event, context)


def _whoever() -> Visit:
    """The visit of the person who is signed in, else of a stranger. So an error page still has the navigation."""
    try:
        return visit(site)
    except TouchstoneError:
        return stranger(site)


def _told(met: Visit, error: TouchstoneError) -> PageView:
    """The page of a domain error. In another language than English its kind is said first, then the sentence itself."""
    sentence = str(error)
    if met.language == "en" or kept(met.words, sentence) != sentence:
        return _error(kept(met.words, sentence))
    status = status_of(error).value
    return _error(met.words(f"error.status.{status if status in SAID else 400}"), sentence)


def _error(sentence: str, detail: str | None = None) -> PageView:
    return PageView(title="error.title", template="error.html", given={"sentence": sentence, "detail": detail})
