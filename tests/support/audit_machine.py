"""The machine of audits in the process: the real handlers, led by what they say, and a sandbox function to call.

Follows `infra/state_machines/audit.asl.yaml` by hand, as the machines of other jobs are.
"""

import io
import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from functions.audits import conclude, install, prepare, turn
from functions.composition import stores

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type Step = Callable[[str, Handler, Mapping[str, Any]], dict[str, Any]]
MOST_STEPS = 200
"""Of one case; more mean that it runs in a circle."""


@dataclass(frozen=True, slots=True)
class AuditMachine:
    """Executions whose steps are taken by `step`, which raises where one never comes back."""

    step: Step

    def run(self, state: Mapping[str, Any]) -> Generator[int]:
        """The audit machine."""
        references = {"tenant": state["tenant"], "audit_id": state["audit_id"]}
        if self.step("install", install.handler, references)["state"] != "installed":
            return
        prepared = self.step("prepare", prepare.handler, {**references, "run": "test"})
        if prepared["state"] != "auditing":
            return
        for case in _listed(state["tenant"], prepared["list_key"]):
            yield from self._case(case)
        self.step("conclude", conclude.handler, references)

    def _case(self, case: dict[str, Any]) -> Generator[int]:
        for _ in range(MOST_STEPS):
            said = self.step("turn", turn.handler, case)
            if said["state"] == "over":
                return
            if said["state"] == "waiting":
                yield max(1, said["wait_seconds"])
        raise AssertionError("a case runs in a circle")


class DiedError(Exception):
    """What a function's handler raises in a test to have its whole machine come to an end."""


@dataclass
class Lambdas:
    """A client of Lambda with one function behind it.

    `orders` are what it was given, `faults` what it says next of its own, as errors.
    """

    handler: Handler
    orders: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's names
        """Call it and wait."""
        assert FunctionName == "sandbox"
        self.orders.append(json.loads(Payload))
        if self.faults:
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": _read(self.faults.pop(0))}
        try:
            said = self.handler(self.orders[-1], None)
        except DiedError:
            fault = {"errorType": "Runtime.ExitError", "errorMessage": "RequestId: 1 Error: Runtime exited"}
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": _read(fault)}
        return {"StatusCode": 200, "Payload": _read(said)}


def _read(said: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(said).encode())


def _listed(tenant: str, key: str) -> list[dict[str, Any]]:
    """The items that a map's reader finds under the whole key of a list."""
    text = stores.scratch().get_text(tenant=tenant, key=key.partition("/")[2])
    return [json.loads(line) for line in text.splitlines()]
