"""`Location`: wherever a gateway puts the API, the address leads to what the request made."""

from urllib.parse import urljoin, urlsplit

import pytest

from tests.support.api import Api, Response
from tests.support.deployment import Deployment

GIVEN = {"problem": "Compute 17 + 25.", "answer": "42"}
BASES = [
    "https://abc123.execute-api.eu-central-1.amazonaws.com",
    "https://api.example.org/marking/v1/prod",
    "http://127.0.0.1:4566/_aws/execute-api/abc",
]


def _led_to(base: str, path: str, response: Response) -> str:
    """The path below `base` that a client comes to which asked for `path` there."""
    address = urljoin(base + path, response.headers["location"])
    assert address.startswith(f"{base}/")
    return urlsplit(address.removeprefix(base)).path


@pytest.mark.parametrize("base", BASES)
def test_the_address_of_what_was_made_can_be_read(deployment: Deployment, base: str) -> None:
    member = Api(token=deployment.token("acme"))
    for path, body in (("/v1/verifications", GIVEN), ("/v1/solutions", {"problem": "1 + 1"}), ("/v1/batches", None)):
        for _ in range(2):
            made = member.post(path, body, key=path)
            found = member.get(_led_to(base, path, made))
            assert (found.status, found.json["id"]) == (200, made.json["id"])
    answer = member.post("/v1/verifications", GIVEN).json["id"]
    path = f"/v1/answers/{answer}/deep-evaluation"
    assert member.get(_led_to(base, path, member.post(path))).json["id"] == answer
