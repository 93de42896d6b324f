"""A restore as docs/how-to/deploy.md describes it: the table as it was beside the old one, objects brought back."""

import json
from collections.abc import Iterator

import boto3
import pytest

from functions import sweep
from functions.composition import stores
from functions.environment import environment
from tests.support.api import Api
from tests.support.courses import CHAPTER, CURRICULUM
from tests.support.deployment import BUCKET, Context, Deployment, deployed
from tests.support.providers import ProviderServer
from tests.support.table import TABLE_NAME

WORDS = "學" * 400
RESTORED = "touchstone-restored"


@pytest.fixture
def versioned(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose bucket keeps versions and whose table can be gone back in."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, **addresses) as here:
        here.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        boto3.client("dynamodb").update_continuous_backups(
            TableName=TABLE_NAME, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        yield here


def test_records_that_were_lost_are_read_from_the_restored_table_and_work_goes_on(
    versioned: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = versioned.token("acme", "admin")
    api = Api(token=token)
    made = api.post("/v1/verifications", {"problem": "Compute 2 + 2.", "answer": "4"}).json
    wordy = CHAPTER | {"title": WORDS, "grammar": [{"pattern": "是", "explanation": WORDS, "examples": []}]}
    course = CURRICULUM | {"chapters": [wordy | {"id": str(number)} for number in range(200)]}
    assert api.call("PUT", "/v1/curricula/long", json.dumps(course)).status == 200
    assert versioned.keys(), "it is too long for a record"
    rates = api.get("/v1/statistics/rates").json
    boto3.client("dynamodb").restore_table_to_point_in_time(
        SourceTableName=TABLE_NAME, TargetTableName=RESTORED, UseLatestRestorableTime=True
    )
    for item in versioned.rows():
        if "sk" in item:
            versioned.table.delete_item(Key={"pk": item["pk"], "sk": item["sk"]})
    for key in versioned.keys():  # noqa: SIM118 - of its bucket
        versioned.s3.delete_object(Bucket=BUCKET, Key=key)
    assert api.get(f"/v1/answers/{made['id']}").status in {401, 403}, "the token is lost with the rest"

    monkeypatch.setenv("TOUCHSTONE_TABLE", RESTORED)
    for part in (environment, *(value for value in vars(stores).values() if hasattr(value, "cache_clear"))):
        part.cache_clear()
    for marker in versioned.s3.list_object_versions(Bucket=BUCKET)["DeleteMarkers"]:
        versioned.s3.delete_object(Bucket=BUCKET, Key=marker["Key"], VersionId=marker["VersionId"])
    assert stores.table().name == RESTORED
    assert api.get(f"/v1/answers/{made['id']}").json == made
    assert len(api.get("/v1/curricula/long").json["chapters"]) == 200
    assert api.get("/v1/statistics/rates").json == rates
    assert api.post("/v1/verifications", {"problem": "Compute 3 + 3.", "answer": "6"}).status == 201
    assert sweep.handler({"source": "schedule"}, Context())["stuck"] == 0
