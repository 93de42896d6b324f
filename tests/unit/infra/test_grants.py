"""What each function may do with the table and the bucket: in the template, and as IAM would decide it."""

from typing import Any

import pytest

from infra.grants import FOLDER_GRANTS, FOLDERS, GRANTS, admits
from tests.support.templates import Resources, functions, listed, of_type

IDENTITY = ("TOKEN#" + "0" * 64, "SESSION#" + "0" * 64, "T#acme")
READS = {"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"}
LEADING = "dynamodb:LeadingKeys"


def granted(resources: Resources, properties: dict[str, Any], *, on: str = "StoreRecords") -> list[dict[str, Any]]:
    """The statements on the table of records, or on another resource, that a function's role has."""
    role = properties["Role"]["Fn::GetAtt"][0]
    return [
        statement
        for policy in of_type(resources, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if on in str(statement["Resource"])
    ]


def test_each_function_is_granted_its_partitions_and_no_others(resources: Resources) -> None:
    checked, deployed = 0, set[str]()
    for properties in functions(resources).values():
        module = properties["Handler"].removesuffix(".handler")
        statements = granted(resources, properties)
        assert bool(statements) is (module in GRANTS), module
        deployed.add(module)
        for statement in statements:
            condition = statement.get("Condition", {})
            leading = set(listed(condition.get("ForAllValues:StringLike", {}).get(LEADING, ["*"])))
            reads = set(listed(statement["Action"])) <= READS
            if "ForAllValues:StringNotLike" in condition:
                assert GRANTS[module].knows_tenants, module
                assert (leading, listed(statement["Action"])) == ({"T#*"}, ["dynamodb:GetItem"])
                assert listed(condition["ForAllValues:StringNotLike"][LEADING]) == ["T#*#*"]
            else:
                assert leading == set(GRANTS[module].read if reads else GRANTS[module].written), module
            checked += 1
    assert checked > 2 * len(deployed & set(GRANTS)) - 4
    assert set(GRANTS) - deployed == {"functions.purge"}  # of a deployment that was told a retention


def test_each_function_is_granted_its_folders_and_no_others(resources: Resources) -> None:
    deployed, used = set[str](), set[str]()
    for properties in functions(resources).values():
        module = properties["Handler"].removesuffix(".handler")
        folders: dict[str, tuple[str, ...]] = {}
        for statement in granted(resources, properties, on="StoreBodies"):
            named = [str(resource).rpartition("/*")[0].rpartition("/")[2] for resource in listed(statement["Resource"])]
            for action in listed(statement["Action"]):
                folders[action] = tuple(sorted((*folders.get(action, ()), *named)))
        # Who may not list the bucket is told of a missing object that it is forbidden.
        listing = {"s3:ListBucket": ("",)}
        assert folders == (listing | FOLDER_GRANTS[module].actions if module in FOLDER_GRANTS else {}), module
        deployed.add(module)
        used |= {folder for named in folders.values() for folder in named}
    assert set(FOLDER_GRANTS) - deployed == {"functions.purge"}
    assert used == {*FOLDERS, ""}


@pytest.mark.parametrize("module", sorted(set(GRANTS) - {"functions.api.app", "functions.api.authorizer"}))
def test_no_function_but_the_api_s_can_let_anybody_in(module: str) -> None:
    grant = GRANTS[module]
    for key in IDENTITY:
        assert not any(admits(grant, action, key) for action in ("PutItem", "UpdateItem", "DeleteItem", "Query"))
        assert not admits(grant, "GetItem", key) or (grant.knows_tenants and key == "T#acme")


def test_of_those_who_read_replies_of_models_only_the_intake_knows_what_a_tenant_is() -> None:
    judging = {module for module, grant in GRANTS.items() if "QUOTA" in grant.writes}
    knowing = {module for module in judging if GRANTS[module].knows_tenants}
    assert len(judging) > 20
    assert knowing == {"functions.intake"}


@pytest.mark.parametrize(
    ("module", "action", "key", "admitted"),
    [
        ("functions.quizzes.generate", "PutItem", "T#acme#QUIZ#01", True),
        ("functions.quizzes.generate", "PutItem", "T#acme#ANSWER#01", False),
        ("functions.api.verifying", "PutItem", "T#acme#PROBLEM#a", False),
        ("functions.answers.verify", "PutItem", "T#acme#NEAR#a", False),
        ("functions.quizzes.retrieve", "GetItem", "T#acme#CURRICULUM#a", True),
        ("functions.quizzes.retrieve", "PutItem", "T#acme#CURRICULUM#a", False),
        ("functions.answers.solve", "Query", "T#acme#COUNTS#1", True),
        ("functions.answers.retrieve", "UpdateItem", "T#acme#COUNTS#1", False),
        ("functions.oracle.rank", "UpdateItem", "T#acme#SPEND", False),
        ("functions.provider_batches.advance", "Query", "PROVIDER_BATCH#unfinished#1", True),
        ("functions.provider_batches.advance", "UpdateItem", "QUOTA#gemini", False),
        ("functions.provider_batches.advance", "UpdateItem", "T#acme#QUOTA#gemini", False),
        ("functions.oracle.score", "PutItem", "T#acme#PROVIDER_BATCH#01", True),
        ("functions.oracle.gate", "PutItem", "T#acme#PROVIDER_BATCH#01", False),
        ("functions.drain", "Query", "EVALUATION#deferred", True),
        ("functions.answers.evaluate", "Query", "EVALUATION#deferred", False),
        ("functions.api.authorizer", "GetItem", "TOKEN#00", True),
        ("functions.api.authorizer", "GetItem", "T#acme#ANSWER#01", False),
        ("functions.api.app", "PutItem", "TOKEN#00", True),
    ],
)
def test_a_grant_is_of_its_own_partitions(module: str, action: str, key: str, admitted: bool) -> None:
    assert admits(GRANTS[module], action, key) is admitted
