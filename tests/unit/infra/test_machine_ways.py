"""The ways through each state machine as it is defined: which steps are taken, what is waited for, and how it ends.

The steps are scripted; with the real handlers behind them the machines run in `tests/integration`. A way is written as
the steps in order: `step:word` says that word, `step!Error` ends by an error, `wait` is a pause. `ends` are the final
states that were entered, of a map's items too.
"""

import pytest

from tests.support.machine import DEFINITIONS
from tests.support.machine_ways import (
    CLAIMS,
    WAYS,
    Way,
    does_not_repeat_for_ever,
    ends_its_items_as_often_as_they_are_over,
    goes_this_way,
    is_the_same_after_faults_of_the_platform,
)
from tests.support.machines import FUNCTIONS
from tests.support.templates import Resources


@pytest.mark.parametrize("way", CLAIMS[goes_this_way], ids=lambda way: str(way)[:90])
def test_the_machine_goes_this_way(way: Way) -> None:
    goes_this_way(way)


@pytest.mark.parametrize("way", CLAIMS[ends_its_items_as_often_as_they_are_over], ids=lambda way: str(way)[:90])
def test_an_item_that_is_over_does_not_fail_unseen(way: Way) -> None:
    ends_its_items_as_often_as_they_are_over(way)


@pytest.mark.parametrize("way", CLAIMS[is_the_same_after_faults_of_the_platform], ids=lambda way: str(way)[:90])
def test_r13_a_fault_of_the_platform_before_a_step_changes_nothing(way: Way) -> None:
    is_the_same_after_faults_of_the_platform(way)


@pytest.mark.parametrize("way", CLAIMS[does_not_repeat_for_ever], ids=lambda way: str(way)[:90])
def test_r13_a_fault_that_does_not_pass_is_not_repeated_for_ever(way: Way) -> None:
    does_not_repeat_for_ever(way)


def test_every_machine_has_its_ways() -> None:
    assert {way.machine for way in WAYS} == {path.name.partition(".")[0] for path in DEFINITIONS.glob("*.asl.yaml")}


def test_the_functions_of_the_definitions_are_those_of_the_stack(resources: Resources) -> None:
    functions = {name: item for name, item in resources.items() if item["Type"] == "AWS::Lambda::Function"}
    bound: dict[str, str] = {}
    for machine in (item for item in resources.values() if item["Type"] == "AWS::StepFunctions::StateMachine"):
        for place, value in machine["Properties"]["DefinitionSubstitutions"].items():
            if place.endswith("Function"):
                bound[place] = functions[value["Fn::GetAtt"][0]]["Properties"]["Handler"]
    assert {place: handler.removesuffix(".handler") for place, handler in bound.items()} == {
        place: f"functions.{name}" for place, name in FUNCTIONS.items()
    }
