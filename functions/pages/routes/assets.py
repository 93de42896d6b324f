"""The files that pages load: the style, scripts, and the library that draws charts. They are the same for everyone."""

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.pages.rendering import ASSETS, HEADERS, asset, version
from touchstone.errors import NotFoundError

router = Router()

FOR_EVER = "public, max-age=31536000, immutable"
"""The Cache-Control of an address that holds the content's hash: other content has another address."""


@router.get("/app/static/<name>")
def static(name: str) -> Response[str]:
    """A file by its name."""
    if name not in ASSETS:
        raise NotFoundError("There is no such file.")
    asked = (router.current_event.query_string_parameters or {}).get("v")
    # During a deployment, a page of one release may load a file of another. If the address names another content than
    # this file's, or none, no cache keeps the file (`HEADERS`).
    headers = {**HEADERS, "Cache-Control": FOR_EVER} if asked == version(name) else HEADERS
    return Response(status_code=HTTPStatus.OK.value, content_type=ASSETS[name], body=asset(name), headers=headers)
