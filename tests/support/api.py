"""The HTTP API as its users see it: API Gateway in the process, the authorizer in front, the function behind."""

import json
import re
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urljoin

from functions.api import app, authorizer, verifying
from functions.pages.paths import BELOW, ROOT
from tests.support.deployment import Context
from tests.support.events import event

PUBLISHED = Path(__file__).parents[2] / "docs" / "openapi.json"
VERIFICATIONS = ("POST", "/v1/verifications")
"""The route that has a function of its own."""
PUBLIC = frozenset({"/health", "/openapi.json", "/swagger"})
"""Routes that API Gateway lets through without asking the authorizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a caller gets who `asked` for a path."""

    status: int
    headers: dict[str, str]
    body: str
    asked: str = ""
    cookies: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def location(self) -> str:
        """The path that `Location` leads to."""
        return urljoin(self.asked, self.headers["location"])


def refusal(response: Response, status: int) -> dict[str, Any]:
    """The problem document of a request that must be refused with this status."""
    assert response.status == status, f"{response.status}: {response.body}"
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json
    assert document["status"] == status
    assert document["type"].startswith("urn:touchstone:problem:")
    assert document["detail"]
    return document


@dataclass(frozen=True, kw_only=True)
class Api:
    """A caller with a token; `token` None sends none. `context` is the function's of each call."""

    token: str | None = None
    context: Context = field(default_factory=Context)

    def get(self, path: str, **query: Any) -> Response:
        """GET."""
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Response:
        """POST of JSON, with an idempotency key where one is given."""
        return self.call("POST", path, None if body is None else json.dumps(body), key=key)

    def call(
        self,
        method: str,
        path: str,
        body: str | None = None,
        *,
        key: str | None = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        received_at_ms: int | None = None,
    ) -> Response:
        """One request, refused by the gateway as it would be or answered by the function."""
        sent = {"content-type": "application/json", "host": "abc123.execute-api.eu-central-1.amazonaws.com"}
        sent |= {"authorization": f"Bearer {self.token}"} if self.token is not None else {}
        sent |= {"idempotency-key": key} if key is not None else {}
        sent |= headers or {}
        passed_on = decoded(path)
        request = event("api_verify", rawPath=passed_on, headers=sent, body=body)
        request["pathParameters"] = {"proxy": passed_on.removeprefix("/")}
        request["rawQueryString"] = urlencode(query or {})
        request["queryStringParameters"] = {name: str(value) for name, value in (query or {}).items()}
        asked = request["requestContext"]
        asked["http"] |= {"method": method, "path": passed_on}
        asked["timeEpoch"] = received_at_ms or time.time_ns() // 1_000_000
        del asked["authorizer"]
        if path not in PUBLIC and path != ROOT and not path.startswith(BELOW):
            if "authorization" not in sent:
                return Response(status=401, headers={}, body='{"message":"Unauthorized"}')
            said = authorizer.handler(event("authorizer", identitySource=[sent["authorization"]]), self.context)
            if not said["isAuthorized"]:
                return Response(status=403, headers={}, body='{"message":"Forbidden"}')
            asked["authorizer"] = {"lambda": said["context"]}
        door = verifying if (method, path) == VERIFICATIONS else app
        answer = door.handler(request, self.context)
        found = {name.lower(): value for name, value in answer.get("headers", {}).items()}
        response = Response(
            status=answer["statusCode"],
            headers=found,
            body=answer.get("body") or "",
            asked=path,
            cookies=tuple(answer.get("cookies") or ()),
        )
        _check_described(method, path, response)
        return response


def decoded(path: str) -> str:
    """A path as an HTTP API of API Gateway passes it on: every escape is decoded but that of the percent sign."""
    return "%25".join(unquote(part) for part in path.split("%25"))


@cache
def _described() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Method, address and responses of every operation that the published description knows."""
    document = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    shared = document["components"]["responses"]

    def whole(response: dict[str, Any]) -> dict[str, Any]:
        named = response.get("$ref")
        return shared[named.rpartition("/")[2]] if named else response

    return [
        (
            method.upper(),
            re.compile(re.sub(r"\{\w+\}", "[^/]+", path)),
            {code: whole(said) for code, said in answers.items()},
        )
        for path, operations in document["paths"].items()
        for method, answers in ((method, operation["responses"]) for method, operation in operations.items())
    ]


def _check_described(method: str, path: str, response: Response) -> None:
    """A response is one that the description announces: its status, and the form of its body."""
    for described, address, responses in _described():
        if described == method and address.fullmatch(path):
            announced = responses.get(str(response.status))
            assert announced is not None, f"{method} {path}: {response.status} is not described ({response.body[:200]})"
            forms = announced.get("content", {})
            kind = response.headers.get("content-type")
            assert kind in forms if response.body else not forms, f"{method} {path}: {response.status} as {kind}"
