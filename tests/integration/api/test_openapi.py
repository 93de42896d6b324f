"""The API describes itself, and the description that is published is the one that is served.

`TOUCHSTONE_WRITE_OPENAPI=1 uv run pytest tests/integration/api/test_openapi.py` writes it anew.
"""

import json
import os
from pathlib import Path

import pytest

from functions.api import app
from tests.support.api import Api
from tests.support.deployment import Deployment

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_the_published_description_is_the_one_that_is_served(deployment: Deployment) -> None:
    served = Api().get("/openapi.json")
    assert (served.status, served.headers["content-type"]) == (200, "application/json")
    text = json.dumps(served.json, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("TOUCHSTONE_WRITE_OPENAPI"):
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text


def test_every_route_is_described_and_no_other() -> None:
    described = {
        (method.upper(), path)
        for path, operations in app.app.get_openapi_schema().model_dump()["paths"].items()
        for method, operation in operations.items()
        if operation is not None and method in {"get", "post", "put", "delete"}
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


@pytest.mark.filterwarnings("ignore:.*swagger-ui.*:pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_the_page_for_people_needs_no_token(deployment: Deployment) -> None:
    page = Api().get("/swagger")
    assert (page.status, page.headers["content-type"]) == (200, "text/html")
