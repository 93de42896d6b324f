"""What a handler costs before its first answer: its start, and what its first call loads, against a limit.

    uv run python -m tests.bench.imports [HANDLER …] [--rounds N]

Four times, each from the beginning of the process:

- `import`: the handler's module, as the platform imports it before it calls the handler.
- `+table`: the first table too. This is the start, and is held to 1.1 of the limit.
- `+own`: also what the handler's function and its use case in `touchstone.operations` import when they are called.
- `+parts`: also what the call builds before it begins to work: the context of a step, or the use case. No bar is set
  for the last two, because what a call needs differs; `tests/unit/functions/test_rooms.py` says which rooms no call
  of a handler loads.

The limit is measured in the same run: a process that imports and makes a DynamoDB client, Powertools' Logger and
Metrics and one pydantic model; for the API its event handler too, for the intake its batch processor. Each figure is
the median of fresh interpreters whose bytecode is there already. Handlers and limits take turns, so that a machine
that slows down slows them alike.
"""

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import getsource, isfunction, ismodule, unwrap
from pathlib import Path
from textwrap import dedent
from types import FunctionType
from typing import Any

from infra.grants import GRANTS

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1.1
"""Times the limit that a handler may take until its first table is there."""

PROBE = """
import json, sys, time

def spent(code):
    wall, cpu = time.perf_counter(), time.process_time()
    exec(code, {})
    return time.perf_counter() - wall, time.process_time() - cpu

heavy, *stages = json.loads(sys.argv[1])
took = [spent(stage) for stage in stages]
print(json.dumps([took, [name for name in heavy if name in sys.modules]]))
"""
REFERENCE = """
import boto3
boto3.client("dynamodb")
from aws_lambda_powertools import Logger, Metrics
Logger(service="bench")
Metrics(namespace="Bench", service="bench")
from pydantic import BaseModel
class Model(BaseModel):
    field: int
"""
EVENT_HANDLER = """
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
APIGatewayHttpResolver(enable_validation=True)
"""
BATCH_PROCESSOR = """
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
BatchProcessor(event_type=EventType.SQS)
"""
LIMITS = {
    "limit": REFERENCE,
    "limit of the API": REFERENCE + EVENT_HANDLER,
    "limit of the intake": REFERENCE + BATCH_PROCESSOR,
}
LIMIT_OF = {
    "functions.api.app": "limit of the API",
    "functions.api.verifying": "limit of the API",
    "functions.intake": "limit of the intake",
}
"""Those that need more of Powertools by the kind of their event."""
TABLE = "from functions.composition import stores\nstores.table()"
WITHOUT_TABLE = ("functions.sandbox",)
PARTS = {
    "functions.api.app": "work.intake('bench')",
    "functions.api.authorizer": "stores.tokens()",
    "functions.api.verifying": "work.intake('bench')",
    "functions.answers": "contexts.of_answers('bench')",
    "functions.answers.fail": "stores.answers()",
    "functions.audits": "contexts.of_audits('bench')",
    "functions.audits.weekly": "intakes.weekly_audits()",
    "functions.batch.collect": "work.batching('bench')",
    "functions.batch.lines": "work.line_work('bench', ended=print)",
    "functions.batch.prepare": "work.batching('bench')",
    "functions.drain": "work.drain()",
    "functions.intake": "contexts.of_answers('bench'); work.intake('bench', bulk=True)",
    "functions.oracle": "contexts.of_tasks('bench')",
    "functions.provider_batches.advance": "batching.batching('bench')\n"
    "from touchstone.operations.provider_batches import kinds; kinds.work_of('evaluation')",
    "functions.purge": "work.purging()",
    "functions.quizzes": "contexts.of_quizzes('bench')",
    "functions.sandbox": "",
    "functions.surfaces": "contexts.of_experiments('bench')",
    "functions.surfaces.measure": "contexts.of_measurements('bench')",
    "functions.sweep": "work.answer_sweep(); work.sweep()",
}
"""What the first call of a handler builds; a step that is not listed builds what its module's name stands for."""
COMPOSED = {path.stem for path in (ROOT / "functions" / "composition").glob("*.py")}
HEAVY = (
    "google.genai", "openai", "anthropic", "aiohttp", "httpx", "httpx2", "sympy", "mpmath", "math_verify",
    "latex2sympy2_extended", "pypinyin", "jinja2", "yaml", "rich", "typer", "numpy",
)  # fmt: skip
"""What is to be loaded on first use only."""
PLACES = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "TOUCHSTONE_TABLE": "bench",
    "TOUCHSTONE_IDEMPOTENCY_TABLE": "bench",
    "TOUCHSTONE_BUCKET": "bench",
    "TOUCHSTONE_DEFERRED_QUEUE_URL": "https://sqs.invalid/bench.fifo",
}
"""Nothing is called there: making a client opens no connection."""
SET_BY_US = ("AWS_", "TOUCHSTONE_", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Variables that no measured process inherits: a deployed function finds its bytecode there, whoever runs this."""


USE_CASES = "touchstone.operations"
"""The room whose functions a handler calls, and which are followed for what they import when they are called."""
BY_WHAT_IS_ASKED = ("functions.api.app", "functions.api.verifying", "touchstone.operations.provider_batches.kinds")
"""Modules whose functions import one of many, by the request or the record: they are not followed."""
COLUMNS = ("import", "+table", "+own", "+parts")
START = COLUMNS.index("+table")


@dataclass(frozen=True, slots=True)
class Start:
    """One process: the seconds (wall, CPU) of each stage, and what it loaded of `HEAVY` in all of them."""

    stages: tuple[tuple[float, float], ...]
    loaded: tuple[str, ...]

    def until(self, stage: int, *, kind: int) -> float:
        """Seconds until the end of a stage; `kind` 0 is wall, 1 CPU."""
        return sum(took[kind] for took in self.stages[: stage + 1])


def module_of(handler: str) -> str:
    """The module of a handler: `functions.sweep` is one itself, `functions.oracle.rank` is a function of one."""
    return handler if (ROOT / f"{handler.replace('.', '/')}.py").exists() else handler.rpartition(".")[0]


def function_of(handler: str) -> FunctionType:
    """The function of a handler, without its decorators."""
    module = module_of(handler)
    name = "handler" if module == handler else handler.rpartition(".")[2]
    function: FunctionType = unwrap(getattr(import_module(module), name))
    return function


def own_imports(handler: str) -> str:
    """What a handler's function and its use case import when they are called, in any of their branches."""
    module = module_of(handler)
    if module in BY_WHAT_IS_ASKED:
        return ""
    found = _imports_in(function_of(handler), rooms=(module, USE_CASES), seen=set())
    return "\n".join(dict.fromkeys(found))


def _imports_in(function: FunctionType, *, rooms: tuple[str, ...], seen: set[object]) -> Iterator[str]:
    """The imports inside a function, and inside the functions of the `rooms` that it names, whichever way it does."""
    seen.add(function)
    body = ast.parse(dedent(getsource(function)))
    local = function.__code__.co_varnames
    names = {name: one for name, one in function.__globals__.items() if name not in local}
    for one in ast.walk(body):
        if isinstance(one, ast.ImportFrom) and one.module is not None:
            yield ast.unparse(one)
            for name in one.names:
                names[name.asname or name.name] = _imported(one.module, name.name)
    for one in ast.walk(body):
        named: Any = None
        if isinstance(one, ast.Name):
            named = names.get(one.id)
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            named = getattr(names.get(one.value.id), one.attr, None) if ismodule(names.get(one.value.id)) else None
        named = unwrap(named) if callable(named) else None
        if not isfunction(named) or named in seen or named.__module__ in BY_WHAT_IS_ASKED:
            continue
        if named.__module__.startswith(rooms):
            yield from _imports_in(named, rooms=rooms, seen=seen)


def _imported(module: str, name: str) -> object:
    """What `from module import name` gives."""
    home = import_module(module)
    return getattr(home, name) if hasattr(home, name) else import_module(f"{module}.{name}")


def start(stages: Sequence[str], *, bytecode: str) -> Start:
    """Run the stages in a fresh interpreter, which finds and leaves its bytecode in the folder `bytecode`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SET_BY_US)}
    reply = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps([HEAVY, *stages])],
        cwd=ROOT,
        env=kept | PLACES | {"PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=False,
    )
    if reply.returncode != 0:
        raise SystemExit(f"A stage failed:\n{reply.stderr}")
    took, loaded = json.loads(reply.stdout.splitlines()[-1])
    return Start(tuple((wall, cpu) for wall, cpu in took), tuple(loaded))


def parts_of(handler: str) -> str:
    """What the first call of a handler builds before it begins to work."""
    parts = PARTS[handler] if handler in PARTS else PARTS[module_of(handler)]
    homes = sorted(set(re.findall(r"(\w+)\.\w+\(", parts)) & COMPOSED)
    return f"from functions.composition import {', '.join(homes)}\n{parts}" if homes else ""


def stages_of(handler: str) -> list[str]:
    """One stage for each of `COLUMNS`."""
    table = "" if handler in WITHOUT_TABLE else TABLE
    return [f"import {module_of(handler)}", table, own_imports(handler), parts_of(handler)]


def measured_starts(work: Mapping[str, Sequence[str]], *, rounds: int) -> dict[str, list[Start]]:
    """Start everything so many times, taking turns; a first turn, which writes the bytecode, does not count."""
    starts: dict[str, list[Start]] = {name: [] for name in work}
    with tempfile.TemporaryDirectory(prefix="bytecode-") as bytecode:
        for turn in range(rounds + 1):
            for name, stages in work.items():
                one = start(stages, bytecode=bytecode)
                if turn > 0:
                    starts[name].append(one)
    return starts


def median(starts: Sequence[Start], stage: int, *, kind: int) -> float:
    """The median over processes of the seconds until the end of a stage."""
    return statistics.median(one.until(stage, kind=kind) for one in starts)


def report(handler: str, starts: Sequence[Start], limits: Sequence[Start]) -> None:
    """One line: the shares of the limit that a handler takes, in CPU and wall, and what it loaded too early."""
    stages = range(len(COLUMNS))
    cpu, wall = (
        [median(starts, stage, kind=kind) / median(limits, 0, kind=kind) for stage in stages] for kind in (1, 0)
    )
    cells = " ".join(f"{share:>7.2f}" for share in (*cpu, *wall))
    verdict = "ok" if cpu[START] <= LIMIT else "OVER"
    print(f"{handler:<30} {cells}  {verdict:<5} {', '.join(starts[0].loaded) or 'nothing heavy'}")


def main() -> None:
    """Measure all, taking turns, and print a line for each handler."""
    parser = argparse.ArgumentParser(description="What handlers cost before their first answer, as shares of a limit.")
    parser.add_argument("handlers", nargs="*", metavar="HANDLER", help="names of handlers; all of them without any")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    work = {name: stages_of(name) for name in options.handlers or [*GRANTS, "functions.sandbox"]}
    work |= {name: [stage] for name, stage in LIMITS.items()}
    starts = measured_starts(work, rounds=options.rounds)
    limits = {name: starts.pop(name) for name in LIMITS}
    for name, measured in limits.items():
        cpu, wall = (1000 * median(measured, 0, kind=kind) for kind in (1, 0))
        print(f"{name}: {cpu:.0f} ms CPU, {wall:.0f} ms wall")
    columns = " ".join(f"{column:>7}" for column in COLUMNS)
    print(f"\n{'':<30} {'shares of the limit, CPU':^{len(columns)}} {'wall':^{len(columns)}}")
    print(f"{'handler':<30} {columns} {columns}  +table, loaded in all")
    for name, measured in starts.items():
        report(name, measured, limits[LIMIT_OF.get(name, "limit")])


if __name__ == "__main__":
    main()
