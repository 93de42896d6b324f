"""Calling the sandbox: what its end says of a script, and what says nothing of it."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from touchstone.audits.sandbox.result import ProofResult
from touchstone.audits.sandbox.room import ProofAnswer, ProofOrder
from touchstone.errors import InputError, StoreError
from touchstone.workflows.sandbox import ENDED, SandboxFunction

ORDER = ProofOrder(url="https://store/bundle", sha256="0" * 64, script="import tinylib")
RESULT = ProofResult(
    outcome="holds", reason="It ended.", stdout="1\n", stderr="", wall_seconds=0.1, cpu_seconds=0.1, trusted=False
)


class Lambdas:
    """A client of Lambda that says what a test has it say."""

    def __init__(self, said: Any, *, fault: bool = False) -> None:
        self._said = said
        self._fault = {"FunctionError": "Unhandled"} if fault else {}
        self.asked: list[dict[str, Any]] = []

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's names
        assert FunctionName == "sandbox"
        self.asked.append(json.loads(Payload))
        if isinstance(self._said, Exception):
            raise self._said
        return {**self._fault, "Payload": io.BytesIO(json.dumps(self._said).encode())}


def called(lambdas: Lambdas) -> SandboxFunction:
    return SandboxFunction(lambdas=lambdas, name="sandbox")  # type: ignore[arg-type] # the part that is used


def answering(answer: ProofAnswer) -> Lambdas:
    return Lambdas(answer.model_dump(mode="json"))


def test_a_proof_comes_back_as_it_was() -> None:
    assert called(answering(ProofAnswer(result=RESULT))).prove(ORDER) == RESULT


class Sleeping(Lambdas):
    """A client of Lambda whose function wakes after so many calls."""

    def __init__(self, calls: int) -> None:
        super().__init__(ProofAnswer(result=RESULT).model_dump(mode="json"))
        self._left = calls

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's names
        self._left -= 1
        if self._left >= 0:
            raise ClientError({"Error": {"Code": "ResourceNotReadyException"}}, "Invoke")
        return super().invoke(FunctionName=FunctionName, Payload=Payload)


def test_a_sandbox_that_slept_for_weeks_is_waited_for() -> None:
    pauses: list[float] = []
    lambdas = Sleeping(calls=6)
    sandbox = SandboxFunction(lambdas=lambdas, name="sandbox", pause=pauses.append)  # type: ignore[arg-type]
    assert sandbox.prove(ORDER) == RESULT
    assert (len(lambdas.asked), sum(pauses)) == (1, 120.0)


def test_one_that_does_not_wake_is_given_up_in_time_to_say_so() -> None:
    pauses: list[float] = []
    sandbox = SandboxFunction(lambdas=Sleeping(calls=99), name="sandbox", pause=pauses.append)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="could not be reached"):
        sandbox.prove(ORDER)
    assert 120 <= sum(pauses) <= 240


def test_what_cannot_be_run_is_refused_in_the_sandboxs_words() -> None:
    refusing = answering(ProofAnswer(refused="The script is too long."))
    for ask in (called(refusing).prove, called(refusing).import_target):
        with pytest.raises(InputError, match=r"The script is too long\."):
            ask(ORDER)


def test_to_import_a_target_no_script_is_sent() -> None:
    lambdas = answering(ProofAnswer())
    called(lambdas).import_target(ORDER)
    assert [order["script"] for order in lambdas.asked] == [None]


@pytest.mark.parametrize("kind", ["Runtime.ExitError", "Runtime.OutOfMemory", "Sandbox.Timedout", None])
def test_a_script_that_takes_the_sandbox_with_it_was_blocked(kind: str | None) -> None:
    dead = called(Lambdas({"errorType": kind, "errorMessage": "gone"}, fault=True))
    result = dead.prove(ORDER)
    assert (result.outcome, result.reason, result.trusted) == ("blocked", ENDED, False)
    with pytest.raises(InputError, match="ended the sandbox when it was imported"):
        dead.import_target(ORDER)


@pytest.mark.parametrize("kind", ["StoreError", "SettingsError", "OSError", "KeyError"])
def test_a_fault_of_the_sandbox_itself_says_nothing_of_the_script(kind: str) -> None:
    with pytest.raises(StoreError, match=rf"ran nothing \({kind}\)"):
        called(Lambdas({"errorType": kind, "errorMessage": "x"}, fault=True)).prove(ORDER)


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke"),
        ReadTimeoutError(endpoint_url="https://lambda"),
    ],
)
def test_a_sandbox_that_is_not_reached_is_asked_again(error: Exception) -> None:
    with pytest.raises(StoreError, match="could not be reached"):
        called(Lambdas(error)).prove(ORDER)
