"""The state machines as graphs: nothing dangles, every task ends in time, only faults of the platform are repeated."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from functions import audits
from tests.support.machine import DEFINITIONS, definition
from tests.support.templates import Resources, functions, of_type
from touchstone.answers import judge_time
from touchstone.operations.answers import draining, evaluating, intake, steps
from touchstone.operations.audits import solving
from touchstone.operations.surfaces import experimenting, measuring
from touchstone.quizzes import outcome

NAMES = sorted(path.name.removesuffix(".asl.yaml") for path in DEFINITIONS.glob("*.asl.yaml"))
REPEATED = {
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
    "StoreError",
    "States.TaskFailed",  # of a message that could not be sent, or an execution not started; never of a function
}
REFERENCES = {
    *("tenant", "answer_id", "number", "error", "execution_id", "provider_batch_id", "shard"),
    *("task_id", "submission_id", "challenge_id", "dimension", "deadline"),
    *("measurement_id", "metric", "quiz_id", "experiment_id", "run", "audit_id"),
}
"""What a function may be given: names and words, never a text or a score."""
type State = dict[str, Any]


def graphs(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A machine's own states, and those of the maps in it."""
    yield content
    for state in content["States"].values():
        if state["Type"] == "Map":
            yield from graphs(state["ItemProcessor"])


def tasks(name: str) -> Iterator[tuple[str, State]]:
    for graph in graphs(definition(name)):
        for title, state in graph["States"].items():
            if state["Type"] == "Task":
                yield title, state


def successors(state: State) -> Iterator[str]:
    for field in ("Next", "Default"):
        if field in state:
            yield state[field]
    for branch in (*state.get("Choices", ()), *state.get("Catch", ())):
        yield branch["Next"]


@pytest.mark.parametrize("name", NAMES)
def test_every_state_is_reached_and_leads_somewhere(name: str) -> None:
    for graph in graphs(definition(name)):
        states = graph["States"]
        reached, ahead = set(), [graph["StartAt"]]
        while ahead:
            title = ahead.pop()
            if title not in reached:
                reached.add(title)
                ahead.extend(successors(states[title]))
        assert reached == set(states)
        for title, state in states.items():
            ends = state["Type"] in {"Succeed", "Fail"} or state.get("End") is True
            assert ends or list(successors(state)), title


@pytest.mark.parametrize("name", NAMES)
def test_every_task_ends_in_time_and_its_failure_is_met(name: str) -> None:
    for title, state in tasks(name):
        assert state["TimeoutSeconds"] <= 930, title
        assert state["Catch"][-1]["ErrorEquals"] == ["States.ALL"], title


@pytest.mark.parametrize("name", NAMES)
def test_r13_only_faults_of_the_platform_are_repeated_with_jitter_and_an_end(name: str) -> None:
    for title, state in tasks(name):
        for retry in state.get("Retry", ()):
            assert set(retry["ErrorEquals"]) <= REPEATED, title
            assert retry["JitterStrategy"] == "FULL", title
            # What the account does not admit yet is waited for: nothing was done, and nothing is at fault.
            refused = retry["ErrorEquals"] == ["Lambda.TooManyRequestsException"]
            assert retry["MaxAttempts"] <= (10 if refused else 4), title
        if state["Resource"].endswith("lambda:invoke"):
            errors = {error for retry in state.get("Retry", ()) for error in retry["ErrorEquals"]}
            assert "States.TaskFailed" not in errors, title


def test_a_burst_of_evaluations_that_the_account_does_not_admit_ends_before_the_execution_s_time() -> None:
    evaluate, send = (dict(tasks("evaluate"))[title] for title in ("Evaluate", "Defer"))
    refused = next(each for each in evaluate["Retry"] if each["ErrorEquals"] == ["Lambda.TooManyRequestsException"])
    waits = sum(
        min(refused["IntervalSeconds"] * refused["BackoffRate"] ** tried, refused["MaxDelaySeconds"])
        for tried in range(refused["MaxAttempts"])
    )
    assert waits + evaluate["TimeoutSeconds"] + send["TimeoutSeconds"] < definition("evaluate")["TimeoutSeconds"]


def test_an_attempt_of_ours_has_longer_than_a_caller_who_waits(resources: Resources) -> None:
    at_leisure = dict(tasks("solve"))["QuickVerify"]["TimeoutSeconds"]
    assert at_leisure > functions(resources)["verify"]["Timeout"] > intake.SYNC_SECONDS


@pytest.mark.parametrize(
    ("seconds", "name"),
    [
        (steps.READ_SECONDS, "read_image"),
        (steps.ANALYZE_SECONDS, "analyze"),
        (steps.ENRICH_SECONDS, "enrich"),
        (steps.SOLVE_SECONDS, "solve"),
        (judge_time.whole_seconds(judge_time.MOST_SECONDS), "verify"),
        (judge_time.whole_seconds(judge_time.MOST_SECONDS), "intake"),
        (evaluating.EVALUATE_SECONDS, "evaluate"),
        (draining.ROUND_SECONDS, "drain"),
        (measuring.MEASURE_SECONDS, "measure"),
        (2 * experimenting.PAIR_SECONDS, "pair"),
        (outcome.SECONDS, "quizzes.generate"),
        (outcome.SECONDS, "quizzes.evaluate"),
        (audits.BUILD_SECONDS + 200, "audits.install"),
    ],
)
def test_a_step_gives_its_judges_up_long_before_its_function_ends(
    seconds: float, name: str, resources: Resources
) -> None:
    assert seconds + 20 <= functions(resources)[name]["Timeout"]


def test_a_turn_of_an_audit_has_the_time_of_its_model_and_of_a_proof(resources: Resources) -> None:
    found = functions(resources)
    assert solving.TURN_SECONDS + found["sandbox"]["Timeout"] + 20 <= found["audits.turn"]["Timeout"]


def test_a_state_ends_after_its_function_so_that_the_functions_own_end_is_told(resources: Resources) -> None:
    deployed = of_type(resources, "AWS::Lambda::Function")
    checked = 0
    for machine in [item for item in resources.values() if item["Type"] == "AWS::StepFunctions::StateMachine"]:
        bound = machine["Properties"]["DefinitionSubstitutions"]
        for name in NAMES:
            for title, state in tasks(name):
                variable = str(state["Arguments"].get("FunctionName", "")).strip("${}")
                if variable not in bound:
                    continue
                timeout = deployed[bound[variable]["Fn::GetAtt"][0]]["Properties"]["Timeout"]
                assert timeout < state["TimeoutSeconds"], title
                checked += 1
    assert checked >= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_without_a_cause_is_told_as_that_failure(name: str) -> None:
    """States.Timeout comes without a Cause; reading one that is missing would be the failure instead."""
    for graph in graphs(definition(name)):
        for title, state in graph["States"].items():
            if state["Type"] == "Fail" and "$states.input.Cause" in state.get("Cause", ""):
                assert state["Cause"].startswith("{% $exists($states.input.Cause) ? "), title


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_given_references_only(name: str) -> None:
    for title, state in tasks(name):
        payload = state["Arguments"].get("Payload")
        if isinstance(payload, dict):
            assert set(payload) <= REFERENCES, title


def test_every_placeholder_stands_for_something_deployed(resources: Resources) -> None:
    machines = [item for item in resources.values() if item["Type"] == "AWS::StepFunctions::StateMachine"]
    assert len(machines) == len(NAMES)
    for machine in machines:
        text = json.dumps(machine["Properties"]["DefinitionString"])
        bound = set(machine["Properties"]["DefinitionSubstitutions"])
        assert set(re.findall(r"\$\{(\w+)\}", text)) == bound
