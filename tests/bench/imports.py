"""What a handler costs before its first answer: its import, and the first table, against the least that it could be.

    uv run python -m tests.bench.imports [HANDLER …] [--rounds N]

The limit is measured in the same run: a process that imports and makes a DynamoDB client, Powertools' Logger and
Metrics and one pydantic model; for the API its event handler too, for the intake its batch processor. Each figure is
the median of fresh interpreters whose bytecode is there already. Handlers and limits take turns, so that a machine
that slows down slows them alike.
"""

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
took, loaded = [], []
for place, stage in enumerate(stages):
    took.append(spent(stage))
    if place == 0:
        loaded = [name for name in heavy if name in sys.modules]
print(json.dumps([took, loaded]))
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
PARTS = {
    "functions.api.app": "work.intake('bench')",
    "functions.api.verifying": "work.intake('bench')",
    "functions.api.authorizer": "stores.tokens()",
    "functions.drain": "work.drain()",
    "functions.intake": "contexts.of_answers('bench'); work.intake('bench')",
    "functions.sweep": "work.answer_sweep()",
    "functions.batch.prepare": "work.batching('bench')",
    "functions.batch.lines": "work.line_work('bench', ended=print)",
    "functions.batch.collect": "work.batching('bench')",
}
"""What the first call of a handler builds; the steps of the machines, which are not listed, build a context."""
A_STEP = "contexts.of_answers('bench')"
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


@dataclass(frozen=True, slots=True)
class Start:
    """One process: the seconds (wall, CPU) of each stage, and what the first one loaded of `HEAVY`."""

    stages: tuple[tuple[float, float], ...]
    loaded: tuple[str, ...]

    def until(self, stage: int, *, kind: int) -> float:
        """Seconds until the end of a stage; `kind` 0 is wall, 1 CPU."""
        return sum(took[kind] for took in self.stages[: stage + 1])


def imported(handler: str) -> str:
    """What a handler imports: its module, and what the function itself begins with."""
    package, _, name = handler.rpartition(".")
    path = ROOT / f"{package.replace('.', '/')}.py"
    if not path.exists():
        return f"import {handler}"
    functions = (one for one in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(one, ast.FunctionDef))
    (function,) = (one for one in functions if one.name == name)
    own = (ast.unparse(one) for one in ast.walk(function) if isinstance(one, ast.ImportFrom))
    return "\n".join([f"import {package}", *own])


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


def stages_of(handler: str) -> list[str]:
    """Import, first table, and all that the first call builds."""
    parts = f"from functions.composition import contexts, stores, work\n{PARTS.get(handler, A_STEP)}"
    return [imported(handler), TABLE, parts]


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
    shares = [median(starts, stage, kind=kind) / median(limits, 0, kind=kind) for kind in (1, 0) for stage in range(3)]
    cells = " ".join(f"{share:>7.2f}" for share in shares)
    verdict = "ok" if shares[1] <= LIMIT else "OVER"
    print(f"{handler:<30} {cells}  {verdict:<5} {', '.join(starts[0].loaded) or 'nothing heavy'}")


def main() -> None:
    """Measure all, taking turns, and print a line for each handler."""
    parser = argparse.ArgumentParser(description="What handlers cost before their first answer, as shares of a limit.")
    parser.add_argument("handlers", nargs="*", metavar="HANDLER", help="module names; all of them without any")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    work = {name: stages_of(name) for name in options.handlers or [*GRANTS, "functions.sandbox"]}
    work |= {name: [stage] for name, stage in LIMITS.items()}
    starts = measured_starts(work, rounds=options.rounds)
    limits = {name: starts.pop(name) for name in LIMITS}
    for name, measured in limits.items():
        cpu, wall = (1000 * median(measured, 0, kind=kind) for kind in (1, 0))
        print(f"{name}: {cpu:.0f} ms CPU, {wall:.0f} ms wall")
    print(f"\n{'':<30} {'shares of the limit, CPU':^23} {'wall':^23}")
    print(f"{'handler':<30} {'import  +table  +parts  import  +table  +parts':<47}  to table, loaded at import")
    for name, measured in starts.items():
        report(name, measured, limits[LIMIT_OF.get(name, "limit")])


if __name__ == "__main__":
    main()
