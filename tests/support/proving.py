"""Proofs as tests run them."""

from collections.abc import Callable
from typing import Any

from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.errors import TooLargeError

type Prove = Callable[..., ProofResult]


def result(outcome: Outcome = "holds", **changed: Any) -> ProofResult:
    plain: dict[str, Any] = {
        "outcome": outcome, "reason": "The script ran to its end.", "stdout": "", "stderr": "", "wall_seconds": 0.1,
        "cpu_seconds": 0.1, "trusted": False,
    }  # fmt: skip
    return ProofResult.model_validate(plain | changed)


class ScriptedSandbox:
    """A sandbox in memory: each script is the outcome that it comes to."""

    def __init__(self, **changed: Any) -> None:
        self.ran: list[str] = []
        self.changed = changed

    async def __call__(self, script: str) -> ProofResult:
        self.ran.append(script)
        if script == "too large":
            raise TooLargeError("The script is too large.")
        return result(script, **self.changed)  # type: ignore[arg-type]
