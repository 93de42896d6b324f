"""What is read of a request beside its fields: who calls, under which key, by which path, and whether it is JSON;
and where what it made is read.

The authorizer says who calls; no handler reads a tenant from anywhere else.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response

from touchstone.errors import ForbiddenError, InputError, TooLargeError, UnauthenticatedError
from touchstone.operations.json_text import loads as loads_strictly
from touchstone.records import Identity, Role

ALLOWED: dict[Role, frozenset[Role]] = {
    "reader": frozenset({"reader", "member", "admin"}),
    "member": frozenset({"member", "admin"}),
    "admin": frozenset({"admin"}),
}
VERSION = "/v1/"
"""What every address of a record begins with, after whatever a gateway puts in front."""
HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 255
MAX_BODY_BYTES = 5_800_000
"""An image of the greatest size is 5.6 MB as base64, and a text may come with it. A Lambda payload ends at 6 MiB with
its envelope (headers of 10 KB at most); what is larger is refused whole."""
JSON = "application/json"


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


def sender_key(app: Receiver) -> str | None:
    """The key that the sender gave this request, None without one. Raises `InputError` for one that cannot serve."""
    key: str | None = app.current_event.headers.get(HEADER.lower())
    if key is not None and (not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable()):
        raise InputError(
            f"The {HEADER} must be 1 to {MAX_KEY_CHARS} printable characters; a UUID serves well.",
            where=HEADER,
        )
    return key


def located(app: Receiver, *steps: str) -> dict[str, str]:
    """The `Location` header that leads to the address of these `steps` below `/v1`.

    It is relative to the request's own address (RFC 9110, 10.2.2), since a stage, a domain's path or a local cloud may
    stand in front of it that no function is told of.
    """
    below: str = app.current_event.path.partition(VERSION)[2]
    return {"Location": "../" * below.count("/") + "/".join(steps)}


def accepted[T](app: Receiver, body: T, *steps: str, status: HTTPStatus = HTTPStatus.ACCEPTED) -> Response[T]:
    """A record that a request made or set to work, as JSON, whose address at `Location` has these `steps`."""
    return Response(status_code=status.value, content_type=JSON, body=body, headers=located(app, *steps))


def said_by(part: str) -> str:
    """What a part of a path says, as it was meant before it was encoded. To be asked once for each part.

    DECISION: API Gateway's HTTP APIs decode a path before a function sees it (`rawPath`), all but the percent sign,
    which stays `%25`; so does the local cloud. What is decoded here is that one sign: the name `a%41` is sent as
    `a%2541`, comes like that, and is `a%41` again. Of a gateway that passes paths on as they were sent it becomes the
    same. A name with a slash in it cannot be said by a path: API Gateway makes a slash of the path of it.
    """
    return unquote(part)


def loads(text: str) -> Any:
    """Parse a body. Raises `InputError` for what is no JSON as all doors take it."""
    return loads_strictly(text, where="body")


def check_body(event: Mapping[str, Any]) -> None:
    """Refuse a body that is too large, raising `TooLargeError`, or said to be no JSON, raising `InputError`."""
    body: str = event.get("body") or ""
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise TooLargeError(
            f"The body has {size:,} bytes; at most {MAX_BODY_BYTES:,} are taken. Upload large images first, at "
            "/v1/images, and thousands of requests as a file, at /v1/batches.",
            where="body",
        )
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    kind = headers.get("content-type", JSON).partition(";")[0].strip()
    if body and kind != JSON:
        raise InputError(f"The body must be JSON: send it with the header Content-Type: {JSON}.", where="Content-Type")
