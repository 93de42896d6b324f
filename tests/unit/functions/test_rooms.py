"""What a function imports: nothing of a job at its start, and for its call nothing of another job.

`python -m tests.bench.imports` measures the same imports. Here they are counted, in a process without any module of
ours that is forked for each handler.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.bench.imports import HEAVY, PLACES, stages_of
from tests.support.handlers import HANDLERS
from touchstone.judges.batches.record import BatchedKind

LOADED = """
import gc, json, os, sys
gc.disable()
import boto3, pydantic
from aws_lambda_powertools import Logger, Metrics
boto3.client("dynamodb")

def run(name, stages):
    loaded = []
    for stage in stages:
        exec(stage, {})
        loaded.append(list(sys.modules))
    os.write(1, (json.dumps([name, loaded]) + "\\n").encode())

for name, stages in json.load(sys.stdin).items():
    if (child := os.fork()) == 0:
        run(name, stages)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""
NAMES = {"touchstone.surfaces", "touchstone.surfaces.names"}
"""Names of metrics, which the references of a step are checked against."""
JOBS = frozenset({"answers", "audits", "oracle", "quizzes", "surfaces"})
JOB_OF = {"tasks": "oracle"}
"""The job of a package of `touchstone.operations` that has another name than the job."""
OF_ALL_JOBS = frozenset({"functions.sweep", "functions.purge"})
"""They look after the records of all jobs."""
JOB_OF_MODULE = {
    "functions.answers": "answers",
    "functions.api": "answers",
    "functions.audits": "audits",
    "functions.batch": "answers",
    "functions.drain": "answers",
    "functions.intake": "answers",
    "functions.oracle": "oracle",
    "functions.provider_batches": "answers",
    "functions.quizzes": "quizzes",
    "functions.sandbox": "audits",
    "functions.surfaces": "surfaces",
}
"""The job of each function. The API, files and a batch at a provider are of many jobs; measured is what they need for
answers."""
ASK_NOBODY = (
    "functions.answers.fail",
    "functions.audits.conclude",
    "functions.audits.install",
    "functions.audits.prepare",
    "functions.audits.weekly",
    "functions.batch.prepare",
    "functions.oracle.close",
    "functions.oracle.decide",
    "functions.oracle.finalise",
    "functions.oracle.rank",
    "functions.quizzes.finish",
    "functions.quizzes.retrieve",
    "functions.quizzes.validate",
    "functions.quizzes.weakness",
)
"""The steps that ask no judge."""
ASKING = {
    "touchstone.budgets.quotas",
    "touchstone.judges.model_judge",
    "touchstone.judges.caller",
    "touchstone.judges.opening",
}
BY_BATCHES: dict[BatchedKind, str] = {
    "evaluation": "answers",
    "verification": "answers",
    "measurement": "surfaces",
    "experiment": "surfaces",
    "audit": "audits",
    "scoring": "oracle",
}
"""The job of each kind of batch."""

type Loads = dict[str, list[set[str]]]
"""The modules that a process has loaded after each stage, by the name of what was run."""


def run(work: dict[str, list[str]]) -> Loads:
    given = os.environ | PLACES | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], input=json.dumps(work), env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    return {name: [set(modules) for modules in loaded] for name, loaded in lines}


@pytest.fixture(scope="module")
def loads() -> Loads:
    """What each handler loads, stage by stage."""
    return run({name: stages_of(name) for name in HANDLERS})


def jobs_of(modules: set[str]) -> set[str]:
    """The jobs of which something is loaded, be it the job's own room or what a deployment does with it."""
    found = set()
    for module in modules:
        match module.split("."):
            case ["touchstone", "operations", room, *_]:
                found.add(JOB_OF.get(room, room))
            case ["touchstone", room, *_]:
                found.add(room)
            case _:
                pass
    return found & JOBS


def test_a_start_loads_nothing_of_a_job_and_nothing_heavy(loads: Loads) -> None:
    started = {name: stages[1] for name, stages in loads.items()}
    assert len(started) == len(HANDLERS)
    found = {name: jobs_of(modules - NAMES) for name, modules in started.items()}
    assert found.pop("functions.sandbox") == {"audits"}, "it runs proofs, and has no table"
    assert {name: jobs for name, jobs in found.items() if jobs} == {}
    assert {name: set(HEAVY) & modules for name, modules in started.items() if set(HEAVY) & modules} == {}


@pytest.mark.parametrize("name", [name for name in HANDLERS if name not in OF_ALL_JOBS])
def test_a_call_loads_nothing_of_another_job(loads: Loads, name: str) -> None:
    (own,) = {job for module, job in JOB_OF_MODULE.items() if f"{name}.".startswith(f"{module}.")}
    assert jobs_of(loads[name][-1]) <= {own}


def test_a_call_loads_no_sdk_no_algebra_and_no_templates_before_it_works(loads: Loads) -> None:
    found = {name: sorted(set(HEAVY) & stages[-1]) for name, stages in loads.items()}
    assert {name: heavy for name, heavy in found.items() if heavy} == {}


@pytest.mark.parametrize("name", ASK_NOBODY)
def test_a_step_that_asks_nobody_loads_nothing_that_asks(loads: Loads, name: str) -> None:
    assert ASKING & loads[name][-1] == set()


def test_a_batch_at_a_provider_loads_the_job_of_its_kind_alone() -> None:
    module = "touchstone.operations.provider_batches"
    begin = f"from {module} import advancing, kinds\n"
    found = run({kind: [begin, f"{begin}kinds.work_of({kind!r})"] for kind in BY_BATCHES})
    assert {kind: jobs_of(stages[0]) for kind, stages in found.items()} == {kind: set() for kind in BY_BATCHES}
    assert {kind: jobs_of(stages[1]) for kind, stages in found.items()} == {
        kind: {job} for kind, job in BY_BATCHES.items()
    }


def test_a_job_that_does_not_wait_loads_nothing_of_providers_batches(loads: Loads) -> None:
    waiting = ("functions.provider_batches", "functions.drain", "functions.batch")
    found = {
        name: [one for one in stages[-1] if one.startswith("touchstone.operations.provider_batches")]
        for name, stages in loads.items()
        if not name.startswith(waiting)
    }
    assert {name: modules for name, modules in found.items() if modules} == {}
