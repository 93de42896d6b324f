"""The sandbox function of audits in the process, behind a client of Lambda."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

type Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]


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
