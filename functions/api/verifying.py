"""The route of the API that asks a judge while its caller waits, in a function of its own.

It reads the replies of a model, so it has no access to tokens, sessions and tenants. No other route reads such replies.
"""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api.app import route
from functions.observability import publishing


@publishing
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one request for a verification."""
    return route(event, context)
