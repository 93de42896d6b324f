"""State machines run in the process from their own definitions: the Amazon States Language, as far as they use it.

States in JSONata, and a Map in JSONPath; Task, Choice, Pass, Wait, Map, Succeed and Fail, with Retry and Catch
(https://states-language.net). What a task calls is given. A wait is yielded, so that a test decides when time has
passed; the pauses between retries take no time.
"""

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import yaml
from jsonata import Jsonata  # type: ignore[attr-defined, unused-ignore] # carries no types
from jsonata.jexception import JException

type State = dict[str, Any]
type Run = Generator[float, None, Any]
"""An execution: it yields the seconds that it waits, and returns its output."""
type Gone = tuple[float | None, Any, "StateError | None"]
"""How far an execution came: the seconds that it waits, or else its output or its error."""
type Together = Callable[[Sequence[Callable[[], Gone]]], Iterable[Gone]]

DEFINITIONS_VARIABLE = "TOUCHSTONE_TEST_DEFINITIONS"
"""Names a folder of definitions to test in place of the real ones (`python -m tests.bench.mutations`)."""
DEFINITIONS = Path(__file__).resolve().parents[2] / "infra" / "state_machines"
MOST_STATES = 300
"""States in a row without a wait; more mean that a machine runs in a circle."""
DEFAULT_ATTEMPTS = 3
"""Of a rule of Retry that does not say how many."""
ALL, TASK_FAILED, TIMEOUT = "States.ALL", "States.TaskFailed", "States.Timeout"
TOO_LARGE = "States.DataLimitExceeded"
NEVER_CAUGHT = frozenset({"States.Runtime", TOO_LARGE})
"""Errors that `States.ALL` does not stand for."""
MOST_BYTES = 256 * 1024
"""Of what a state comes to, as JSON."""


_evaluating = Lock()
"""An expression keeps where it is in itself; items side by side share it."""


