"""The drain as its machine calls it: what operators see of it."""

import json
from typing import Any

import pytest

from functions import drain, intake
from functions.composition import stores
from tests.support.deployment import Context, Deployment
from tests.support.providers import ProviderServer, error
from tests.support.sinks import listening

FIFTEEN_MINUTES_MS = 900_000


def _asked_by_message() -> None:
    request = {"problem": "Compute 17 + 25.", "answer": "42", "deep_evaluation": True}
    body = {"kind": "verify", "tenant": "demo", "id": "m-1", "request": request}
    record = {"messageId": "m-1", "body": json.dumps(body), "eventSource": "aws:sqs", "attributes": {}}
    assert intake.handler({"Records": [record]}, Context())["batchItemFailures"] == []


def _metrics(printed: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in printed.splitlines():
        if line.startswith('{"_aws"'):
            found |= json.loads(line)
    return found


def test_what_the_drain_pays_for_is_counted(judged: Deployment, capsys: pytest.CaptureFixture[str]) -> None:
    _asked_by_message()
    capsys.readouterr()
    with listening() as heard:
        said = drain.handler({"execution_id": "run-1"}, Context(FIFTEEN_MINUTES_MS))
    assert said == {"state": "empty", "wait_seconds": 0, "finished": 1}
    assert _metrics(capsys.readouterr().out)["CostMicroUsd"][0] > 0
    assert "'step': 'Evaluation', 'state': 'done'" in heard()
    assert heard().count("'tokens': ") == 1
    assert judged.machines.drains == 1
    [summary] = stores.answers().page(tenant="demo").items
    assert summary.evaluation == "done"


def test_r15_a_model_that_is_gone_is_seen_by_the_alarm_on_the_drains_way_too(
    judged: Deployment, judges: ProviderServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _asked_by_message()
    judges.script(error("unknown_model"))
    capsys.readouterr()
    assert drain.handler({"execution_id": "run-1"}, Context(FIFTEEN_MINUTES_MS))["state"] == "exhausted"
    assert _metrics(capsys.readouterr().out)["Misconfigured"] == [1.0]
