"""Who calls, and what their role allows. The authorizer says it; no handler reads a tenant from anywhere else."""

from typing import Any, Protocol

from touchstone.errors import ForbiddenError, UnauthenticatedError
from touchstone.records import Identity, Role

ALLOWED: dict[Role, frozenset[Role]] = {
    "reader": frozenset({"reader", "member", "admin"}),
    "member": frozenset({"member", "admin"}),
    "admin": frozenset({"admin"}),
}


class Receiver(Protocol):
    """A resolver or router that holds the request at hand."""

    current_event: Any


def caller(app: Receiver, *, at_least: Role = "reader") -> Identity:
    """The identity behind this request. Raises `UnauthenticatedError`, or `ForbiddenError` for a role below."""
    context: dict[str, Any] = app.current_event.raw_event["requestContext"].get("authorizer", {}).get("lambda") or {}
    if not context.get("tenant"):
        raise UnauthenticatedError("Send a token in the Authorization header, as in: Authorization: Bearer ts_…")
    identity = Identity(tenant=context["tenant"], role=context["role"], token_id=context["token_id"])
    if identity.role not in ALLOWED[at_least]:
        raise ForbiddenError(f"This needs a token with the role {at_least}; yours has the role {identity.role}.")
    return identity
