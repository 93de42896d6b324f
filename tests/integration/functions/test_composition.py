"""What the functions are made of: links that work in every region, keys that rotate, one pool of connections."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from functions.composition import judging, stores
from tests.support.deployment import SECRET, Deployment, deployed
from touchstone.errors import SettingsError, StoreError

KEY = "acme/images/one"


@pytest.fixture(params=["us-east-1", "eu-central-1"])
def region(request: pytest.FixtureRequest, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", request.param)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    yield request.param
    boto3.DEFAULT_SESSION = None


def test_links_name_the_regions_own_host_and_are_signed_with_version_4(region: str) -> None:
    store = stores.artifacts()
    for link in (
        store.upload_link(tenant="acme", key=KEY, content_type="image/png"),
        store.download_link(tenant="acme", key=KEY),
    ):
        address = urlsplit(link)
        assert address.netloc == f"touchstone-artifacts.s3.{region}.amazonaws.com"
        assert parse_qs(address.query)["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]


def test_links_of_a_local_cloud_name_its_one_host(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:4566")
    link = urlsplit(stores.artifacts().download_link(tenant="acme", key=KEY))
    assert (link.netloc, link.path) == ("localhost:4566", "/touchstone-artifacts/artifacts/acme/images/one")


def _put(deployment: Deployment, text: str) -> None:
    boto3.client("secretsmanager", region_name="us-east-1").put_secret_value(SecretId=SECRET, SecretString=text)


@pytest.mark.parametrize("text", ["canary", '["canary"]', '{"GEMINI_API_KEY": {"canary": 1}}', "null"])
def test_a_secret_that_holds_something_else_says_what_it_must_be(deployment: Deployment, text: str) -> None:
    _put(deployment, text)
    with pytest.raises(SettingsError, match="one JSON object of strings") as caught:
        judging.judges("acme").available()
    assert "canary" not in str(caught.value)


def test_a_secret_that_cannot_be_read_is_a_fault_of_the_store(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with deployed(monkeypatch, TOUCHSTONE_SECRET_ID="no-such-secret"), pytest.raises(StoreError, match="not be read"):
        judging.judges("acme").available()


def test_a_rotated_key_is_in_use_once_the_old_one_is_forgotten(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with deployed(monkeypatch, TOUCHSTONE_KEYS_KEPT_SECONDS="0") as deployment:
        judges = judging.judges("acme")
        accounts = set()
        for key in ("first", "second"):
            _put(deployment, f'{{"GEMINI_API_KEY": "{key}"}}')
            judge = judges.default("verify")
            assert judge is not None
            assert judges.default("verify") is judge
            seat = judges.tier_model("verify")
            assert seat is not None
            accounts.add((seat.account, id(judge)))
    assert len(accounts) == 2


def test_no_client_waits_for_a_silent_service_until_its_function_is_out_of_time(deployment: Deployment) -> None:
    for client in (stores.table().meta.client, stores._s3(), stores.sqs()):
        told: Any = client.meta.config
        assert told.connect_timeout + told.read_timeout <= 6
        assert told.retries["total_max_attempts"] <= 3


def test_tenants_share_the_connections_to_a_provider(deployment: Deployment) -> None:
    _put(deployment, '{"GEMINI_API_KEY": "k"}')
    for number in range(70):
        assert judging.judges(f"tenant-{number}").default("verify") is not None
    assert judging._adapter.cache_info().currsize == 1


@pytest.mark.parametrize(
    ("endpoint", "said"), [(None, "into the deployment's secret"), ("http://127.0.0.1:4566", "`touchstone-local up`")]
)
def test_a_function_without_a_key_says_where_its_deployment_takes_one(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, endpoint: str | None, said: str
) -> None:
    if endpoint is not None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert said in judging.judges("acme").remedy
