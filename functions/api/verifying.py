"""The route of the API that asks a judge while its caller waits, in a function of its own.

It reads what a model replies, so that it may touch no token, no session and no tenant; all other routes read none.
"""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api.app import route
from functions.observability import publishing


@publishing
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one request for a verification."""
    return route(event, context)
