"""The state machines of a deployment, by what they do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from touchstone.errors import SettingsError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_stepfunctions import SFNClient


def client() -> SFNClient:
    """A Step Functions client whose calls end soon and are never silently repeated."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "stepfunctions", config=Config(connect_timeout=2, read_timeout=7, retries={"total_max_attempts": 1})
    )


@dataclass(frozen=True, kw_only=True)
class Workflows:
    """Starts executions. An execution's name comes from the record's id, so that a repeat starts nothing new."""

    sfn: SFNClient
    solve_arn: str | None = None
    evaluate_arn: str | None = None
    drain_arn: str | None = None
    task_arn: str | None = None
    submission_arn: str | None = None
    challenge_arn: str | None = None
    measure_arn: str | None = None
    experiment_arn: str | None = None
    quiz_arn: str | None = None
    audit_arn: str | None = None

    def solve(self, *, tenant: str, answer_id: str, has_image: bool) -> None:
        """Start solving a problem; the record tells how far it is."""
        self._start(
            _required(self.solve_arn, "TOUCHSTONE_SOLVE_MACHINE_ARN"),
            name=answer_id,
            references={"tenant": tenant, "answer_id": answer_id, "has_image": has_image},
        )

    def evaluate(self, *, tenant: str, answer_id: str, run: str = "1") -> None:
        """Start the deep evaluation of a finished answer. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.evaluate_arn, "TOUCHSTONE_EVALUATE_MACHINE_ARN"),
            name=f"{answer_id}-{run}",
            references={"tenant": tenant, "answer_id": answer_id},
        )

    def drain(self) -> None:
        """Start working off the deferred evaluations; one that finds another at work ends at once."""
        self._start(_required(self.drain_arn, "TOUCHSTONE_DRAIN_MACHINE_ARN"), name=f"asked-{uuid4()}", references={})

    def task(self, *, tenant: str, task_id: str, run: str = "1") -> None:
        """Carry a task from its dimensions to its result. `run` tells later executions of it from the first."""
        self._start(
            _required(self.task_arn, "TOUCHSTONE_TASK_MACHINE_ARN"),
            name=f"{task_id}-{run}",
            references={"tenant": tenant, "task_id": task_id},
        )

    def submission(self, *, tenant: str, task_id: str, submission_id: str, run: str = "1") -> None:
        """Check and score a submission. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.submission_arn, "TOUCHSTONE_SUBMISSION_MACHINE_ARN"),
            name=f"{submission_id}-{run}",
            references={"tenant": tenant, "task_id": task_id, "submission_id": submission_id},
        )

    def challenge(self, *, tenant: str, task_id: str, challenge_id: str, run: str = "1") -> None:
        """Decide a challenge to a ranking. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.challenge_arn, "TOUCHSTONE_CHALLENGE_MACHINE_ARN"),
            name=f"{challenge_id}-{run}",
            references={"tenant": tenant, "task_id": task_id, "challenge_id": challenge_id},
        )

    def measurement(self, *, tenant: str, measurement_id: str, metrics: Sequence[str], run: str = "1") -> None:
        """Measure some material by `metrics`. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.measure_arn, "TOUCHSTONE_MEASURE_MACHINE_ARN"),
            name=f"{measurement_id}-{run}",
            references={"tenant": tenant, "measurement_id": measurement_id, "metrics": list(metrics)},
        )

    def quiz(self, *, tenant: str, quiz_id: str, run: str = "1") -> None:
        """Make or check a quiz. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.quiz_arn, "TOUCHSTONE_QUIZ_MACHINE_ARN"),
            name=f"{quiz_id}-{run}",
            references={"tenant": tenant, "quiz_id": quiz_id},
        )

    def experiment(self, *, tenant: str, experiment_id: str, run: str = "1") -> None:
        """Measure the pairs of an experiment and conclude. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.experiment_arn, "TOUCHSTONE_EXPERIMENT_MACHINE_ARN"),
            name=f"{experiment_id}-{run}",
            references={"tenant": tenant, "experiment_id": experiment_id},
        )

    def audit(self, *, tenant: str, audit_id: str, run: str = "1") -> None:
        """Audit a benchmark, or run stored proofs again. `run` tells a restart of a lost execution from the first."""
        self._start(
            _required(self.audit_arn, "TOUCHSTONE_AUDIT_MACHINE_ARN"),
            name=f"{audit_id}-{run}",
            references={"tenant": tenant, "audit_id": audit_id},
        )

    def _start(self, arn: str, *, name: str, references: dict[str, Any]) -> None:
        try:
            self.sfn.start_execution(stateMachineArn=arn, name=name, input=json.dumps(references))
        except self.sfn.exceptions.ExecutionAlreadyExists:
            return  # the first start did it
        except _service_faults() as error:
            raise StoreError("The work could not be started; repeat the request.") from error


def _required(arn: str | None, variable: str) -> str:
    if not arn:
        raise SettingsError(f"{variable} is not set for this function; the stack sets it when it is deployed.")
    return arn


def _service_faults() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError

    return (BotoCoreError, ClientError)
