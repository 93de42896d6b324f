"""The Lambda authorizer of the HTTP API: it takes a bearer token, and gives the token's tenant and role."""

from typing import Any

from functions.composition.stores import tokens
from touchstone.errors import TouchstoneError, UnauthenticatedError

SCHEME = "bearer "


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer in the simple format of payload version 2.0. The answer does not say what is wrong with a token."""
    header = next(iter(event.get("identitySource") or ()), "")
    if not header.lower().startswith(SCHEME):
        return {"isAuthorized": False}
    try:
        identity = tokens().resolve(header[len(SCHEME) :].strip())
    except UnauthenticatedError:
        return {"isAuthorized": False}
    except TouchstoneError:
        raise
    except Exception as error:  # noqa: BLE001 - no unexpected error's message may go further
        from functions.observability import without_words  # imported here, as it would lengthen every cold start

        raise without_words(error) from None
    return {
        "isAuthorized": True,
        "context": {"tenant": identity.tenant, "role": identity.role, "token_id": identity.token_id},
    }
