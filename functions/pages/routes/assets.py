"""The files that pages load: style, script, and the library that draws charts. They are the same for everyone."""

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.pages.rendering import ASSETS, HEADERS, asset
from touchstone.errors import NotFoundError

router = Router()

FOR_EVER = "public, max-age=31536000, immutable"
"""The address holds the content's hash, so that another content has another address."""


@router.get("/app/static/<name>")
def static(name: str) -> Response[str]:
    """One of the files, by its name."""
    if name not in ASSETS:
        raise NotFoundError("There is no such file.")
    headers = {**HEADERS, "Cache-Control": FOR_EVER}
    return Response(status_code=HTTPStatus.OK.value, content_type=ASSETS[name], body=asset(name), headers=headers)
