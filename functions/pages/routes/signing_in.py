"""Signing in with a token, and out again."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.stores import sessions
from functions.pages import paths
from functions.pages.visit import PageView, form, redirect, secret_of, stranger, visit
from touchstone.errors import UnauthenticatedError
from touchstone.records.sessions import LASTS

router = Router()


@router.get("/app/sign-in")
def sign_in_page() -> Response[str]:
    """The sign-in page. After signing in, the browser goes on to the page `next`."""
    met = stranger(router)
    given = {"following": paths.safe_next(met.query.get("next", "")), "refused": "refused" in met.query}
    return met.page(PageView(title="sign_in.title", template="sign_in.html", given=given))


@router.post("/app/sign-in")
def sign_in() -> Response[str]:
    """Begin a session with the token in the form, and go on to the page that was asked for.

    The session that this browser had before ends: once its cookie is replaced, nobody could end it.
    """
    met = stranger(router)
    fields = form(router, None)
    wanted = paths.safe_next(fields.get("next", ""))
    try:
        secret, _ = sessions().begin(fields.get("token", "").strip(), instead_of=secret_of(router, met))
    except UnauthenticatedError:
        return redirect(paths.sign_in(met.path, wanted, refused=True))
    return redirect(met.home + wanted, met.cookie(met.session_cookie, secret, seconds=int(LASTS.total_seconds())))


@router.post("/app/sign-out")
def sign_out() -> Response[str]:
    """End the session."""
    met = visit(router)
    form(router, met.form_mark)
    sessions().end(secret_of(router, met))
    return redirect(met.home, met.cookie(met.session_cookie, "", seconds=-1))