class StateError(Exception):
    """An error by its name in the language, and its cause."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(error, cause)
        self.error, self.cause = error, cause


def definition(name: str, places: Mapping[str, str] | None = None) -> State:
    """The definition of this name, in which `places` stand where it says `${…}`."""
    text = _text(Path(os.environ.get(DEFINITIONS_VARIABLE, DEFINITIONS)) / f"{name}.asl.yaml")
    for place, value in (places or {}).items():
        text = text.replace(f"${{{place}}}", value)
    return dict(json.loads(text))


@cache
def _text(path: Path) -> str:
    return json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class _Scope:
    """What expressions see: variables, and what the execution says of itself."""

    language: str
    context: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)

    def value(self, template: Any, **states: Any) -> Any:
        """A field with its expressions evaluated; `states` are the parts of `$states`."""
        match template:
            case str() if template.startswith("{%"):
                return _evaluated(template[2:-2], {**self.variables, "states": {**states, "context": self.context}})
            case dict():
                return {name: self.value(each, **states) for name, each in template.items()}
            case list():
                return [self.value(each, **states) for each in template]
        return template

    def assign(self, rule: State, **states: Any) -> None:
        """Set the variables of a state or a rule, all by what they were before."""
        self.variables.update(self.value(rule.get("Assign", {}), **states))


@dataclass(frozen=True)
class Interpreter:
    """Runs definitions. `call` does what a task's resource is, by its arguments; `read` gives a file's text.

    `entered` is told of each state as it is entered, by its title and its type. `together` does what the items of a Map
    do side by side, one after the other where nothing else is said.
    """

    call: Callable[[str, Any], Any]
    read: Callable[[str, str], str]
    entered: Callable[[str, str], None] = lambda _title, _kind: None
    together: Together = lambda works: (work() for work in works)

    def run(self, machine: State, *, name: str, state: Any) -> Run:
        """An execution of a machine, begun with its state."""
        execution = {"Name": name, "Id": f"arn:aws:states:us-east-1:123456789012:execution:machine:{name}"}
        scope = _Scope(language=machine.get("QueryLanguage", "JSONPath"), context={"Execution": execution})
        return (yield from self._graph(machine, state, scope))

    def _graph(self, graph: State, state: Any, scope: _Scope) -> Run:
        title, left = graph["StartAt"], MOST_STATES
        while title:
            assert left, f"the machine runs in a circle, by way of {title}"
            now = graph["States"][title]
            self.entered(title, now["Type"])
            here = replace(scope, language=now.get("QueryLanguage", scope.language))
            steps = self._state(now, state, here)
            left -= 1
            try:
                while True:
                    seconds = next(steps)
                    left = MOST_STATES
                    yield seconds
            except StopIteration as ended:
                title, state = ended.value
        return state

    def _state(self, now: State, state: Any, scope: _Scope) -> Generator[float, None, tuple[str | None, Any]]:
        """One state; where it leads to, and with what."""
        tried: Counter[int] = Counter()
        while True:
            try:
                return (yield from self._tried(now, state, scope))
            except StateError as error:
                if (rule := _rule(now, "Retry", error)) is not None:
                    place = now["Retry"].index(rule)
                    tried[place] += 1
                    if tried[place] <= rule.get("MaxAttempts", DEFAULT_ATTEMPTS):
                        continue
                if (rule := _rule(now, "Catch", error)) is None:
                    raise
                return rule["Next"], _caught(rule, error, state, scope)

    def _tried(self, now: State, state: Any, scope: _Scope) -> Generator[float, None, tuple[str | None, Any]]:
        match now["Type"]:
            case "Choice":
                return _chosen(now, state, scope)
            case "Fail":
                raise StateError(*(str(scope.value(now.get(name, ""), input=state)) for name in ("Error", "Cause")))
            case "Wait":
                if seconds := scope.value(now["Seconds"], input=state):
                    yield seconds
                states = {"input": state}
            case "Task":
                states = {"input": state, "result": self._called(now, scope.value(now["Arguments"], input=state))}
            case "Map":
                states = {"input": state, "result": (yield from self._map(now, state, scope))}
            case "Pass" | "Succeed":
                states = {"input": state}
            case other:
                raise NotImplementedError(other)
        if len(json.dumps(states.get("result"), ensure_ascii=False).encode()) > MOST_BYTES:
            raise StateError(TOO_LARGE)
        output = _put(now, states, scope)
        scope.assign(now, **states)
        return now.get("Next"), output

    def _called(self, now: State, arguments: Any) -> Any:
        try:
            return json.loads(json.dumps(self.call(now["Resource"], arguments)))
        except StateError:
            raise
        except Exception as error:  # whatever a function raises is an error by its class's name
            raise StateError(type(error).__name__, str(error)) from error

    def _map(self, now: State, state: Any, scope: _Scope) -> Run:
        """The items side by side, so many at once: each goes as far as its next wait, then all wait."""
        apart = now["ItemProcessor"].get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED"
        items = self._items(now, state, scope)
        pending = deque(enumerate(items))
        count, failed = len(items), 0
        results: list[Any] = [None] * count
        most = now.get("MaxConcurrency", count)
        asleep: list[tuple[int, Run]] = []
        while pending or asleep:
            ready, asleep, waits = asleep, [], []
            while ready or (pending and len(asleep) < most):
                free = min(most - len(asleep) - len(ready), len(pending))
                ready += [self._item(now, *pending.popleft(), state, scope, apart=apart) for _ in range(free)]
                went = self.together([partial(_advanced, run) for _, run in ready])
                for (place, run), (seconds, result, error) in zip(ready, went, strict=True):
                    if seconds is not None:
                        waits.append(seconds)
                        asleep.append((place, run))
                    elif error is None:
                        results[place] = result
                    else:
                        failed += 1
                        if not apart:
                            raise error
                        if 100 * failed > now.get("ToleratedFailurePercentage", 0) * count:
                            raise StateError("States.ExceedToleratedFailureThreshold", error.error) from error
                        results[place] = _broken_off(items[place], error)
                ready = []
            if asleep:
                yield max(waits)
        return results

    def _item(self, now: State, place: int, item: Any, state: Any, scope: _Scope, *, apart: bool) -> tuple[int, Run]:
        context = {**scope.context, "Map": {"Item": {"Index": place, "Value": item}}}
        if "ItemSelector" in now:
            item = replace(scope, context=context).value(now["ItemSelector"], input=state)
        inner = replace(scope, variables={} if apart else deepcopy(scope.variables))
        return place, self._graph(now["ItemProcessor"], item, inner)

    def _items(self, now: State, state: Any, scope: _Scope) -> list[Any]:
        if "ItemReader" not in now:
            return list(scope.value(now["Items"], input=state))
        where = {name.removesuffix(".$"): _at(path, state) for name, path in now["ItemReader"]["Parameters"].items()}
        try:
            text = self.read(where["Bucket"], where["Key"])
        except Exception as error:
            raise StateError("States.ItemReaderFailed", str(error)) from error
        return [json.loads(line) for line in text.split("\n") if line]


def _broken_off(item: Any, error: StateError) -> dict[str, Any]:
    """What a Distributed Map's result holds of an execution that failed: all that is known of it, not its output alone.

    https://docs.aws.amazon.com/step-functions/latest/dg/input-output-resultwriter.html
    """
    name = "01234567-89ab-3cde-8f01-23456789abcd"
    place = "arn:aws:states:us-east-1:123456789012:{}:machine-0123456789ab/map"
    return {
        "ExecutionArn": f"{place.format('execution')}:{name}",
        "Input": json.dumps(item),
        "InputDetails": {"Included": True},
        "Name": name,
        "StartDate": "2026-11-22T12:00:00.000Z",
        "StateMachineArn": place.format("stateMachine"),
        "Status": "FAILED",
        "StopDate": "2026-11-22T12:00:00.000Z",
        "Error": error.error,
        "Cause": error.cause,
    }


def _advanced(run: Run) -> Gone:
    try:
        return next(run), None, None
    except StopIteration as ended:
        return None, ended.value, None
    except StateError as error:
        return None, None, error


def _chosen(now: State, state: Any, scope: _Scope) -> tuple[str | None, Any]:
    for rule in now["Choices"]:
        if (said := scope.value(rule["Condition"], input=state)) is True:
            output = scope.value(rule.get("Output", state), input=state)
            scope.assign(rule, input=state)
            return rule["Next"], output
        if said is not False:
            raise StateError("States.QueryEvaluationError", f"{rule['Condition']} is neither true nor false")
    if "Default" not in now:
        raise StateError("States.NoChoiceMatched")
    output = scope.value(now.get("Output", state), input=state)
    scope.assign(now, input=state)
    return now["Default"], output


def _put(now: State, states: dict[str, Any], scope: _Scope) -> Any:
    """What a state hands on: its Output, or what it came to."""
    came = states.get("result", states["input"])
    if scope.language == "JSONata":
        return scope.value(now["Output"], **states) if "Output" in now else came
    return _placed(came, states["input"], now["ResultPath"]) if "ResultPath" in now else came


def _caught(rule: State, error: StateError, state: Any, scope: _Scope) -> Any:
    said = {"Error": error.error, "Cause": error.cause}
    if scope.language != "JSONata":
        return _placed(said, state, rule.get("ResultPath", "$"))
    output = scope.value(rule["Output"], input=state, errorOutput=said) if "Output" in rule else said
    scope.assign(rule, input=state, errorOutput=said)
    return output


def _rule(now: State, kind: str, error: StateError) -> State | None:
    """The first rule of Retry or Catch that means this error."""
    return next((rule for rule in now.get(kind, ()) if any(_means(one, error) for one in rule["ErrorEquals"])), None)


def _means(named: str, error: StateError) -> bool:
    if error.error in NEVER_CAUGHT:
        return named == error.error
    return named in {ALL, error.error} or (named == TASK_FAILED and error.error != TIMEOUT)


def _evaluated(text: str, variables: Mapping[str, Any]) -> Any:
    expression = _expression(text.strip())
    frame = expression.create_frame()
    for name, value in variables.items():
        frame.bind(name, value)
    try:
        with _evaluating:
            value = expression.evaluate(None, frame)
    except JException as error:
        raise StateError("States.QueryEvaluationError", str(error)) from error
    if value is None:
        raise StateError("States.QueryEvaluationError", f"{text.strip()} comes to nothing")
    return json.loads(json.dumps(value))


@cache
def _expression(text: str) -> Any:
    return Jsonata(text)


def _at(path: str, state: Any) -> Any:
    """What a JSONPath of plain names leads to."""
    for name in path.split(".")[1:]:
        state = state[name]
    return state


def _placed(value: Any, state: Any, path: str | None) -> Any:
    """A state with a value put where a JSONPath of one name says."""
    match path.split(".") if path else []:
        case []:
            return state
        case ["$"]:
            return value
        case ["$", name]:
            return {**state, name: value}
    raise NotImplementedError(path)
