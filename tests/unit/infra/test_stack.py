"""What the stack promises: least grants, data that outlives it, no lost message, a door that always asks."""

import json
import re
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from infra.settings import MOST_ENVIRONMENT_BYTES
from tests.support.carried import lacking
from tests.support.handlers import HANDLERS, place_of
from tests.support.templates import Resources, functions, listed, of_type, statements
from touchstone import __version__
from touchstone.operations.answers import again
from touchstone.operations.answers.sweeping import UNFINISHED_AFTER

ROOT = Path(__file__).resolve().parents[3]
JUDGING = {
    "advance",
    *("verifying", "verify", "read_image", "analyze", "solve", "enrich", "evaluate", "drain", "lines", "intake"),
    *("draft", "gate", "score", "close", "compare", "rescore"),
    *("measure", "plan", "pair"),
    "quizzes.generate",
    "quizzes.evaluate",
    "audits.prepare",
    "audits.turn",
}
READING_DEFINITIONS = {
    *("app", "sweep", "sandbox", "advance"),
    *(f"audits.{name}" for name in ("install", "prepare", "turn", "conclude", "weekly")),
}
SANDBOX = "sandbox"
"""What runs code that nobody trusts: it has nothing that all others have."""
PLACING = {
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
}
"""What Lambda needs by a role to put a function into a subnet; the function's own code is denied it."""
PROVING = {"verifying", "verify", "lines", "advance", "intake"}
READING_SCRIPT = {"quizzes.evaluate", "lines"}
GRANTED_ON_EVERYTHING = {
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
}
"""Actions for which AWS knows no narrower resource."""


def test_no_resource_waits_for_itself(resources: Resources) -> None:
    waits = {name: referred(content) & resources.keys() for name, content in resources.items()}
    TopologicalSorter(waits).prepare()  # raises where CloudFormation would refuse the stack


def referred(value: Any) -> set[str]:
    """The logical ids that a part of the template names."""
    match value:
        case {"Ref": str() as name} | {"Fn::GetAtt": [str() as name, *_]}:
            return {name}
        case {"Fn::Sub": str() as text}:
            return set(re.findall(r"\$\{([A-Za-z0-9]+)", text))
        case dict():
            named = set(listed(value.get("DependsOn", [])))
            return {one for one in named if isinstance(one, str)}.union(*map(referred, value.values()))
        case list():
            return set().union(*map(referred, value))
        case _:
            return set()


def test_every_handler_that_is_deployed_is_written(resources: Resources) -> None:
    for properties in functions(resources).values():
        module, _, attribute = properties["Handler"].rpartition(".")
        source = ROOT / (module.replace(".", "/") + ".py")
        assert source.is_file(), module
        assert re.search(rf"^def {attribute}\(", source.read_text(encoding="utf-8"), re.MULTILINE), module


def test_functions_run_traced_on_the_tested_python_and_log_json(resources: Resources) -> None:
    for name, properties in functions(resources).items():
        assert properties["Runtime"] == "python3.13"
        assert properties["Architectures"] == ["arm64"]
        if name == SANDBOX:
            continue
        assert properties["TracingConfig"] == {"Mode": "Active"}
        assert properties["LoggingConfig"]["LogFormat"] == "JSON"
        assert "ReservedConcurrentExecutions" not in properties


def test_the_end_of_a_batch_at_a_provider_begins_a_drain(resources: Resources) -> None:
    rules = [item["Properties"] for item in of_type(resources, "AWS::Events::Rule").values()]
    [rule] = [one for one in rules if "SUCCEEDED" in str(one["EventPattern"])]
    assert rule["EventPattern"]["detail-type"] == ["Step Functions Execution Status Change"]
    [ended] = rule["EventPattern"]["detail"]["stateMachineArn"]
    assert "ProviderBatchesMachine" in str(ended)
    assert rule["EventPattern"]["detail"]["status"] == ["SUCCEEDED"]
    [target] = rule["Targets"]
    assert "AnswersDrainMachine" in str(target["Arn"])
    assert (json.loads(target["Input"]), "DeadLetterConfig" in target) == ({"shard": 0}, True)


