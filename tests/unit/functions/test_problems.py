"""Problem documents of faults that no request of a test brings."""

import json

import pytest
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from functions.api.problems import from_validation


@pytest.mark.parametrize(
    ("place", "where", "status"),
    [
        (("response", "name"), "response", 422),
        (("cookie", "name"), "", 422),
        (("path", "name"), "path", 422),
        (("body", "name"), "body.name", 413),
    ],
)
def test_a_fault_that_is_not_in_the_body_is_a_problem_too(place: tuple[str, ...], where: str, status: int) -> None:
    fault = {"type": "string_too_long", "loc": place, "msg": "", "ctx": {"max_length": 3}, "input": "long"}
    answer = from_validation(RequestValidationError([fault]), {"query": {}, "body": {"name": "long"}})
    assert answer.status_code == status
    assert json.loads(str(answer.body))["errors"][0]["where"] == where
