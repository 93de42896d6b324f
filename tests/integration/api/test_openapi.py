"""The API describes itself, and the description that is published is the one that is served.

`TOUCHSTONE_WRITE_OPENAPI=1 uv run pytest tests/integration/api/test_openapi.py` writes it anew.
"""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from jsonschema_rs import validator_for

import touchstone
from functions.api import app, routes
from functions.api.openapi import document
from functions.api.sections import SECTIONS, include_all
from tests.support.api import PUBLISHED, Api
from tests.support.deployment import Deployment

ROUTES = Path(routes.__file__).parent


def test_the_published_description_is_the_one_that_is_served(deployment: Deployment) -> None:
    served = Api().get("/openapi.json")
    assert (served.status, served.headers["content-type"]) == (200, "application/json")
    text = json.dumps(served.json, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("TOUCHSTONE_WRITE_OPENAPI"):
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text


def test_every_route_is_described_and_no_other() -> None:
    include_all(app.app)
    described = {
        (method.upper(), path)
        for path, operations in app.app.get_openapi_schema().model_dump()["paths"].items()
        for method, operation in operations.items()
        if operation is not None and method in {"get", "post", "put", "patch", "delete"}
    }
    served = {
        (route.method, route.path.replace("<", "{").replace(">", "}"))
        for route in [*app.app._static_routes, *app.app._dynamic_routes]
        if route.include_in_schema
    }
    assert described == served


def test_what_needs_no_token_says_so(deployment: Deployment) -> None:
    health = Api().get("/health")
    assert (health.status, health.json["status"]) == (200, "ok")


def test_it_says_who_it_is_and_of_which_version(deployment: Deployment) -> None:
    health = Api().get("/health").json
    assert (health["name"], health["version"]) == ("touchstone", touchstone.__version__)


def test_the_page_for_people_needs_no_token(deployment: Deployment) -> None:
    page = Api().get("/swagger")
    assert (page.status, page.headers["content-type"]) == (200, "text/html")
    assert "Idempotency-Key" in page.body
    assert "Too many requests at once" in page.body


def _operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, operations in json.loads(PUBLISHED.read_text(encoding="utf-8"))["paths"].items()
        for method, operation in operations.items()
    ]


@pytest.mark.parametrize(("method", "path", "operation"), _operations())
def test_every_operation_says_how_it_refuses_and_every_write_that_it_may_be_repeated(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    keyed = {"$ref": "#/components/parameters/IdempotencyKey"} in operation.get("parameters", [])
    assert keyed == (method != "get")
    assert {"429", "500", "503"} <= operation["responses"].keys()
    assert ({"401", "403"} <= operation["responses"].keys()) == path.startswith("/v1/")
    assert operation.get("security") == (None if path.startswith("/v1/") else [])
    assert ("404" in operation["responses"]) or "{" not in path
    assert [code for code in operation["responses"] if code.startswith("2")] != []


@pytest.mark.parametrize(
    ("method", "path", "code", "body"),
    [
        ("post", "/v1/verifications", "201", True),
        ("post", "/v1/solutions", "202", True),
        ("post", "/v1/solutions", "404", True),
        ("post", "/v1/answers/{answer_id}/deep-evaluation", "202", True),
        ("delete", "/v1/routing/{subject}", "204", False),
        ("get", "/v1/answers", "200", True),
    ],
)
def test_a_success_has_the_status_that_callers_see(method: str, path: str, code: str, body: bool) -> None:
    [responses] = [said["responses"] for *address, said in _operations() if address == [method, path]]
    assert code in responses
    assert ("content" in responses[code] or "$ref" in responses[code]) is body
    assert "200" not in responses or code == "200"


def test_whatever_the_description_refers_to_is_in_it() -> None:
    text = PUBLISHED.read_text(encoding="utf-8")
    components = json.loads(text)["components"]
    for kind, name in set(re.findall(r'"#/components/(\w+)/([^"]+)"', text)):
        assert name in components[kind]
    assert "HTTPValidationError" not in text


def test_a_route_that_is_new_says_all_this_without_further_words() -> None:
    fresh = APIGatewayHttpResolver(enable_validation=True)

    @fresh.put("/v1/things/<thing_id>", status_code=202)
    def put(thing_id: str, body: dict[str, str]) -> dict[str, str]:
        return body | {"id": thing_id}

    described = json.loads(document(fresh))["paths"]["/v1/things/{thing_id}"]["put"]
    assert sorted(described["responses"]) == [
        "202", "400", "401", "403", "404", "409", "413", "422", "429", "500", "503",
    ]  # fmt: skip
    assert described["parameters"][-1] == {"$ref": "#/components/parameters/IdempotencyKey"}


def test_every_problem_document_is_as_described(deployment: Deployment) -> None:
    problem = validator_for(json.loads(PUBLISHED.read_text(encoding="utf-8"))["components"]["schemas"]["Problem"])
    member = Api(token=deployment.token("acme"))
    body = {"problem": "Compute 17 + 25.", "answer": "42"}
    refusals = [
        member.post("/v1/verifications", {"problem": ""}),
        member.post("/v1/verifications", body | {"problem": " "}),
        member.post("/v1/verifications", body, key="a key\n"),
        member.post("/v1/tokens", {"role": "reader", "name": "mine"}),
        member.get("/v1/answers/01JD7Z00000000000000000000"),
        member.get("/v1/answers", cursor="elsewhere"),
    ]
    assert [refusal.status for refusal in refusals] == [422, 400, 400, 403, 404, 400]
    for refusal in refusals:
        problem.validate(refusal.json)


def test_what_describes_is_not_loaded_by_those_who_do_not_ask() -> None:
    asked = "import sys, functions.api.app; print(*[name for name in sys.modules if name in sys.argv])"
    described = ["functions.api.refusals", "aws_lambda_powertools.event_handler.openapi.models"]
    said = subprocess.run([sys.executable, "-c", asked, *described], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == ""


def test_a_request_loads_the_routes_of_its_own_section_and_no_others() -> None:
    asked = (
        "import sys, functions.api.app as api; from functions.api.sections import include_asked;"
        "include_asked(api.app, {'rawPath': '/stage/v1/tokens/01JD'});"
        "print(*[name for name in sys.modules if name.startswith('functions.api.routes.')])"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["functions.api.routes.tokens"]


@pytest.mark.parametrize("module", sorted(path.stem for path in ROUTES.glob("[a-z]*.py")))
def test_every_route_is_in_the_section_that_its_path_begins_with(module: str) -> None:
    routes = import_module(f"functions.api.routes.{module}").router._routes
    sections = {path.split("/")[2] for path, *_ in routes}
    assert sections == {section for section, holder in SECTIONS.items() if holder == module}