def test_each_function_has_a_role_of_its_own(resources: Resources) -> None:
    roles = [properties["Role"]["Fn::GetAtt"][0] for properties in functions(resources).values()]
    assert len(roles) == len(set(roles))


def test_only_who_judges_carries_the_sdks_and_only_who_proves_the_mathematics(resources: Resources) -> None:
    for name, properties in functions(resources).items():
        layers = {reference["Ref"] for reference in properties["Layers"]}
        assert any("Judges" in layer for layer in layers) is (name in JUDGING), name
        assert any("Checks" in layer for layer in layers) is (name in PROVING), name
        assert any("Script" in layer for layer in layers) is (name in READING_SCRIPT), name
        assert any("Audits" in layer for layer in layers) is (name in READING_DEFINITIONS), name
        assert any("Uv" in layer for layer in layers) is (name == "audits.install"), name


@pytest.mark.parametrize("door", HANDLERS)
def test_a_function_is_loaded_by_its_own_layers(door: str) -> None:
    assert not lacking(door, place_of(door)[0].__name__)


def test_what_a_function_loads_on_first_use_is_known_by_its_imports() -> None:
    bundles = "touchstone.audits.bundles"
    assert lacking("functions.oracle.rank", bundles, ["building"]) == {"packaging"}
    assert lacking("functions.sweep", bundles, ["building"]) == frozenset()
    assert lacking("functions.sweep", "sympy") == {"sympy"}


