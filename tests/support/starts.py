"""Machines that nobody runs: who was started is noted, by the real names and references."""

from dataclasses import dataclass, field
from typing import Any

from touchstone.workflows import Workflows

REFERENCES = frozenset({"tenant", "answer_id", "task_id", "submission_id", "challenge_id", "shard"})


@dataclass(frozen=True, kw_only=True)
class Starts(Workflows):
    """Executions as `<machine> <name>`: like the platform, it starts none a second time. Drains are kept apart."""

    sfn: None = None  # type: ignore[assignment] # nothing is started for real
    runs: list[str] = field(default_factory=list)
    drains: list[str] = field(default_factory=list)

    def _start(self, arn: str, *, name: str, references: dict[str, Any]) -> None:
        machine = arn.rpartition("/")[2]
        assert len(name) <= 80
        assert set(references) <= REFERENCES
        assert references.get("tenant", machine == "drain")
        noted = self.drains if machine == "drain" else self.runs
        if (run := f"{machine} {name}") not in noted:
            noted.append(run)


def starts_of_answers() -> Starts:
    """Where what answers start can be started, and nothing else."""
    return _starts("evaluate", "drain")


def starts_of_tasks() -> Starts:
    """Where what tasks start can be started, and nothing else."""
    return _starts("task", "submission", "challenge")


def _starts(*machines: str) -> Starts:
    return Starts(arns={machine: f"arn/{machine}" for machine in machines})
