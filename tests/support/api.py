"""The HTTP API as its users see it: API Gateway in the process, the authorizer in front, the function behind."""

import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from functions.api import app, authorizer
from tests.support.deployment import Context
from tests.support.events import event

PUBLIC = frozenset({"/health", "/openapi.json", "/swagger"})
"""Routes that API Gateway lets through without asking the authorizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a caller gets."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


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
        request = event("api_verify", rawPath=path, headers=sent, body=body)
        request["pathParameters"] = {"proxy": path.removeprefix("/")}
        request["rawQueryString"] = urlencode(query or {})
        request["queryStringParameters"] = {name: str(value) for name, value in (query or {}).items()}
        asked = request["requestContext"]
        asked["http"] |= {"method": method, "path": path}
        asked["timeEpoch"] = received_at_ms or time.time_ns() // 1_000_000
        del asked["authorizer"]
        if path not in PUBLIC:
            if "authorization" not in sent:
                return Response(status=401, headers={}, body='{"message":"Unauthorized"}')
            said = authorizer.handler(event("authorizer", identitySource=[sent["authorization"]]), self.context)
            if not said["isAuthorized"]:
                return Response(status=403, headers={}, body='{"message":"Forbidden"}')
            asked["authorizer"] = {"lambda": said["context"]}
        answer = app.handler(request, self.context)
        found = {name.lower(): value for name, value in answer.get("headers", {}).items()}
        return Response(status=answer["statusCode"], headers=found, body=answer.get("body") or "")
