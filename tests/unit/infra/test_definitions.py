"""The definitions in the Amazon States Language: nothing that AWS would refuse, and each such fault is seen."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.machine import DEFINITIONS, definition
from tests.support.states_language import ALL, faults

NAMES = sorted(path.name.removesuffix(".asl.yaml") for path in DEFINITIONS.glob("*.asl.yaml"))
type State = dict[str, Any]
type Change = Callable[[State], object]


@pytest.mark.parametrize("name", NAMES)
def test_a_definition_has_no_fault(name: str) -> None:
    assert faults(definition(name)) == []


def _set(**fields: Any) -> Change:
    return lambda state: state.update(fields)


def _without(name: str) -> Change:
    return lambda state: state.pop(name)


def _rule(kind: str, **fields: Any) -> Change:
    return lambda state: state[kind][0].update(fields)


FAULTS: list[tuple[str, Change]] = [
    ("there is no type 'Tsak'", _set(Type="Tsak")),
    ("Task in JSONata has no field Tiemout", _set(Tiemout=3)),
    ("Task in JSONata has no field ResultPath", _set(ResultPath="$.x")),
    ("Task in JSONPath has no field Arguments", _set(QueryLanguage="JSONPath")),
    ("Task needs Resource", _without("Resource")),
    ("Resource is no ARN, or one of a single partition", _set(Resource="lambda:invoke")),
    ("Resource is no ARN, or one of a single partition", _set(Resource="arn:aws:states:::lambda:invoke")),
    ("TimeoutSeconds is no whole number from 1 up", _set(TimeoutSeconds="10")),
    ("it has one of Next and End", _without("Next")),
    ("it has one of Next and End", _set(End=True)),
    ("there is no state Nowhere", _rule("Catch", Next="Nowhere")),
    ("Catch has no field ResultPath", _rule("Catch", ResultPath="$.x")),
    ("Catch: States.ALL stands alone and last", _rule("Catch", ErrorEquals=[ALL, "StoreError"])),
    ("Catch: there is no error States.Nonsense", _rule("Catch", ErrorEquals=["States.Nonsense"])),
    ("Retry: States.ALL stands alone and last", _rule("Retry", ErrorEquals=[ALL, "StoreError"])),
    ("Retry names no error", _rule("Retry", ErrorEquals=[])),
    ("Retry has no field Jitter", _rule("Retry", Jitter="FULL")),
    ("Retry: its JitterStrategy or MaxAttempts does not exist", _rule("Retry", JitterStrategy="HALF")),
    ("Retry: its pauses do not grow up to their limit", _rule("Retry", MaxDelaySeconds=0)),
    ("Output: the expression is not whole", _set(Output="{% $states.result. %}")),
    ("Output: the expression is not whole", _set(Output="{% 'open %}")),
    ("Output begins as JSONata and is none", _set(Output="{% $states.result")),
    ("answer: a ( is not closed", _rule("Catch", Output={"answer": "{% $string( %}"})),
    ("Output: a ] closes nothing", _set(Output="{% $merge([$states.input]]) %}")),
    ("Output: there is no $nowhere", _set(Output="{% $nowhere %}")),
    ("Output: there is no $states.inptu here", _set(Output="{% $states.inptu %}")),
    ("Output: there is no $states.errorOutput here", _set(Output="{% $states.errorOutput %}")),
    ("Payload: there is no $states.result here", _set(Arguments={"Payload": "{% $states.result %}"})),
    ("key.$ is a field of JSONPath", _set(Arguments={"key.$": "$.key"})),
    ("Choices has no field Conditoin", _set(Choices=[{"Conditoin": "{% true %}", "Next": "Evaluate"}])),
    ("a Wait has one of Seconds and Timestamp", _set(Type="Wait")),
]


@pytest.mark.parametrize(("fault", "change"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_a_fault_is_seen(fault: str, change: Change) -> None:
    machine = definition("evaluate")
    change(machine["States"]["Evaluate"])
    assert f"Evaluate: {fault}" in faults(machine)


def test_a_fault_inside_a_map_and_a_start_that_is_not_there_are_seen() -> None:
    machine = definition("batch")
    machine["States"]["Chunks"]["ItemProcessor"]["StartAt"] = "Lnies"
    assert faults(machine) == ["StartAt: there is no state Lnies"]


def test_names_that_an_expression_makes_itself_are_known() -> None:
    machine = definition("evaluate")
    machine["States"]["Evaluate"]["Output"] = "{% ($mine := 2; $map([1], function($each) { $each * $mine })) %}"
    assert faults(machine) == []
