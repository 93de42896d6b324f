"""A restore of the deployed stack, as docs/how-to/deploy.md describes it: a table beside the old one."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from boto3.dynamodb.conditions import Attr

from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.cloud

GIVEN: dict[str, Any] = {"problem": "Compute 2 + 2.", "answer": "4"}


def test_what_was_lost_is_in_the_table_restored_beside_it_and_work_goes_on(cloud: Cloud, judge: JudgeServer) -> None:
    caller = cloud.tenant("restored")
    made = caller.verify(**GIVEN)
    with restored(cloud) as name:
        lose(cloud, caller.tenant)
        assert caller.send("GET", f"v1/answers/{made['id']}").status_code in {401, 403}, "the token is lost as well"
        with deployed_onto(cloud, name):
            assert caller.answer(made["id"]) == made
            again = caller.verify(problem="Compute 3 + 3.", answer="6")
            assert cloud.functions.run("AnswersSweep", {"source": "schedule"})["stuck"] == 0
            assert {one["id"] for one in caller.summaries()} == {made["id"], again["id"]}


@contextmanager
def deployed_onto(cloud: Cloud, name: str) -> Iterator[None]:
    """What a deployment with `-c touchstone:table=NAME` changes: the functions' table, and what their roles may do."""
    iam = cloud.client("iam")
    roles = [physical for kind, physical in cloud.resources.values() if kind == "AWS::IAM::Role"]
    policies = [(role, policy) for role in roles for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]]
    known = [
        (role, json.dumps(iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]))
        for role, policy in policies
    ]
    given = [
        (role, f"{name}-{number}", text.replace(cloud.table.name, name))
        for number, (role, text) in enumerate(known)
        if cloud.table.name in text
    ]
    reading = [each for each in cloud.functions.names if "TOUCHSTONE_TABLE" in cloud.functions.environment(each)]
    assert given
    try:
        for role, policy, text in given:
            iam.put_role_policy(RoleName=role, PolicyName=policy, PolicyDocument=text)
        with cloud.functions.changed(*reading, variables={"TOUCHSTONE_TABLE": name}):
            yield
    finally:
        for role, policy, _ in given:
            iam.delete_role_policy(RoleName=role, PolicyName=policy)


@contextmanager
def restored(cloud: Cloud) -> Iterator[str]:
    """The name of a table as the deployed one is now, with the settings that a restored table has to be given."""
    dynamodb, name = cloud.client("dynamodb"), f"restored-{uuid.uuid4().hex[:8]}"
    recovery = {"PointInTimeRecoveryEnabled": True}
    dynamodb.update_continuous_backups(TableName=cloud.table.name, PointInTimeRecoverySpecification=recovery)
    dynamodb.restore_table_to_point_in_time(
        SourceTableName=cloud.table.name, TargetTableName=name, UseLatestRestorableTime=True
    )
    try:
        dynamodb.get_waiter("table_exists").wait(TableName=name)
        expiry = {"Enabled": True, "AttributeName": "expires_at"}
        dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
        dynamodb.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
        yield name
    finally:
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=False)
        dynamodb.delete_table(TableName=name)


def lose(cloud: Cloud, tenant: str) -> None:
    """Delete whatever names a tenant from the deployed table: its records, and its tokens."""
    pages: dict[str, Any] = {"FilterExpression": Attr("pk").contains(tenant) | Attr("tenant").eq(tenant)}
    lost = []
    while True:
        page = cloud.table.scan(**pages)
        lost += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        pages["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    assert lost
    for item in lost:
        cloud.table.delete_item(Key={"pk": item["pk"], "sk": item["sk"]})
