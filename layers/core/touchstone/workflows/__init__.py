"""Start the state machines that run a job's steps, and run proofs. State machines carry references, never bodies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from touchstone.errors import SettingsError, StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_stepfunctions import SFNClient

    from touchstone.references import Reference

type MachineName = Literal[
    "solve", "evaluate", "task", "submission", "challenge", "measure", "quiz", "experiment", "audit", "provider_batch"
]
"""The machines that carry records while nobody waits for them."""


def client() -> SFNClient:
    """A Step Functions client whose calls time out soon and are never repeated silently."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "stepfunctions", config=Config(connect_timeout=2, read_timeout=7, retries={"total_max_attempts": 1})
    )


@dataclass(frozen=True, kw_only=True)
class Workflows:
    """Starts executions of state machines. An execution has its record's id as name, so a repeat starts nothing new.

    Of the express machine `evaluate` a repeat may run: there the record lets one of two executions work.

    `arns` has the ARN of each machine that this function may start, by the machine's name.
    """

    sfn: SFNClient
    arns: Mapping[str, str]

    def start(self, machine: MachineName, record: Reference, *, run: str | None = "1", **more: object) -> None:
        """Start the machine that carries a record.

        `run` tells a later execution for the same record from the first; None if there is only one. `more` is further
        input of the machine beside the reference.
        """
        name = record.id if run is None else f"{record.id}-{run}"
        self._start(self._arn(machine), name=name, references={**record.fields, **more})

    def drain(self, shard: int = 0) -> None:
        """Start the drain of deferred evaluations for one shard.

        A drain that finds another one at work already ends at once.
        """
        self._start(self._arn("drain"), name=f"asked-{uuid4()}", references={"shard": shard})

    def _arn(self, machine: str) -> str:
        arn = self.arns.get(machine)
        if not arn:
            variable = f"TOUCHSTONE_{machine.upper()}_MACHINE_ARN"
            raise SettingsError(f"{variable} is not set for this function; the stack sets it when it is deployed.")
        return arn

    def _start(self, arn: str, *, name: str, references: dict[str, Any]) -> None:
        try:
            self.sfn.start_execution(stateMachineArn=arn, name=name, input=json.dumps(references))
        except self.sfn.exceptions.ExecutionAlreadyExists:
            return  # an earlier start began this execution
        except _service_faults() as error:
            raise StoreError("The work could not be started; repeat the request.") from error


def _service_faults() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError

    return (BotoCoreError, ClientError)
