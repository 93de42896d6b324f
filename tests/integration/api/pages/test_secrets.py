"""A1, A8: no secret and nothing of another tenant is on a page or in an export, and nothing that was sent in a log."""

import json

import boto3
import pytest

from functions.pages.visit import PLACES
from tests.support.api import Api
from tests.support.deployment import SECRET, Deployment
from tests.support.pages import Visitor, verified
from tests.support.sinks import SaidAloud

KEY = "canary-key-of-a-judge"
STEPS = "canary-steps: 1 + 1 = 2"
FORMATS = ("html", "json", "csv")


@pytest.mark.parametrize("address", [f"/{place}" for place, _ in PLACES])
def test_a8_no_secret_is_on_a_page_in_an_export_or_in_a_log(
    acme: Api, rival: Api, deployment: Deployment, warnings_printed: SaidAloud, address: str
) -> None:
    keys = dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"), KEY)
    boto3.client("secretsmanager").put_secret_value(SecretId=SECRET, SecretString=json.dumps(keys))
    visitor = Visitor()
    visitor.sign_in(str(acme.token))
    mine = acme.post("/v1/verifications", {"problem": "Compute 1 + 1.", "answer": "2", "steps": STEPS}).json["id"]
    theirs = verified(rival, "Compute 2 + 2.", "4")
    rival.call("PUT", f"/v1/labels/quick_verify/{theirs}/1", json.dumps({"label": "right"}))
    secrets = [KEY, theirs, "rival", acme.token or "", rival.token or "", *visitor.cookies.values()]
    shown = [visitor.open(address, format=form).response.body for form in FORMATS]
    shown.append(visitor.open(f"/app/answers/{mine}").response.body)
    for secret in secrets:
        assert not any(secret in body for body in shown), address
    heard = warnings_printed()
    for secret in (KEY, *secrets[3:], "canary-steps"):
        assert secret not in heard


def test_a1_a_cursor_of_another_tenant_leads_nowhere(visitor: Visitor, rival: Api) -> None:
    for number in range(51):
        verified(rival, f"Compute {number} + 1.", str(number + 1))
    cursor = rival.get("/v1/answers").json["cursor"]
    for place, _ in PLACES:
        page = visitor.open(f"/{place}", cursor=cursor)
        assert page.response.status in (200, 400), place
        assert "Compute" not in page.text
