"""A request with more faults than anybody reads is refused in a few kilobytes, which say how many there were."""

import json
from typing import Any

import pytest

from functions.api.problems import MAX_FAULTS
from tests.support.api import Api, refusal

MAX_REFUSAL_BYTES = 100_000


def test_of_300_000_unknown_fields_100_are_told_and_the_rest_counted(acme: Api) -> None:
    body = {f"k{number}": 0 for number in range(300_000)} | {"problem": "2 + 2 = ?", "answer": "4"}
    refused = acme.post("/v1/verifications", body)
    document = refusal(refused, 422)
    assert len(document["errors"]) == MAX_FAULTS
    assert document["more_errors"] == 300_000 - MAX_FAULTS
    assert len(refused.body.encode()) <= MAX_REFUSAL_BYTES


@pytest.mark.parametrize("body", [{"x" * 5_000_000: 1}, {"problem": {"x" * 5_000_000: 1}, "answer": "4"}])
def test_a_name_of_any_length_is_told_in_short(acme: Api, body: dict[str, Any]) -> None:
    refused = acme.post("/v1/verifications", body)
    assert "more_errors" not in refusal(refused, 422)
    assert len(refused.body.encode()) <= MAX_REFUSAL_BYTES


@pytest.mark.parametrize(
    "path",
    [
        "solutions",
        "measurements",
        "experiments",
        "quizzes",
        "quiz-checks",
        "tasks",
        "audits",
        "curricula/book",
        "labels",
    ],
)
def test_at_no_door_is_a_refusal_long(acme: Api, path: str) -> None:
    long = "x" * 200_000
    for body in (
        {f"{long}{number}": 1 for number in range(4)},
        {"surface": long, "kind": long, "problem": long, "experiment": {"surface": long}},
        {"judges": long, "material": {long: {long: 1}}, "metrics": [long], "brief": {long: long}, "quiz": {long: 1}},
    ):
        refused = acme.call("PUT" if "/" in path else "POST", f"/v1/{path}", json.dumps(body))
        assert 400 <= refused.status < 500
        assert len(refused.body.encode()) <= MAX_REFUSAL_BYTES


def test_few_faults_are_all_told(acme: Api) -> None:
    document = refusal(acme.post("/v1/verifications", {"problem": "2 + 2 = ?", "anwser": "4"}), 422)
    assert {one["where"].rpartition(".")[2] for one in document["errors"]} == {"answer", "anwser"}
    assert "more_errors" not in document
