"""Signing in with a token, and out again."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.stores import sessions
from functions.pages import paths
from functions.pages.visit import SESSION, View, cookies_of, form, redirect, stranger, visit
from touchstone.errors import UnauthenticatedError
from touchstone.records.sessions import LASTS

router = Router()


@router.get("/app/sign-in")
def sign_in_page() -> Response[str]:
    """The page to sign in on; from there it goes on to `next`."""
    met = stranger(router)
    given = {"following": paths.safe_next(met.query.get("next", "")), "refused": "refused" in met.query}
    return met.page(View(title="sign_in.title", template="sign_in.html", given=given))


@router.post("/app/sign-in")
def sign_in() -> Response[str]:
    """Begin a session with the token in the form, and go on to the page that was asked for."""
    met = stranger(router)
    fields = form(router, None)
    wanted = paths.safe_next(fields.get("next", ""))
    try:
        secret, _ = sessions().begin(fields.get("token", "").strip())
    except UnauthenticatedError:
        return redirect(paths.sign_in(met.path, wanted, refused=True))
    return redirect(met.home + wanted, met.cookie(SESSION, secret, seconds=int(LASTS.total_seconds())))


@router.post("/app/sign-out")
def sign_out() -> Response[str]:
    """End the session."""
    met = visit(router)
    form(router, met.form_mark)
    sessions().end(cookies_of(router.current_event.raw_event)[SESSION])
    return redirect(met.home, met.cookie(SESSION, "", seconds=-1))
