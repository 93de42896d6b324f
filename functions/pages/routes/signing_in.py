"""Signing in with a token, and out again."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.stores import sessions
from functions.pages import paths
from functions.pages.visit import PageView, anonymous_visit, form, redirect, secret_of, visit
from touchstone.errors import UnauthenticatedError
from touchstone.records.sessions import LASTS

router = Router()


@router.get("/app/sign-in")
def sign_in_page() -> Response[str]:
    """The sign-in page. After signing in, the browser goes on to the page `next`."""
    this_visit = anonymous_visit(router)
    given = {"following": paths.safe_next(this_visit.query.get("next", "")), "refused": "refused" in this_visit.query}
    return this_visit.page(PageView(title="sign_in.title", template="sign_in.html", given=given))


@router.post("/app/sign-in")
def sign_in() -> Response[str]:
    """Begin a session with the token in the form, and go on to the page that was asked for.

    The session that this browser had before ends: once its cookie is replaced, nobody could end it.
    """
    this_visit = anonymous_visit(router)
    fields = form(router, None)
    wanted = paths.safe_next(fields.get("next", ""))
    try:
        secret, _ = sessions().begin(fields.get("token", "").strip(), instead_of=secret_of(router, this_visit))
    except UnauthenticatedError:
        return redirect(paths.sign_in(this_visit.path, wanted, refused=True))
    return redirect(
        this_visit.home + wanted,
        this_visit.cookie(this_visit.session_cookie, secret, seconds=int(LASTS.total_seconds())),
    )


@router.post("/app/sign-out")
def sign_out() -> Response[str]:
    """End the session."""
    this_visit = visit(router)
    form(router, this_visit.form_mark)
    sessions().end(secret_of(router, this_visit))
    return redirect(this_visit.home, this_visit.cookie(this_visit.session_cookie, "", seconds=-1))