def test_the_sandbox_may_do_nothing_and_is_told_nothing(resources: Resources) -> None:
    properties = functions(resources)[SANDBOX]
    assert properties["Environment"]["Variables"] == {"TOUCHSTONE_SANDBOX": "function"}
    assert "TracingConfig" not in properties
    (role,) = [name for name in of_type(resources, "AWS::IAM::Role") if name.startswith("AuditsSandbox")]
    assert "ManagedPolicyArns" not in resources[role]["Properties"]
    assert "Policies" not in resources[role]["Properties"]
    own = [
        statement
        for policy in of_type(resources, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    assert [(one["Effect"], set(one["Action"])) for one in own] == [("Allow", PLACING), ("Deny", PLACING)]
    function = next(name for name in of_type(resources, "AWS::Lambda::Function") if name.startswith("AuditsSandbox"))
    assert own[1]["Condition"] == {"ArnEquals": {"lambda:SourceFunctionArn": {"Fn::GetAtt": [function, "Arn"]}}}


def test_the_sandbox_has_no_way_out_but_to_bundles(resources: Resources) -> None:
    for kind in ("InternetGateway", "NatGateway", "EgressOnlyInternetGateway", "Route", "VPCPeeringConnection"):
        assert of_type(resources, f"AWS::EC2::{kind}") == {}
    subnets = set(of_type(resources, "AWS::EC2::Subnet"))
    used = {each["Ref"] for each in functions(resources)[SANDBOX]["VpcConfig"]["SubnetIds"]}
    assert used
    assert used <= subnets
    (endpoint,) = of_type(resources, "AWS::EC2::VPCEndpoint").values()
    (statement,) = endpoint["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "s3:GetObject"
    assert statement["Resource"]["Fn::Join"][1][1] == "/bundles/*"
    (group,) = of_type(resources, "AWS::EC2::SecurityGroup").values()
    assert "SecurityGroupIngress" not in group["Properties"]
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["Properties"]["SecurityGroupEgress"]] == [(443, 443)]


def test_only_who_must_runs_proofs(resources: Resources) -> None:
    running = {
        name
        for name, statement in statements(resources)
        if "lambda:InvokeFunction" in listed(statement["Action"]) and "AuditsSandbox" in str(statement["Resource"])
    }
    assert {re.sub(r"RoleDefaultPolicy\w+$", "", name) for name in running} == {"AuditsPrepare", "AuditsTurn"}


def test_the_api_ends_before_its_gateway_does(resources: Resources) -> None:
    assert functions(resources)["app"]["Timeout"] < 30


def test_nothing_is_granted_on_every_resource_but_what_knows_no_other(resources: Resources) -> None:
    for name, statement in statements(resources):
        if "*" in listed(statement["Resource"]):
            known = PLACING if name.startswith("AuditsSandbox") else GRANTED_ON_EVERYTHING
            assert set(listed(statement["Action"])) <= known, name


def test_no_function_may_scan_the_records_or_do_everything(resources: Resources) -> None:
    for name, statement in statements(resources):
        for action in listed(statement["Action"]):
            assert "*" not in action, name
            assert action not in {"dynamodb:Scan", "dynamodb:DeleteTable", "iam:PassRole"}, name


@pytest.mark.parametrize("action", ["states:StopExecution", "states:RedriveExecution"])
def test_a_distributed_map_may_follow_stop_and_redrive_its_chunks_and_no_other_machine(
    resources: Resources, action: str
) -> None:
    granted = [each for _, each in statements(resources) if action in listed(each["Action"])]
    machines = of_type(resources, "AWS::StepFunctions::StateMachine")
    mapping = [
        name for name in machines if name.startswith(("BatchMachine", "SurfacesExperimentMachine", "AuditsMachine"))
    ]
    found = [[resource["Fn::Join"][1][-3:] for resource in statement["Resource"]] for statement in granted]
    assert len(mapping) == len(found) == 3
    for name in mapping:
        own = {"Fn::GetAtt": [name, "Name"]}
        assert [[":execution:", own, "/*"], [":execution:", own, ":*"]] in found


def test_the_authorizer_may_read_one_item_and_nothing_more(resources: Resources) -> None:
    granted = {
        action
        for name, statement in statements(resources)
        if "ApiAuthorizer" in name
        for action in listed(statement["Action"])
        if not action.startswith(("logs:", "xray:"))
    }
    assert granted == {"dynamodb:GetItem"}


def test_variables_are_those_that_are_described(resources: Resources) -> None:
    described = (ROOT / "docs/concepts/environment.md").read_text(encoding="utf-8")
    for name, properties in functions(resources).items():
        if name == SANDBOX:
            continue
        variables = set(properties["Environment"]["Variables"]) - {"POWERTOOLS_SERVICE_NAME"}
        assert {variable for variable in variables if variable not in described} == set(), name
        assert properties["Environment"]["Variables"]["TOUCHSTONE_FRESH_SHARE"] == "0.2", name


def test_the_variables_of_the_stack_leave_room_for_those_of_the_deployment(resources: Resources) -> None:
    """A function may have 4 KB. What the stack itself sets is names, links and ARNs, here as long as they come."""

    around = len("arn:aws-us-gov:secretsmanager:ap-southeast-2:123456789012:secret:-0123456789ab-012345")

    def longest(value: Any) -> int:
        match value:
            case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
                return around + len(name)
        return len(value)

    for name, properties in functions(resources).items():
        variables = properties["Environment"]["Variables"]
        own = sum(len(variable) + longest(value) for variable, value in variables.items())
        assert own + MOST_ENVIRONMENT_BYTES <= 4096, name


def test_what_users_stored_outlives_the_stack(resources: Resources) -> None:
    kept = {name for name, content in resources.items() if content.get("DeletionPolicy") == "RetainExceptOnCreate"}
    for kind in ("StoreRecords", "StoreBodies", "StoreBodiesPolicy", "StoreJudgeKeys"):
        assert any(name.startswith(kind) for name in kept), kind
    assert {resources[name]["UpdateReplacePolicy"] for name in kept} == {"Retain"}


def test_nothing_of_a_first_deployment_that_failed_is_kept(resources: Resources) -> None:
    policies = {content.get("DeletionPolicy") for content in resources.values()}
    assert policies == {None, "Delete", "RetainExceptOnCreate"}


def test_records_cannot_be_deleted_by_mistake_and_any_second_can_be_gone_back_to(resources: Resources) -> None:
    (table,) = [item for name, item in of_type(resources, "AWS::DynamoDB::Table").items() if "Records" in name]
    assert table["Properties"]["DeletionProtectionEnabled"] is True
    recovery = table["Properties"]["PointInTimeRecoverySpecification"]
    assert recovery["PointInTimeRecoveryEnabled"] is True


def test_the_stack_says_of_which_version_it_is(template: dict[str, Any]) -> None:
    assert template["Outputs"]["Version"]["Value"] == __version__


def test_the_table_has_the_indexes_of_its_access_patterns(resources: Resources) -> None:
    (table,) = [item for name, item in of_type(resources, "AWS::DynamoDB::Table").items() if "Records" in name]
    indexes = {
        index["IndexName"]: [key["AttributeName"] for key in index["KeySchema"]]
        for index in table["Properties"]["GlobalSecondaryIndexes"]
    }
    assert indexes == {
        "by_time": ["gsi1pk", "gsi1sk"],
        "deferred": ["gsi2pk", "gsi2sk"],
        "by_count": ["gsi3pk", "count"],
    }
    carried = {
        index["IndexName"]: (index["Projection"]["ProjectionType"], index["Projection"].get("NonKeyAttributes"))
        for index in table["Properties"]["GlobalSecondaryIndexes"]
    }
    # No body in an index: each would be written, and paid for, once more with every step of a record.
    assert carried == {
        "by_time": ("INCLUDE", ["summary", "verification_status"]),
        "deferred": ("KEYS_ONLY", None),
        "by_count": ("INCLUDE", ["text"]),
    }
    assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_bodies_are_private_versioned_and_announced(resources: Resources) -> None:
    (bucket,) = of_type(resources, "AWS::S3::Bucket").values()
    properties = bucket["Properties"]
    assert all(properties["PublicAccessBlockConfiguration"].values())
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = [rule for rule in properties["LifecycleConfiguration"]["Rules"] if "Prefix" not in rule]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert "ExpirationInDays" not in rule  # what is not overwritten or deleted is somebody's
    assert properties["NotificationConfiguration"] == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}


def test_what_only_served_the_work_goes_and_nothing_else_does(resources: Resources) -> None:
    (bucket,) = of_type(resources, "AWS::S3::Bucket").values()
    rules = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule for rule in rules if "ExpirationInDays" in rule}
    assert {prefix: rule["ExpirationInDays"] for prefix, rule in expiring.items()} == {
        "scratch/": 14,
        "bundles/": 60,
        "traces/": 30,
    }
    assert all(rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1} for rule in expiring.values())


