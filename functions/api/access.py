"""Who calls, and what their role allows. The authorizer says it; no handler reads a tenant from anywhere else."""

from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Router

from touchstone.errors import ForbiddenError, UnauthenticatedError
from touchstone.records import Identity, Role

ALLOWED: dict[Role, frozenset[Role]] = {
    "reader": frozenset({"reader", "member", "admin"}),
    "member": frozenset({"member", "admin"}),
    "admin": frozenset({"admin"}),
}


def caller(app: APIGatewayHttpResolver | Router, *, at_least: Role = "reader") -> Identity:
    """The identity behind this request. Raises `UnauthenticatedError`, or `ForbiddenError` for a role below."""
    context: dict[str, Any] = app.current_event.request_context.authorizer.get_lambda or {}
    if not context.get("tenant"):
        raise UnauthenticatedError("Send a token in the Authorization header, as in: Authorization: Bearer ts_…")
    identity = Identity(tenant=context["tenant"], role=context["role"], token_id=context["token_id"])
    if identity.role not in ALLOWED[at_least]:
        raise ForbiddenError(f"This needs a token with the role {at_least}; yours has the role {identity.role}.")
    return identity
