"""The machines of measurements and experiments in the process: the real handlers, led by what they say.

Follows `infra/state_machines/{measure,experiment}.asl.yaml` by hand: what stands side by side in a map is tried once
each before any of it is waited for.
"""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from functions.composition import stores
from functions.surfaces import conclude, measure, pair, plan

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type Step = Callable[[str, Handler, Mapping[str, Any]], dict[str, Any]]
MOST_ROUNDS = 60
"""Of one map; more mean that it runs in a circle."""


@dataclass(frozen=True, slots=True)
class SurfaceMachines:
    """Executions whose steps are taken by `step`, which raises where one never comes back."""

    step: Step

    def measure(self, state: Mapping[str, Any]) -> Generator[int]:
        """The measure machine."""
        references = {"tenant": state["tenant"], "measurement_id": state["measurement_id"]}
        yield from self._map("measure", measure.handler, [{**references, "metric": one} for one in state["metrics"]])

    def experiment(self, state: Mapping[str, Any]) -> Generator[int]:
        """The experiment machine."""
        references = {"tenant": state["tenant"], "experiment_id": state["experiment_id"]}
        planned = self.step("plan", plan.handler, {**references, "run": "test"})
        if planned["state"] != "measuring":
            return
        yield from self._map("pair", pair.handler, _listed(state["tenant"], planned["list_key"]))
        self.step("conclude", conclude.handler, references)

    def _map(self, name: str, handler: Handler, items: list[dict[str, Any]]) -> Generator[int]:
        left = items
        for _ in range(MOST_ROUNDS):
            said = [(item, self.step(name, handler, item)) for item in left]
            waits = [one["wait_seconds"] for _, one in said if one["state"] == "waiting"]
            left = [item for item, one in said if one["state"] == "waiting"]
            if not left:
                return
            yield max(1, *waits)
        raise AssertionError(f"{name} runs in a circle")


def _listed(tenant: str, key: str) -> list[dict[str, Any]]:
    """The items that a map's reader finds under the whole key of a list."""
    text = stores.scratch().get_text(tenant=tenant, key=key.partition("/")[2])
    return [json.loads(line) for line in text.splitlines()]
