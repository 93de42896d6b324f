"""A8: what a user sends, and every secret, stays where it belongs."""

import json

from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.sinks import SaidAloud

PROBLEM, ANSWER, STEPS = "canary-problem: 1 + 1?", "canary-answer 2", "canary-steps 1 + 1 = 2"
KEY = "canary-idempotency-key"
SENT = (PROBLEM, ANSWER, STEPS, KEY, "canary")


def test_a8_nothing_that_was_sent_is_logged_or_counted(
    acme: Api, rival: Api, deployment: Deployment, warnings_printed: SaidAloud
) -> None:
    request = {"problem": PROBLEM, "answer": ANSWER, "steps": STEPS}
    made = acme.post("/v1/verifications", request | {"deep_evaluation": True}, key=KEY)
    for body in (request, request | {"canary": 1}, {"problem": PROBLEM}, request | {"problem": "canary" * 10_000}):
        acme.post("/v1/verifications", body, key=KEY)
        acme.post("/v1/solutions", body)
    acme.call("POST", "/v1/verifications", '{"canary-problem')
    acme.call("POST", "/v1/verifications", json.dumps(request), headers={"content-type": "canary"})
    acme.get("/v1/answers", cursor="canary")
    acme.get("/canary")
    rival.get(made.location)
    Api(token="ts_canary" + "x" * 38).get("/v1/answers")
    acme.call("POST", "/v1/verifications", json.dumps(request), received_at_ms=1)
    heard = warnings_printed()
    assert "'unverified': 1" in heard
    for secret in (*SENT, acme.token or "", rival.token or ""):
        assert secret not in heard


def test_a8_what_one_tenant_sent_lies_under_its_own_keys_only(acme: Api, rival: Api, deployment: Deployment) -> None:
    rival.post("/v1/verifications", {"problem": "1 + 1", "answer": "2"}, key="their-key")
    acme.post("/v1/verifications", {"problem": PROBLEM, "answer": ANSWER, "steps": STEPS}, key=KEY)
    foreign = [row for row in deployment.table.scan()["Items"] if not str(row["pk"]).startswith("T#acme")]
    assert foreign
    assert "canary" not in json.dumps(foreign, default=str)
    rows = json.dumps(deployment.rows(), default=str)
    assert KEY not in rows
    for token in (acme.token, rival.token):
        assert token is not None
        assert token not in rows
