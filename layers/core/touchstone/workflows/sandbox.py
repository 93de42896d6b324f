"""The Lambda function that runs proofs: it is given a script and a link, and returns the outcome."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from touchstone.audits.sandbox.result import ProofResult
from touchstone.audits.sandbox.room import ProofAnswer, ProofOrder
from touchstone.errors import InputError, StoreError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_lambda.type_defs import InvocationResponseTypeDef

READ_SECONDS = 420
"""How long a call waits for a reply. This is longer than the function has for an order: it imports the target twice and
runs the script twice."""
ENDED = "The script ended the sandbox that it ran in."
ASLEEP = "ResourceNotReadyException"
"""The code by which Lambda refuses a function in a network that nobody called for weeks, while it makes the function's
network interfaces anew."""
WAKING_PAUSES = (5.0, 10.0, 15.0, *[30.0] * 5)
"""The pauses in seconds between the calls until such a function is awake: three minutes in all; one or two are
usual."""
PLATFORM = "."
"""A sign in the error types by which a platform says that the function's process is gone: `Runtime.ExitError`,
`Sandbox.Timedout`. The function itself raised an error whose type has no such sign; that error says nothing about the
script."""


def client() -> LambdaClient:
    """A Lambda client that waits for a proof, and never repeats a call by itself: no proof runs twice unnoticed."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "lambda", config=Config(connect_timeout=2, read_timeout=READ_SECONDS, retries={"total_max_attempts": 1})
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFunction:
    """The sandbox of a deployment: a Lambda function that is called by its `name`."""

    lambdas: LambdaClient
    name: str
    pause: Callable[[float], None] = time.sleep

    def import_target(self, order: ProofOrder) -> None:
        """Check that the sandbox can import the target. Raises `InputError` with the reason if it cannot.

        Raises `StoreError` if that could not be found out; the call is safe to repeat.
        """
        answer = self._asked(order.model_copy(update={"script": None}))
        if answer is None:
            raise InputError("The target ended the sandbox when it was imported.", where="requirement")
        _refuse(answer)

    def prove(self, order: ProofOrder) -> ProofResult:
        """Run a script and return its result. Raises `InputError` for a script that cannot be run at all.

        If a script ends the whole function, the result is `blocked`. Raises `StoreError` if no script was run; the call
        is safe to repeat.
        """
        answer = self._asked(order)
        if answer is None:
            return _ended()
        _refuse(answer)
        return answer.result or _ended()

    def _asked(self, order: ProofOrder) -> ProofAnswer | None:
        """The function's answer, None if the function ended without an answer."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            reply = self._invoked(order.model_dump_json().encode())
            said: Any = json.loads(reply["Payload"].read() or b"null")
        except (ClientError, BotoCoreError) as error:
            raise StoreError("The sandbox could not be reached; it is safe to repeat.") from error
        if not reply.get("FunctionError"):
            return ProofAnswer.model_validate(said)
        raised = said.get("errorType") if isinstance(said, dict) else None
        if isinstance(raised, str) and PLATFORM not in raised:
            raise StoreError(f"The sandbox ran nothing ({raised}); it is safe to repeat.")
        return None

    def _invoked(self, payload: bytes) -> InvocationResponseTypeDef:
        """The reply of the function. If it was long unused, it is called again, after pauses, until it is awake."""
        from botocore.exceptions import ClientError

        for pause in WAKING_PAUSES:
            try:
                return self.lambdas.invoke(FunctionName=self.name, Payload=payload)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") != ASLEEP:
                    raise
                self.pause(pause)
        return self.lambdas.invoke(FunctionName=self.name, Payload=payload)


def _refuse(answer: ProofAnswer) -> None:
    if answer.refused is not None:
        raise InputError(answer.refused)


def _ended() -> ProofResult:
    return ProofResult(
        outcome="blocked", reason=ENDED, stdout="", stderr="", wall_seconds=0.0, cpu_seconds=0.0, trusted=False
    )
