"""Signing in with a token, and out again."""

from functions.composition.stores import sessions
from functions.pages import paths
from functions.pages.visit import Page, PageView, anonymous_visit, form, redirect, router, secret_of, visit
from touchstone.errors import UnauthenticatedError
from touchstone.records.sessions import LASTS


@router.get("/app/sign-in")
def sign_in_page() -> Page:
    """The sign-in page. After signing in, the browser goes on to the page `next`."""
    this_visit = anonymous_visit()
    given = {"following": paths.safe_next(this_visit.query.get("next", "")), "refused": "refused" in this_visit.query}
    return this_visit.page(PageView(title="sign_in.title", template="sign_in.html", given=given))


@router.post("/app/sign-in")
def sign_in() -> Page:
    """Begin a session with the token in the form, and go on to the page that was asked for.

    The session that this browser had before ends: once its cookie is replaced, nobody could end it.
    """
    this_visit = anonymous_visit()
    fields = form(None)
    wanted = paths.safe_next(fields.get("next", ""))
    try:
        secret, _ = sessions().begin(fields.get("token", "").strip(), instead_of=secret_of(this_visit))
    except UnauthenticatedError:
        return redirect(paths.sign_in(this_visit.path, wanted, refused=True))
    return redirect(
        this_visit.home + wanted,
        this_visit.cookie(this_visit.session_cookie, secret, seconds=int(LASTS.total_seconds())),
    )


@router.post("/app/sign-out")
def sign_out() -> Page:
    """End the session."""
    this_visit = visit()
    form(this_visit.form_mark)
    sessions().end(secret_of(this_visit))
    return redirect(this_visit.home, this_visit.cookie(this_visit.session_cookie, "", seconds=-1))
