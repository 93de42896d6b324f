"""One template for every partition: as CloudFormation reads it in the commercial regions, in China and in GovCloud."""

import json
import re
from typing import Any

import pytest

ACCOUNT = "123456789012"
PLACES = {
    "aws": ("eu-central-1", "amazonaws.com"),
    "aws-cn": ("cn-north-1", "amazonaws.com.cn"),
    "aws-us-gov": ("us-gov-west-1", "amazonaws.com"),
}


def deployed(template: Any, partition: str) -> Any:
    """A template in which all stands that CloudFormation puts in for itself; other resources by their names."""
    region, suffix = PLACES[partition]
    known = {
        "AWS::Partition": partition,
        "AWS::Region": region,
        "AWS::URLSuffix": suffix,
        "AWS::AccountId": ACCOUNT,
        "AWS::StackName": "Touchstone",
    }

    def read(node: Any) -> Any:
        match node:
            case {"Ref": str(name), **rest} if not rest:
                return known.get(name, name)
            case {"Fn::GetAtt": [str(name), "Arn"], **rest} if not rest:
                return f"arn:{partition}:any:{region}:{ACCOUNT}:{name}"
            case {"Fn::GetAtt": [name, attribute], **rest} if not rest:
                return f"{name}.{attribute}"
            case {"Fn::Join": [separator, parts], **rest} if not rest:
                return separator.join(str(read(part)) for part in parts)
            case {"DefinitionString": definition, "DefinitionSubstitutions": given, **rest}:
                bound: dict[str, str] = read(given)
                text = re.sub(r"\$\{(\w+)\}", lambda found: bound[found[1]], read(definition))
                return {**read(rest), "Definition": json.loads(text)}
            case dict():
                return {name: read(value) for name, value in node.items()}
            case list():
                return [read(value) for value in node]
            case _:
                return node

    return read(template)


def texts(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for each in inner for text in texts(each)]


@pytest.mark.parametrize("partition", PLACES)
def test_every_arn_is_of_the_partition_that_is_deployed_to(template: dict[str, Any], partition: str) -> None:
    found = [arn for text in texts(deployed(template, partition)) for arn in re.findall(r"\barn:[\w-]*", text)]
    assert len(found) > 300
    assert set(found) == {f"arn:{partition}"}


@pytest.mark.parametrize("partition", PLACES)
def test_every_step_of_a_machine_calls_a_service_of_that_partition(template: dict[str, Any], partition: str) -> None:
    machines = [
        item["Properties"]["Definition"]
        for item in deployed(template, partition)["Resources"].values()
        if item["Type"] == "AWS::StepFunctions::StateMachine"
    ]
    called = [text for text in texts(machines) if ":states:::" in text]
    assert len(called) > 40
    assert all(text.startswith(f"arn:{partition}:states:::") for text in called)


def test_no_arn_region_or_account_is_written_down(template: dict[str, Any]) -> None:
    written = json.dumps(template)
    assert "arn:aws" not in written
    assert (
        re.findall(r"\b(?:us|eu|ap|cn|sa|ca|me|af|il)-(?:gov-)?(?:north|south|east|west|central)\w*-\d", written) == []
    )
