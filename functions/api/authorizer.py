"""The Lambda authorizer of the HTTP API: a bearer token in, the tenant and role behind it out."""

from typing import Any

from functions.composition.stores import tokens
from touchstone.errors import TouchstoneError, UnauthenticatedError

SCHEME = "bearer "


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer in the simple format of payload version 2.0. What is wrong with a token is not said."""
    header = next(iter(event.get("identitySource") or ()), "")
    if not header.lower().startswith(SCHEME):
        return {"isAuthorized": False}
    try:
        identity = tokens().resolve(header[len(SCHEME) :].strip())
    except UnauthenticatedError:
        return {"isAuthorized": False}
    except TouchstoneError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, its words go no further
        from functions.observability import without_words  # not before: it would make every cold start longer

        raise without_words(error) from None
    return {
        "isAuthorized": True,
        "context": {"tenant": identity.tenant, "role": identity.role, "token_id": identity.token_id},
    }
