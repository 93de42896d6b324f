"""Whether the tests see that a state machine's definition is wrong: each transition and rule, removed or misrouted.

A transition is misrouted to the state that stands after its target; with `--thorough` to every other one.

Every mutant is a definition with one change. The ways of its machine (`tests/support/machine_ways.py`) are gone
on it without a cloud; a mutant on which all these tests pass survives. Exits 1 where one does.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

from tests.support.machine import DEFINITIONS, DEFINITIONS_VARIABLE
from tests.support.machine_ways import CLAIMS, AstrayError, Way

NAMES = sorted(path.name.partition(".")[0] for path in DEFINITIONS.glob("*.asl.yaml"))

SAME = {
    ("solve", "QuickVerify.Catch.0.Next -> Enrich"),  # its output names the route, and Route would lead there
    ("solve", "QuickVerify.Catch.1.Next -> Enrich"),
}
"""Changes that change nothing: the machine goes the same way."""

type State = dict[str, Any]
type Place = tuple[str | int, ...]
"""Where something stands in a definition."""


@dataclass(frozen=True)
class Mutant:
    """A definition with one change, and what the change is."""

    machine: str
    change: str
    definition: State


@dataclass(frozen=True)
class Others:
    """The states of a graph, to which a transition may be misrouted."""

    titles: list[str]
    thorough: bool

    def than(self, target: str) -> list[str]:
        """Where a transition to this state goes instead."""
        place = self.titles.index(target) + 1
        others = [*self.titles[place:], *self.titles[: place - 1]]
        return others if self.thorough else others[:1]


def mutants(machine: str, *, thorough: bool = False) -> Iterator[Mutant]:
    """The mutants of a definition."""
    whole = _read(machine)
    for graph, inside in _graphs(whole, ()):
        others = Others(list(graph["States"]), thorough=thorough)
        yield from _misrouted(machine, whole, (*inside, "StartAt"), graph["StartAt"], others)
        for title, state in graph["States"].items():
            yield from _of_state(machine, whole, (*inside, "States", title), state, others)


def _of_state(machine: str, whole: State, at: Place, state: State, others: Others) -> Iterator[Mutant]:
    for name in ("Next", "Default"):
        if name in state:
            yield from _misrouted(machine, whole, (*at, name), state[name], others)
            yield _changed(machine, whole, (*at, name), None)
    for kind in ("Choices", "Retry", "Catch"):
        for place, rule in enumerate(state.get(kind, ())):
            yield _changed(machine, whole, (*at, kind, place), None)
            if "Next" in rule:
                yield from _misrouted(machine, whole, (*at, kind, place, "Next"), rule["Next"], others)
            errors = rule.get("ErrorEquals", [])
            if len(errors) > 1:
                for number in range(len(errors)):
                    yield _changed(machine, whole, (*at, kind, place, "ErrorEquals", number), None)


def _graphs(graph: State, at: Place) -> Iterator[tuple[State, Place]]:
    yield graph, at
    for title, state in graph["States"].items():
        if "ItemProcessor" in state:
            yield from _graphs(state["ItemProcessor"], (*at, "States", title, "ItemProcessor"))


def _misrouted(machine: str, whole: State, at: Place, target: str, others: Others) -> Iterator[Mutant]:
    for other in others.than(target):
        yield _changed(machine, whole, at, other)


def _changed(machine: str, whole: State, at: Place, value: str | None) -> Mutant:
    """The definition with another value at a place, or without it; a state that loses its Next ends there."""
    definition = json.loads(json.dumps(whole))
    node: Any = definition
    for step in at[:-1]:
        node = node[step]
    if value is not None:
        node[at[-1]] = value
    else:
        del node[at[-1]]
        if at[-1] == "Next":
            node["End"] = True
    where = ".".join(str(step) for step in at if step != "States")
    said = "removed" if value is None else f"-> {value}"
    return Mutant(machine, f"{where} {said}", definition)


def survives(mutant: Mutant) -> bool:
    """Whether all tests of its machine pass on a mutant. Changes the environment: for a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{mutant.machine}.asl.yaml").write_text(json.dumps(mutant.definition), encoding="utf-8")
        os.environ[DEFINITIONS_VARIABLE] = folder
        return not any(_fails(test, way) for test, way in _tests(mutant.machine))


def _tests(machine: str) -> Iterator[tuple[Callable[[Way], None], Way]]:
    """What is asserted of a machine's ways, each with its way; what sees the most first."""
    for claim, ways in CLAIMS.items():
        yield from ((claim, way) for way in ways if way.machine == machine)


def _fails(test: Callable[[Way], None], way: Way) -> bool:
    try:
        test(way)
    except (Exception, AstrayError):  # noqa: BLE001 - whatever fails a test
        return True
    return False


def _read(machine: str) -> State:
    return dict(yaml.safe_load((DEFINITIONS / f"{machine}.asl.yaml").read_text(encoding="utf-8")))


def main() -> int:
    """Run the mutants and print which survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=NAMES, action="append", help="this one alone; may be repeated")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--thorough", action="store_true", help="misroute to every other state")
    options = parser.parse_args()
    left = 0
    with get_context("fork").Pool(options.processes) as pool:
        for machine in options.machine or NAMES:
            found = mutants(machine, thorough=options.thorough)
            made = [mutant for mutant in found if (machine, mutant.change) not in SAME]
            untouched = Mutant(machine, "nothing", _read(machine))
            passes, *lived = pool.map(survives, [untouched, *made], chunksize=8)
            if not passes:
                raise RuntimeError(f"The tests of {machine} fail on the definition as it is.")
            left += sum(lived)
            print(f"{machine:<12} {len(made):>4} mutants, {sum(lived)} survive", flush=True)
            for mutant, alive in zip(made, lived, strict=True):
                if alive:
                    print(f"    {mutant.change}", flush=True)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
