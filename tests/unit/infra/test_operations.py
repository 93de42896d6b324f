"""Who is told when something goes wrong, what it costs to be told, and what an operator looks at."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from functions.observability import METRICS, STATUSES
from tests.support.templates import Resources

ROOT = Path(__file__).parents[3]
FREE_ALARMS = 10
ALARM_USD = 0.10
FREE_DASHBOARD_METRICS = 50
MOST_LOG_GROUPS = 50
"""That one query may read."""


def of_type(resources: Resources, kind: str) -> dict[str, Any]:
    return {name: item["Properties"] for name, item in resources.items() if item["Type"] == kind}


def alarms(resources: Resources) -> dict[str, dict[str, Any]]:
    """The alarms by what their names begin with."""
    found = of_type(resources, "AWS::CloudWatch::Alarm")
    return {name.removeprefix("Operations")[:-8]: properties for name, properties in found.items()}


def publishers(resources: Resources) -> Iterator[dict[str, Any]]:
    for policy in of_type(resources, "AWS::SNS::TopicPolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == "Allow" and statement["Action"] == "sns:Publish":
                yield statement


def test_an_alarm_of_this_account_and_of_no_other_may_publish(resources: Resources) -> None:
    (statement,) = publishers(resources)
    assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    (topic,) = [name for name, item in resources.items() if item["Type"] == "AWS::SNS::Topic"]
    assert statement["Resource"] == {"Ref": topic}


def test_what_is_not_encrypted_on_its_way_to_the_topic_is_still_refused(resources: Resources) -> None:
    statements = [
        statement
        for policy in of_type(resources, "AWS::SNS::TopicPolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    (denied,) = [one for one in statements if one["Effect"] == "Deny"]
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_every_alarm_tells_the_operator_and_is_described_to_him(resources: Resources) -> None:
    (topic,) = [name for name, item in resources.items() if item["Type"] == "AWS::SNS::Topic"]
    found = alarms(resources)
    assert len(found) == 12
    assert [name for name, alarm in found.items() if alarm.get("AlarmActions") != [{"Ref": topic}]] == []
    assert [name for name, alarm in found.items() if alarm.get("ActionsEnabled") is False] == []
    described = (ROOT / "docs/how-to/deploy.md").read_text()
    assert [name for name in found if f"`{name}`" not in described] == []


def test_a_call_by_a_schedule_that_was_tried_in_vain_is_kept_where_an_alarm_looks(resources: Resources) -> None:
    scheduled = {
        one["Target"]["Arn"]["Fn::GetAtt"][0]
        for one in of_type(resources, "AWS::Scheduler::Schedule").values()
        if "Fn::GetAtt" in one["Target"]["Arn"]
    }
    kept = of_type(resources, "AWS::Lambda::EventInvokeConfig")
    assert {one["FunctionName"]["Ref"] for one in kept.values()} == scheduled
    assert len(scheduled) == 2  # the sweep and the weekly audits; without a retention there is no purge
    places = {one["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0] for one in kept.values()}
    (looked_at,) = [one["Value"]["Fn::GetAtt"][0] for one in alarms(resources)["DeadLetters"]["Dimensions"]]
    assert places == {looked_at}
    policies = of_type(resources, "AWS::IAM::Policy").items()
    for name, config in kept.items():
        role = resources[config["FunctionName"]["Ref"]]["Properties"]["Role"]["Fn::GetAtt"][0]
        (its_own,) = [policy for policy, given in policies if given["Roles"] == [{"Ref": role}]]
        assert its_own in resources[name]["DependsOn"]


def test_a_sweep_that_ends_no_more_is_an_alarm_and_takes_back_none(resources: Resources) -> None:
    found = alarms(resources)
    silent = found["SweepSilent"]
    assert silent["TreatMissingData"] == "breaching"
    assert (silent["MetricName"], silent["Statistic"], silent["ComparisonOperator"], silent["Threshold"]) == (
        "Backlog",
        "SampleCount",
        "LessThanThreshold",
        1,
    )
    # It runs each quarter of an hour, give or take five minutes: each of these periods holds the end of one at least.
    assert silent["Period"] >= 20 * 60
    assert [found[name]["TreatMissingData"] for name in ("Stuck", "OldestDeferred")] == ["ignore", "ignore"]


def test_whichever_machine_breaks_off_and_however_it_is_an_alarm(resources: Resources) -> None:
    machines = of_type(resources, "AWS::StepFunctions::StateMachine")
    express = {name for name, item in machines.items() if item.get("StateMachineType") == "EXPRESS"}
    (rule,) = [
        item
        for item in of_type(resources, "AWS::Events::Rule").values()
        if item["EventPattern"]["source"] == ["aws.states"] and "FAILED" in item["EventPattern"]["detail"]["status"]
    ]
    detail = rule["EventPattern"]["detail"]
    assert {reference["Ref"] for reference in detail["stateMachineArn"]} == set(machines) - express
    assert set(detail["status"]) == {"FAILED", "TIMED_OUT", "ABORTED"}
    (target,) = rule["Targets"]
    queue = target["Arn"]["Fn::GetAtt"][0]
    (dimension,) = alarms(resources)["Interrupted"]["Dimensions"]
    assert dimension == {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}
    for name in express:
        failing = [
            alarm["MetricName"]
            for alarm in alarms(resources).values()
            if {"Name": "StateMachineArn", "Value": {"Ref": name}} in alarm.get("Dimensions", ())
        ]
        assert sorted(failing) == ["ExecutionsFailed", "ExecutionsTimedOut"]


def test_being_told_costs_less_than_half_a_dollar_a_month(resources: Resources) -> None:
    looked_at = sum(
        sum("MetricStat" in one for one in alarm.get("Metrics", ())) or 1 for alarm in alarms(resources).values()
    )
    assert (looked_at - FREE_ALARMS) * ALARM_USD <= 0.5


def test_the_dashboard_has_the_figures_of_the_pages_and_is_one_that_costs_nothing(resources: Resources) -> None:
    (dashboard,) = of_type(resources, "AWS::CloudWatch::Dashboard").values()
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    body = json.loads("".join(part if isinstance(part, str) else "reference" for part in parts))
    metrics = [metric for widget in body["widgets"] for metric in widget["properties"].get("metrics", ())]
    names = {metric[1] for metric in metrics if len(metric) > 1}
    assert {"CostMicroUsd", "Backlog", "OldestDeferredAge", "Stuck", "ExecutionsFailed", "Throttles", "5xx"} <= names
    assert len(metrics) <= FREE_DASHBOARD_METRICS
    asked = "".join(widget["properties"].get("query", "") for widget in body["widgets"])
    assert all(status in asked for status in STATUSES)
    assert "by reason" in asked


def test_what_is_no_metric_is_a_saved_query_over_every_functions_log(resources: Resources) -> None:
    from infra.constructs.operators_dashboard import QUERIES

    saved = of_type(resources, "AWS::Logs::QueryDefinition").values()
    assert {one["Name"] for one in saved} == {f"Touchstone/{name}" for name in QUERIES}
    functions = [
        one
        for one in of_type(resources, "AWS::Lambda::Function").values()
        if re.match(r"functions\.(?!sandbox)", one["Handler"])
    ]
    for one in saved:
        assert len(one["LogGroupNames"]) == len(functions) <= MOST_LOG_GROUPS


def test_alarms_and_dashboard_look_at_metrics_that_are_published(resources: Resources) -> None:
    own = [alarm for alarm in alarms(resources).values() if "Touchstone" in json.dumps(alarm)]
    looked_at = {alarm["MetricName"] for alarm in own if "MetricName" in alarm}
    looked_at |= {
        one["MetricStat"]["Metric"]["MetricName"]
        for alarm in own
        for one in alarm.get("Metrics", ())
        if "MetricStat" in one
    }
    assert looked_at <= set(METRICS)
    assert {"Answers", "Unverified", "Misconfigured", "Backlog", "Stuck", "CeilingPercent"} <= looked_at
