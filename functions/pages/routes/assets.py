"""The files that pages load: style, script, and the library that draws charts. They are the same for everyone."""

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.pages.rendering import ASSETS, HEADERS, asset, version
from touchstone.errors import NotFoundError

router = Router()

FOR_EVER = "public, max-age=31536000, immutable"
"""Of an address that holds the content's hash, so that another content has another address."""


@router.get("/app/static/<name>")
def static(name: str) -> Response[str]:
    """One of the files, by its name."""
    if name not in ASSETS:
        raise NotFoundError("There is no such file.")
    asked = (router.current_event.query_string_parameters or {}).get("v")
    # While a deployment goes on, a page of one release may load a file of another: under the name of a content that it
    # has not got, or under none, it is kept by nobody (`HEADERS`).
    headers = {**HEADERS, "Cache-Control": FOR_EVER} if asked == version(name) else HEADERS
    return Response(status_code=HTTPStatus.OK.value, content_type=ASSETS[name], body=asset(name), headers=headers)
