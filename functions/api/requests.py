"""What is read of a request besides its fields: the caller, the key, the parts of the path, whether the body is JSON
and whether the query is known; and the address of the record that a request made.

The authorizer says who calls. No handler reads a tenant from anywhere else.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from http import HTTPMethod, HTTPStatus
from typing import Annotated, Any, Protocol
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Route
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

from touchstone.errors import ForbiddenError, InputError, TooLargeError, UnauthenticatedError
from touchstone.json_text import loads as loads_strictly
from touchstone.records import Identity, Role

ALLOWED: dict[Role, frozenset[Role]] = {
    "reader": frozenset({"reader", "member", "admin"}),
    "member": frozenset({"member", "admin"}),
    "admin": frozenset({"admin"}),
}
VERSION = "/v1/"
"""The beginning of every record's address, after the path that a gateway may put in front."""
HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 255
MAX_BODY_BYTES = 5_800_000
"""The most bytes of a body. An image of the greatest size is 5.6 MB as base64, and a text may come with it. A Lambda
payload has 6 MiB at most with its envelope (headers of 10 KB at most). A larger body is refused as a whole."""
JSON = "application/json"


class Receiver(Protocol):
    """A resolver or router that holds the current request."""

    current_event: Any


def caller(app: Receiver, *, at_least: Role = "reader") -> Identity:
    """The identity of the caller.

    Raises `UnauthenticatedError` if there is none, and `ForbiddenError` if its role is below `at_least`.
    """
    context: dict[str, Any] = app.current_event.raw_event["requestContext"].get("authorizer", {}).get("lambda") or {}
    if not context.get("tenant"):
        raise UnauthenticatedError("Send a token in the Authorization header, as in: Authorization: Bearer ts_…")
    identity = Identity(tenant=context["tenant"], role=context["role"], token_id=context["token_id"])
    if identity.role not in ALLOWED[at_least]:
        raise ForbiddenError(f"This needs a token with the role {at_least}; yours has the role {identity.role}.")
    return identity


def sender_key(app: Receiver) -> str | None:
    """The key that the sender gave this request; None if it has none. Raises `InputError` for an unusable key."""
    key: str | None = app.current_event.headers.get(HEADER.lower())
    if key is not None and (not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable()):
        raise InputError(
            f"The {HEADER} must be 1 to {MAX_KEY_CHARS} printable characters; a UUID serves well.", where=HEADER
        )
    return key


def located(app: Receiver, *steps: str) -> dict[str, str]:
    """The `Location` header that leads to the address with these `steps` below `/v1`.

    It is relative to the request's own address (RFC 9110, 10.2.2): a stage, a domain's path or a local cloud may put a
    path in front that no function knows.
    """
    below: str = app.current_event.path.partition(VERSION)[2]
    return {"Location": "../" * below.count("/") + "/".join(steps)}


def json_response[T](body: T, *, status: HTTPStatus = HTTPStatus.ACCEPTED) -> Response[T]:
    """The response with a record as JSON, without a `Location`: the request was sent to its address, or it has none."""
    return Response(status_code=status.value, content_type=JSON, body=body)


def no_content() -> Response[str]:
    """The response of a request that removed something."""
    return Response(status_code=HTTPStatus.NO_CONTENT.value, body="")  # an empty body, not JSON null


def report_response(text: str, media_type: str, *, styled: bool = False) -> Response[str]:
    """The response with a report, which quotes strangers' texts: a browser runs nothing in it and loads nothing.

    `styled`: the report is one file with its styles in it.
    """
    styles = " style-src 'unsafe-inline';" if styled else ""
    headers = {
        "Content-Security-Policy": f"default-src 'none';{styles} frame-ancestors 'none'; base-uri 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return Response(status_code=HTTPStatus.OK.value, content_type=media_type, body=text, headers=headers)


def accepted[T](app: Receiver, body: T, *steps: str, status: HTTPStatus = HTTPStatus.ACCEPTED) -> Response[T]:
    """The response with a record that a request made or started, as JSON. `Location` leads to these `steps`."""
    return Response(status_code=status.value, content_type=JSON, body=body, headers=located(app, *steps))


def decoded_part(part: str) -> str:
    """The name that a part of a path stands for, decoded. Call it once for each part: a second call decodes too much.

    DECISION: API Gateway's HTTP APIs decode a path before a function sees it (`rawPath`), except for the percent sign,
    which stays `%25`. The local cloud does the same. So only that sign is decoded here: the name `a%41` is sent as
    `a%2541`, arrives as `a%2541`, and becomes `a%41` again. If a gateway passes paths on as they were sent, the result
    is the same. A path cannot carry a name with a slash: API Gateway decodes that slash into a separator of the path.
    """
    return unquote(part)


def methods_at(app: APIGatewayHttpResolver, path: str) -> tuple[str, ...]:
    """The methods that the loaded routes take at a path, in alphabetical order; empty if there is no such address."""
    return tuple(sorted({route.method for route in _routes(app) if route.rule.match(path)}))


def known_parameters(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """The middleware of every route: a GET of a record or a list takes no query parameter that it does not know.

    Powertools passes over such a parameter, and its sender would take a whole list for a filtered one.

    Raises `UnauthenticatedError` without a caller, and `RequestValidationError` with a fault for each parameter.
    """
    event, route = app.current_event, app.context["_route"]
    if event.http_method == HTTPMethod.GET and VERSION in event.path and route in _routes(app):
        caller(app)
        known = sorted(_parameters(route))
        unknown = [name for name in event.query_string_parameters or {} if name not in known]
        if unknown:
            told = f"it is no parameter here; there {'is' if len(known) == 1 else 'are'} {', '.join(known) or 'none'}"
            raise RequestValidationError(
                [{"type": "unknown_parameter", "loc": ("query", name), "msg": told} for name in unknown]
            )
    return next_middleware(app)


def _parameters(route: Route) -> Iterator[str]:
    """The names of a route's query parameters. A model among them stands for its fields."""
    for parameter in route.dependant.query_params:
        fields = getattr(parameter.field_info.annotation, "model_fields", None)
        yield from (parameter.alias,) if fields is None else (one.alias or name for name, one in fields.items())


def _routes(app: APIGatewayHttpResolver) -> list[Route]:
    """The loaded routes. The route that Powertools makes for an address that does not exist is not among them."""
    return [*app._static_routes, *app._dynamic_routes]  # noqa: SLF001 - no other way shows them


def loads(text: str) -> Any:
    """Parse a body. Raises `InputError` if it is not the strict JSON that all doors take."""
    return loads_strictly(text, where="body")


def check_body(event: Mapping[str, Any]) -> None:
    """Raise `TooLargeError` if the body is too large, and `InputError` if its content type is not JSON."""
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


Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[
    str | None, Query(description="The `cursor` of an earlier page of the same list with the same filters.")
]


class FoundList(BaseModel):
    """A page of a list, whatever is listed."""

    model_config = ConfigDict(from_attributes=True)

    cursor: str | None = Field(description="Leads to the next page; null on the last page.")
    looked_at: int = Field(
        description="The number of records that were looked at. With filters, a page also ends after 2,000 records, or "
        "sooner after 200 reads of other data (whole records, labels, texts). It may then hold few items or none; its "
        "cursor continues from there."
    )
    looked_to: datetime | None = Field(
        description="When the last record that was looked at arrived (UTC); null if no record was looked at."
    )
