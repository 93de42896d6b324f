"""The pages of the dashboard: one resolver, loaded by the API's function when the first page is asked for.

A page passes over query fields that it does not know, where the API refuses them: people pass addresses on, and mail
programs and chats add fields of their own. A list shows above its table by which filters it is chosen.
"""

from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError

from functions.api.problems import from_error, status_of
from functions.observability import log_fault
from functions.pages import paths
from functions.pages.kept import kept
from functions.pages.rendering import ASSETS, HEADERS, asset, version
from functions.pages.routes import (  # noqa: F401 - each adds its pages to `router`
    answers,
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
from functions.pages.visit import Page, PageView, Visit, anonymous_visit, redirect, router, visit
from touchstone.errors import NotFoundError, TouchstoneError, UnauthenticatedError

SAID = frozenset({400, 403, 404, 409, 413, 429, 503})
"""The statuses of errors that have a text of their own; any other of a visitor's errors is said as 400."""

FORMS = ("/label", "/pin", "/unpin")
"""How the addresses of forms end that are sent to an address below their page."""

FOR_EVER = "public, max-age=31536000, immutable"
"""The Cache-Control of an address that holds the content's hash: other content has another address."""

site = APIGatewayHttpResolver()
site.include_router(router)


@site.get("/app/static/<name>")
def static(name: str) -> Page:
    """A file that pages load, by its name. It is the same for everyone."""
    if name not in ASSETS:
        raise NotFoundError("There is no such file.")
    asked = (site.current_event.query_string_parameters or {}).get("v")
    # During a deployment, a page of one release may load a file of another. If the address names another content than
    # this file's, or none, no cache keeps the file (`HEADERS`).
    headers = {**HEADERS, "Cache-Control": FOR_EVER} if asked == version(name) else HEADERS
    return Response(status_code=HTTPStatus.OK.value, content_type=ASSETS[name], body=asset(name), headers=headers)


@site.exception_handler(TouchstoneError)
def on_error(error: TouchstoneError) -> Page:
    """A domain error as a page, or in the API's form if no HTML was asked for.

    A visitor who is not signed in is led from a page to the sign-in page.
    """
    this_visit = anonymous_visit()
    if this_visit.query.get("format", "html") != "html":
        return from_error(error)
    if isinstance(error, UnauthenticatedError) and site.current_event.http_method == "GET":
        return redirect(paths.sign_in(this_visit.path, paths.address(this_visit.path, this_visit.query)))
    return _visit_or_anonymous().page(_told(this_visit, error), status=status_of(error))


@site.exception_handler(Exception)
def on_fault(error: Exception) -> Page:
    """An unexpected error of ours: it is logged without its message, and nothing of it is shown to the visitor."""
    log_fault("A page failed unexpectedly", error)
    this_visit = anonymous_visit()
    return this_visit.page(_error(this_visit.words("error.unexpected")), status=HTTPStatus.INTERNAL_SERVER_ERROR)


@site.not_found
def on_no_route(error: NoRouteError) -> Page:  # noqa: ARG001 - Powertools' signature
    """An address without a page."""
    this_visit = _visit_or_anonymous()
    return this_visit.page(_error(this_visit.words("error.no_page")), status=HTTPStatus.NOT_FOUND)


def answer(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one request for a page."""
    return site.resolve(event, context)


def _visit_or_anonymous() -> Visit:
    """The visit of the person who is signed in, else of a stranger. So an error page still has the navigation."""
    try:
        return visit()
    except TouchstoneError:
        return anonymous_visit()


def _told(this_visit: Visit, error: TouchstoneError) -> PageView:
    """The page of a domain error. In another language than English its kind is said first, then the sentence itself."""
    sentence = str(error)
    if this_visit.language == "en" or kept(this_visit.words, sentence) != sentence:
        return _error(kept(this_visit.words, sentence))
    status = status_of(error).value
    return _error(this_visit.words(f"error.status.{status if status in SAID else 400}"), sentence)


def _error(sentence: str, detail: str | None = None) -> PageView:
    given = {"sentence": sentence, "detail": detail, "back": _sent_from()}
    return PageView(title="error.title", template="error.html", given=given)


def _sent_from() -> str | None:
    """The address, relative to the first page, of the page with the form that was sent; None if none was."""
    path = site.current_event.path
    if site.current_event.http_method != "POST" or path.startswith("/app/sign-"):
        return None
    return paths.address(path.rpartition("/")[0] if path.endswith(FORMS) else path)
