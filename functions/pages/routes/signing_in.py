"""Signing in with a token, and out again."""

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.shared.cookies import Cookie

from functions.composition.stores import sessions
from functions.pages import paths
from functions.pages.rendering import HEADERS
from functions.pages.visit import SESSION, View, Visit, cookies_of, form, stranger, visit
from touchstone.errors import UnauthenticatedError
from touchstone.records.sessions import LASTS

router = Router()


@router.post("/app/sign-in")
def sign_in() -> Response[str]:
    """Begin a session with the token in the form, and go on to the page that was asked for."""
    met = stranger(router)
    fields = form(router, None)
    wanted = paths.safe_next(fields.get("next", ""))
    try:
        secret, _ = sessions().begin(fields.get("token", "").strip())
    except UnauthenticatedError:
        view = sign_in_view(met, wanted=wanted, refused=True)
        return met.page(view, status=HTTPStatus.UNAUTHORIZED)
    return _go(met.home + wanted, met.cookie(SESSION, secret, seconds=int(LASTS.total_seconds())))


@router.post("/app/sign-out")
def sign_out() -> Response[str]:
    """End the session."""
    met = visit(router)
    if met.session is not None:
        form(router, met.session.form_mark)
        sessions().end(cookies_of(router.current_event.raw_event)[SESSION])
    return _go(met.home, met.cookie(SESSION, "", seconds=-1))


def sign_in_view(met: Visit, *, wanted: str | None = None, refused: bool = False) -> View:
    """The page to sign in on; from there it goes on to `wanted`, or where that is None, to the page asked for."""
    following = met.path.lstrip("/") if wanted is None else wanted
    return View(
        title="sign_in.title",
        template="sign_in.html",
        given={"following": paths.safe_next(following), "refused": refused},
    )


def _go(address: str, *cookies: Cookie) -> Response[str]:
    return Response(
        status_code=HTTPStatus.SEE_OTHER.value,
        body="",
        headers={**HEADERS, "Location": address},
        cookies=list(cookies),
    )
