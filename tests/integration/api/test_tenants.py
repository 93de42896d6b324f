"""A1: who gets in, what a role allows, and that no route of the API leads to another tenant's data."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.api import app, authorizer
from functions.api.openapi import document
from functions.composition.stores import tokens
from tests.support.api import PUBLIC, Api
from tests.support.deployment import Context, Deployment
from tests.support.events import event

DOCUMENT = json.loads(document(app.app))
ROUTES = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if path not in PUBLIC
]
WRITES = [(method, path) for method, path in ROUTES if method != "GET"]
BODIES: dict[str, Any] = {
    "/v1/verifications": {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"},
    "/v1/solutions": {"problem": "Compute 3/4 + 1/6."},
    "/v1/tokens": {"role": "reader", "name": "wall"},
    "/v1/routing/{subject}": {"provider": "openai"},
}
CANARY = "canary-of-the-rival"


def _authorized(header: str) -> dict[str, Any]:
    return authorizer.handler(event("authorizer", identitySource=[header]), Context())


def _jwt_without_signature() -> str:
    return "eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJhY21lIiwicm9sZSI6ImFkbWluIn0."


def test_a_valid_token_says_whose_it_is(deployment: Deployment) -> None:
    said = _authorized(f"Bearer {deployment.token('acme', 'reader')}")
    assert said["isAuthorized"] is True
    assert (said["context"]["tenant"], said["context"]["role"]) == ("acme", "reader")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer ts_short", f"Bearer ts_{'0' * 43}", f"Bearer {_jwt_without_signature()}",
     "Basic dXNlcjpwYXNz", "bearer null", "Bearer \x00", "Bearer T#acme", "ts_" + "A" * 43],
)  # fmt: skip
def test_whoever_has_no_token_stays_out(deployment: Deployment, header: str) -> None:
    assert _authorized(header) == {"isAuthorized": False}


def test_a_request_without_any_identity_stays_out(deployment: Deployment) -> None:
    assert authorizer.handler(event("authorizer", identitySource=None), Context()) == {"isAuthorized": False}


def test_a_token_in_another_scheme_stays_out(deployment: Deployment) -> None:
    token = deployment.token("acme")
    assert _authorized(f"Basic {token}") == {"isAuthorized": False}
    assert _authorized(token) == {"isAuthorized": False}
    assert _authorized(f"bearer {token}")["isAuthorized"] is True


def test_a_revoked_and_an_expired_token_stay_out(deployment: Deployment) -> None:
    admin = Api(token=deployment.token("acme", "admin"))
    soon = (datetime.now(UTC) + timedelta(milliseconds=600)).isoformat()
    made = admin.post("/v1/tokens", {"role": "reader", "name": "short", "expires_at": soon}).json
    revoked = admin.post("/v1/tokens", {"role": "reader", "name": "gone"}).json
    assert _authorized(f"Bearer {revoked['token']}")["isAuthorized"] is True
    assert admin.call("DELETE", f"/v1/tokens/{revoked['id']}").json["revoked_at"] is not None
    assert _authorized(f"Bearer {revoked['token']}") == {"isAuthorized": False}
    late = type(tokens())(tokens()._table, clock=lambda: datetime.now(UTC) + timedelta(seconds=1))
    with pytest.raises(Exception, match="not valid"):
        late.resolve(made["token"])


def _path(path: str, found: str) -> str:
    return re.sub(r"\{[a-z_]+\}", found, path)


def _body(path: str) -> str | None:
    return json.dumps(BODIES[path]) if path in BODIES else None


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_answers_without_an_identity(deployment: Deployment, method: str, path: str) -> None:
    assert Api().call(method, _path(path, "x"), _body(path)).status == 401
    past_the_gateway = event("api_verify", rawPath=_path(path, "x"), body=_body(path))
    past_the_gateway["requestContext"] |= {"authorizer": {}}
    past_the_gateway["requestContext"]["http"] |= {"method": method, "path": _path(path, "x")}
    answer = app.handler(past_the_gateway, Context())
    assert answer["statusCode"] == 401


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_reader_may_not_write(deployment: Deployment, method: str, path: str) -> None:
    reader = Api(token=deployment.token("acme", "reader"))
    refused = reader.call(method, _path(path, "01JD7Z00000000000000000000"), _body(path))
    assert refused.status == 403
    assert "reader" in refused.json["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for method, path in ROUTES if "/tokens" in path or (method != "GET" and "/routing" in path)],
)
def test_only_an_admin_manages_tokens_and_routing(acme: Api, method: str, path: str) -> None:
    assert acme.call(method, _path(path, "01JD7Z00000000000000000000"), _body(path)).status == 403


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_leads_to_another_tenants_data(deployment: Deployment, method: str, path: str) -> None:
    rival = Api(token=deployment.token("rival", "admin"))
    answer = rival.post("/v1/verifications", {"problem": f"{CANARY}: 1 + 1?", "answer": "2"}, key="shared").json
    batch = rival.post("/v1/batches", key="shared-batch").json["id"]
    token = rival.post("/v1/tokens", {"role": "reader", "name": CANARY}).json
    rival.call("PUT", "/v1/routing/algebra", '{"provider": "openai"}')
    rival.post("/v1/verifications", {"problem": CANARY, "answer": "2"})
    cursor = rival.get("/v1/answers", limit=1).json["cursor"]

    admin = Api(token=deployment.token("acme", "admin"))
    for foreign in (answer["id"], batch, token["id"], "algebra", "rival", "..", "%23", "T#rival"):
        for query in ({}, {"cursor": cursor}, {"tenant": "rival"}):
            said = admin.call(method, _path(path, foreign), _body(path), key=f"{method}{foreign}", query=query)
            assert CANARY not in said.body
            assert said.status < 500
        if "{" not in path:
            break
    if (method, path) == ("POST", "/v1/verifications"):
        assert admin.call(method, path, _body(path), key="shared").json["id"] != answer["id"]
    assert rival.get(f"/v1/answers/{answer['id']}").json == answer
    assert Api(token=token["token"]).get("/v1/answers").status == 200
    assert rival.get("/v1/routing").json == {"algebra": "openai"}
