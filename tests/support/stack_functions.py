"""The functions of a deployed stack: their variables and timeouts, and running one as a schedule does."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.waiting import eventually


@dataclass(frozen=True)
class Functions:
    """The stack's functions, by the names of their constructs (`AnswersEvaluate`, `ApiApp`, `Intake` …)."""

    client: Any
    names: Mapping[str, str]

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a function."""
        reply = self.client.get_function_configuration(FunctionName=self.names[name])
        return dict(reply.get("Environment", {}).get("Variables", {}))

    def set(self, *names: str, timeout: int | None = None, variables: Mapping[str, str] | None = None) -> None:
        """Change variables, or the timeout in seconds, of functions; the next call of each is cold in any case."""
        for name in names:
            changes: dict[str, Any] = {} if timeout is None else {"Timeout": timeout}
            changes["Environment"] = {"Variables": {**self.environment(name), **(variables or {})}}
            self.client.update_function_configuration(FunctionName=self.names[name], **changes)
        for name in names:
            self._settled(name)

    @contextmanager
    def changed(
        self, *names: str, timeout: int | None = None, variables: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """Functions with other variables, or another timeout, for the length of a `with`."""
        before = {name: self.client.get_function_configuration(FunctionName=self.names[name]) for name in names}
        self.set(*names, timeout=timeout, variables=variables)
        try:
            yield
        finally:
            for name, known in before.items():
                self.client.update_function_configuration(
                    FunctionName=self.names[name], Environment=known["Environment"], Timeout=known["Timeout"]
                )
            for name in names:
                self._settled(name)

    @contextmanager
    def side_by_side(self, name: str, most: int) -> Iterator[None]:
        """A function that takes messages with at most so many of its kind, for the length of a `with`."""
        [source] = self.client.list_event_source_mappings(FunctionName=self.names[name])["EventSourceMappings"]
        before = source["ScalingConfig"]
        self.client.update_event_source_mapping(UUID=source["UUID"], ScalingConfig={"MaximumConcurrency": most})
        try:
            yield
        finally:
            self.client.update_event_source_mapping(UUID=source["UUID"], ScalingConfig=before)

    def run(self, name: str, event: Any) -> Any:
        """What a function returns for an event, as a schedule would invoke it."""
        reply = self.client.invoke(FunctionName=self.names[name], Payload=json.dumps(event).encode())
        result = json.loads(reply["Payload"].read())
        assert "FunctionError" not in reply, result
        return result

    def _settled(self, name: str) -> None:
        def look() -> bool:
            state = self.client.get_function_configuration(FunctionName=self.names[name])
            return bool(state.get("LastUpdateStatus", "Successful") == "Successful" and state["State"] == "Active")

        eventually(look, what=f"the update of {name}")