def test_a_machine_reads_the_lists_of_its_maps_and_the_sandbox_no_object(resources: Resources) -> None:
    granted = {
        (re.sub(r"(RoleDefault)?Policy\w+$", "", name), action, str(statement["Resource"]).rpartition("/*")[0][-7:])
        for name, statement in statements(resources)
        for action in listed(statement["Action"])
        if action.startswith("s3:") and ("Machine" in name or "Sandbox" in name)
    }
    mapping = ("AuditsMachine", "BatchMachine", "SurfacesExperimentMachine")
    assert granted == {(machine, "s3:GetObject", "scratch") for machine in mapping}


def test_r7_a_message_stays_invisible_six_times_as_long_as_its_function_may_take(resources: Resources) -> None:
    queues = {name: item["Properties"] for name, item in of_type(resources, "AWS::SQS::Queue").items()}
    (intake,) = [queue for name, queue in queues.items() if "Intake" in name]
    (dead,) = [queue for name, queue in queues.items() if "DeadLetters" in name]
    (deferred,) = [queue for name, queue in queues.items() if "Deferred" in name]
    assert intake["VisibilityTimeout"] >= 6 * functions(resources)["intake"]["Timeout"]
    assert intake["RedrivePolicy"]["maxReceiveCount"] >= 5
    last_begins = (intake["RedrivePolicy"]["maxReceiveCount"] - 1) * intake["VisibilityTimeout"]
    assert again.DELIVERED_FOR.total_seconds() == last_begins, "so long the sweep leaves what it carries alone"
    assert UNFINISHED_AFTER.total_seconds() > functions(resources)["intake"]["Timeout"], "and then to its own end"
    assert dead["MessageRetentionPeriod"] > intake["MessageRetentionPeriod"]
    assert deferred["FifoQueue"] is True
    assert deferred["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_only_the_intake_queue_has_a_consumer_and_it_reports_what_failed(resources: Resources) -> None:
    (mapping,) = of_type(resources, "AWS::Lambda::EventSourceMapping").values()
    assert "Intake" in str(mapping["Properties"]["EventSourceArn"])
    assert mapping["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


NEW_ACCOUNT = 10
"""Functions that run at once in all."""
ONE_VERIFICATION = 2
"""The API's function waits while that of the verification works; the authorizer has ended by then."""


def test_a_batch_and_messages_leave_room_for_callers_in_a_new_account(resources: Resources) -> None:
    (mapping,) = of_type(resources, "AWS::Lambda::EventSourceMapping").values()
    messages = mapping["Properties"]["ScalingConfig"]["MaximumConcurrency"]
    widest = max(maps(resources).values())
    drain_and_sweep = 2
    assert widest + messages + drain_and_sweep + ONE_VERIFICATION <= NEW_ACCOUNT
    assert 2 * maps(resources)["AuditsMachine"] <= max(2, widest), "a case holds a second function, the sandbox"


def maps(resources: Resources) -> dict[str, int]:
    """How many items of its map each machine has in work at once."""
    found: dict[str, int] = {}
    for name, item in of_type(resources, "AWS::StepFunctions::StateMachine").items():
        text = item["Properties"]["DefinitionString"]
        states = json.loads(text if isinstance(text, str) else "".join(map(str, text["Fn::Join"][1])))["States"]
        found |= {name[:-8]: state["MaxConcurrency"] for state in states.values() if state["Type"] == "Map"}
    assert len(found) == 6
    return found


def test_a1_a_token_is_asked_for_on_routes_but_three_and_pages_and_never_remembered(resources: Resources) -> None:
    (authorizer,) = of_type(resources, "AWS::ApiGatewayV2::Authorizer").values()
    assert authorizer["Properties"]["AuthorizerResultTtlInSeconds"] == 0
    assert authorizer["Properties"]["IdentitySource"] == ["$request.header.Authorization"]
    routes = [item["Properties"] for item in of_type(resources, "AWS::ApiGatewayV2::Route").values()]
    without = {route["RouteKey"] for route in routes if route.get("AuthorizationType") != "CUSTOM"}
    pages = {"GET /", "GET /app/{proxy+}", "POST /app/{proxy+}"}
    assert without == {"GET /health", "GET /openapi.json", "GET /swagger"} | pages


def test_the_drain_starts_in_the_providers_own_time(resources: Resources) -> None:
    schedules = [item["Properties"] for item in of_type(resources, "AWS::Scheduler::Schedule").values()]
    expressions = {(item["ScheduleExpression"], item.get("ScheduleExpressionTimezone")) for item in schedules}
    assert ("cron(5 0 * * ? *)", "America/Los_Angeles") in expressions
    assert {expression for expression, _ in expressions} >= {"rate(1 hour)", "rate(15 minutes)"}


def test_only_the_evaluation_is_express(resources: Resources) -> None:
    machines = of_type(resources, "AWS::StepFunctions::StateMachine").items()
    kinds = {name: item["Properties"].get("StateMachineType", "STANDARD") for name, item in machines}
    assert {name for name, kind in kinds.items() if kind == "EXPRESS"} == {n for n in kinds if "EvaluateMachine" in n}
