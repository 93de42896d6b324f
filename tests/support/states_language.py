"""Faults of a state machine's definition that AWS would refuse, or that would only show when a state is entered.

After the Amazon States Language (https://states-language.net). What is checked is what the definitions use: machines
in JSONata or JSONPath, without Parallel states. An expression's grammar is looked at as far as quotes, brackets and
names go; that it evaluates is shown by the tests against the local cloud.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

type Node = Mapping[str, Any]

EVERY = frozenset({"Type", "Comment", "QueryLanguage"})
FLOW = EVERY | {"Next", "End", "Assign"}
MAP = frozenset({
    "Items", "ItemReader", "ItemSelector", "ItemBatcher", "ItemProcessor", "ResultWriter", "MaxConcurrency", "Label",
    "ToleratedFailurePercentage", "ToleratedFailureCount", "Retry", "Catch",
})  # fmt: skip
FIELDS: Mapping[str, frozenset[str]] = {
    "Task": FLOW | {"Resource", "Arguments", "Output", "TimeoutSeconds", "HeartbeatSeconds", "Retry", "Catch"},
    "Pass": FLOW | {"Output"},
    "Choice": EVERY | {"Choices", "Default", "Output", "Assign"},
    "Wait": FLOW | {"Seconds", "Timestamp", "Output"},
    "Succeed": EVERY | {"Output"},
    "Fail": EVERY | {"Error", "Cause"},
    "Map": FLOW | MAP | {"Output"},
}
PATHS = frozenset({"InputPath", "OutputPath", "ResultPath", "ResultSelector", "Parameters", "ItemsPath"})
JSONATA_ONLY = frozenset({"Arguments", "Output", "Items"})
NEEDED: Mapping[str, tuple[str, ...]] = {
    "Task": ("Resource",),
    "Choice": ("Choices",),
    "Map": ("ItemProcessor",),
}
CHOICE = frozenset({"Condition", "Next", "Assign", "Output", "Comment"})
ENDLESS = frozenset({"Choice", "Succeed", "Fail"})
"""Types that have neither Next nor End."""
ALL = "States.ALL"
RESERVED = frozenset({
    ALL, "States.DataLimitExceeded", "States.ExceedToleratedFailureThreshold", "States.HeartbeatTimeout",
    "States.IntrinsicFailure", "States.ItemReaderFailed", "States.NoChoiceMatched", "States.ParameterPathFailure",
    "States.Permissions", "States.QueryEvaluationError", "States.ResultPathMatchFailure", "States.ResultWriterFailed",
    "States.Runtime", "States.TaskFailed", "States.Timeout", "States.BranchFailed",
})  # fmt: skip
RETRY = frozenset({
    "ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment",
})  # fmt: skip
CATCH = frozenset({"ErrorEquals", "Next", "Assign", "Comment"})
FUNCTIONS = frozenset({
    "abs", "append", "average", "base64decode", "base64encode", "boolean", "ceil", "contains", "count", "decodeUrl",
    "decodeUrlComponent", "distinct", "each", "encodeUrl", "encodeUrlComponent", "error", "exists", "filter",
    "floor", "formatBase", "formatInteger", "formatNumber", "fromMillis", "hash", "join", "keys", "length",
    "lookup", "lowercase", "map", "match", "max", "merge", "millis", "min", "not", "now", "number", "pad", "parse",
    "parseInteger", "partition", "power", "random", "range", "reduce", "replace", "reverse", "round", "shuffle",
    "sift", "single", "sort", "split", "spread", "sqrt", "string", "substring", "substringAfter", "substringBefore",
    "sum", "toMillis", "trim", "type", "uppercase", "uuid", "zip",
})  # fmt: skip
"""JSONata's own functions and those that Step Functions adds, without `eval`, which Step Functions does not have."""
LITERALS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|(?<=[(,])\s*/(?:[^/\\\n]|\\.)+/[im]*')
NAMES = re.compile(r"\$(\w+)(?:\.(\w+))?")
PAIRS = {")": "(", "]": "[", "}": "{"}


def faults(machine: Node) -> list[str]:
    """What is wrong with a definition, one sentence a fault; empty where nothing is."""
    variables = {name for assign in _assigns(machine) for name in assign}
    return list(_of_graph(machine, language=machine.get("QueryLanguage", "JSONPath"), variables=variables))


def _assigns(node: Any) -> Iterator[Node]:
    if isinstance(node, list):
        for each in node:
            yield from _assigns(each)
    elif isinstance(node, dict):
        if isinstance(node.get("Assign"), dict):
            yield node["Assign"]
        for each in node.values():
            yield from _assigns(each)


def _of_graph(graph: Node, *, language: str, variables: set[str]) -> Iterator[str]:
    states = graph["States"]
    if graph.get("StartAt") not in states:
        yield f"StartAt: there is no state {graph.get('StartAt')}"
    for title, state in states.items():
        own = state.get("QueryLanguage", language)
        found = (
            *_of_fields(state, language=own),
            *_of_targets(state, states),
            *_of_errors(state, language=own),
            *_of_expressions(state, language=own, variables=variables),
        )
        yield from (f"{title}: {fault}" for fault in found)
        if "ItemProcessor" in state:
            yield from _of_graph(state["ItemProcessor"], language=own, variables=variables)


def _of_fields(state: Node, *, language: str) -> Iterator[str]:
    kind = state.get("Type", "")
    if kind not in FIELDS:
        yield f"there is no type {kind!r}"
        return
    allowed = FIELDS[kind] if language == "JSONata" else FIELDS[kind] - JSONATA_ONLY | PATHS
    yield from (f"{kind} in {language} has no field {name}" for name in sorted(set(state) - allowed))
    yield from (f"{kind} needs {name}" for name in NEEDED.get(kind, ()) if name not in state)
    rules = (field for rule in state.get("Choices", ()) for field in sorted(set(rule) - CHOICE))
    yield from (f"Choices has no field {field}" for field in rules if language == "JSONata")
    if kind == "Wait" and ("Seconds" in state) == ("Timestamp" in state):
        yield "a Wait has one of Seconds and Timestamp"
    for name in ("TimeoutSeconds", "HeartbeatSeconds", "Seconds"):
        value = state.get(name, 1)
        if not _expression(value) and not (isinstance(value, int) and value > 0):
            yield f"{name} is no whole number from 1 up"
    if not re.match(r"arn:\$\{Partition\}:|\$\{\w+\}$", state.get("Resource", "${Function}")):
        yield "Resource is no ARN, or one of a single partition"


def _of_targets(state: Node, states: Node) -> Iterator[str]:
    if state.get("Type") not in ENDLESS and ("Next" in state) == (state.get("End") is True):
        yield "it has one of Next and End"
    steps = (state, *state.get("Choices", ()), *state.get("Catch", ()))
    for target in (step[name] for step in steps for name in ("Next", "Default") if name in step):
        if target not in states:
            yield f"there is no state {target}"


def _of_errors(state: Node, *, language: str) -> Iterator[str]:
    catch = CATCH | ({"Output"} if language == "JSONata" else {"ResultPath"})
    for name, allowed in (("Retry", RETRY), ("Catch", catch)):
        listed = state.get(name, ())
        for place, rule in enumerate(listed):
            yield from (f"{name} has no field {field}" for field in sorted(set(rule) - allowed))
            errors = rule.get("ErrorEquals", ())
            if not errors:
                yield f"{name} names no error"
            if ALL in errors and (len(errors) > 1 or place + 1 < len(listed)):
                yield f"{name}: {ALL} stands alone and last"
            reserved = (error for error in errors if error.startswith("States.") and error not in RESERVED)
            yield from (f"{name}: there is no error {error}" for error in reserved)
    for rule in state.get("Retry", ()):
        interval, longest = rule.get("IntervalSeconds", 1), rule.get("MaxDelaySeconds", 31_622_400)
        if not (interval >= 1 and longest > interval and rule.get("BackoffRate", 2) >= 1):
            yield "Retry: its pauses do not grow up to their limit"
        if rule.get("JitterStrategy", "NONE") not in {"FULL", "NONE"} or rule.get("MaxAttempts", 3) < 0:
            yield "Retry: its JitterStrategy or MaxAttempts does not exist"


def _of_expressions(state: Node, *, language: str, variables: set[str]) -> Iterator[str]:
    for path, text in _texts({name: value for name, value in state.items() if name != "ItemProcessor"}):
        if not text.startswith("{%"):
            if path[-1].endswith(".$") and language == "JSONata":
                yield f"{path[-1]} is a field of JSONPath"
            continue
        if language != "JSONata" or not text.endswith("%}"):
            yield f"{path[-1]} begins as JSONata and is none"
            continue
        yield from (f"{path[-1]}: {fault}" for fault in _of_jsonata(text[2:-2], path, variables))


def _of_jsonata(text: str, path: tuple[str, ...], variables: set[str]) -> Iterator[str]:
    bare, open_brackets = LITERALS.sub("0", text), []
    if not bare.strip() or re.search(r"[.,:=+*&?]\s*$|[\"'\\]", bare):
        yield "the expression is not whole"
    for character in bare:
        if character in PAIRS.values():
            open_brackets.append(character)
        elif character in PAIRS and (not open_brackets or open_brackets.pop() != PAIRS[character]):
            yield f"a {character} closes nothing"
    if open_brackets:
        yield f"a {open_brackets[-1]} is not closed"
    parameters = {name for found in re.findall(r"function\s*\(([^)]*)\)", bare) for name in re.findall(r"\w+", found)}
    local = set(re.findall(r"\$(\w+)\s*:=", bare))
    there = {"input", "context"}
    there |= {"errorOutput"} if "Catch" in path else {"result"} if path[0] in {"Output", "Assign"} else set()
    for name, step in NAMES.findall(bare):
        if name == "states" and step not in there:
            yield f"there is no $states.{step} here"
        if name != "states" and name not in FUNCTIONS | variables | parameters | local:
            yield f"there is no ${name}"


def _texts(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text below a node, with the fields that lead to it."""
    match node:
        case str():
            yield path, node
        case dict():
            for name, each in node.items():
                yield from _texts(each, (*path, name))
        case list():
            for each in node:
                yield from _texts(each, path)


def _expression(value: object) -> bool:
    return isinstance(value, str) and value.startswith("{%")
