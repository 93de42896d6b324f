"""What holds for every test run."""

import gc
import importlib
import os
import secrets
import signal
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

from tests.support import clocks
from touchstone import limits
from touchstone.clock import OFFSET_VARIABLE
from touchstone.judges.opening import Judges
from touchstone.operations.jobs.patience import PatientJudges

HERE = Path(__file__).parent
MANY = 500
"""So many tests that they are a run of everything, or a process's share in one."""
HEAVY = ("anthropic", "google.genai", "openai", "sympy")
LONGEST = (
    "unit/test_hostile_text.py",
    "integration/faults/test_matrix.py",
    "unit/infra/test_cost.py",
    "integration/api/browser/test_finding.py",
    "integration/records/test_reads.py",
    "integration/functions/audits/test_audit_crashes.py",
    "unit/audits/sandbox/test_forgeries.py",
    "unit/audits/sandbox/test_runner.py",
    "unit/test_site.py",
    "unit/test_patterns.py",
    "unit/checks/test_equivalence.py",
    "unit/checks/test_forms.py",
    "unit/surfaces/experiments/test_concluding.py",
)
"""Files that take longest are begun first, so that none of those who share the tests is left with one of them."""

# How long an example takes, or is sought for, says how busy the machine is; tests of speed count processor time. The
# same examples each time: a run says something of the change, not of luck. `--hypothesis-profile=explore` seeks others,
# by a seed that the run prints (`--hypothesis-seed` repeats it).
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("touchstone", settings.get_profile("explore"), derandomize=True)
settings.load_profile("touchstone")

# A runner of commands makes the tree of them anew each time, which is most of what a run of one in the process takes.
setattr(typer.testing, "_get_command", cache(typer.main.get_command))  # noqa: B010 - a private name of typer's

# A failed call is repeated after a random part of a second and more, of which none is the least: nobody waits for it
# here. How long it may be is tested with numbers that a test draws itself.
setattr(Judges.__init__, "__kwdefaults__", {**(Judges.__init__.__kwdefaults__ or {}), "draw": lambda: 0.0})  # noqa: B010

# Nobody waits for quota either: the clock goes ahead.
PatientJudges.sleep = staticmethod(clocks.wait)

# Work that is bounded by its own processor time is stopped on the clock of the wall too, after a multiple of that. On a
# machine that does other work beside, tests would see checks fall silent that need a few thousandths of a second.
limits.WALL_CLOCK_FACTOR = 100


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of an exploring run here, where it can be told, and take interrupts.

    A shell starts what runs in its background with interrupts ignored, and so would be what a test starts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("hypothesis_profile") == "explore" and config.getoption("hypothesis_seed") is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Tell the seed of an exploring run."""
    seed = config.getoption("hypothesis_seed")
    return None if seed is None else f"--hypothesis-seed={seed}"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect tests without collecting garbage: nearly all that is made then stays, and is looked through in vain.

    Processes that share a run of everything would each compile every module of tests in a fresh checkout. Each imports
    its part first, which leaves it compiled for the others.
    """
    gc.disable()
    try:
        if worker := getattr(session.config, "workerinput", None):
            import_part(session.config.args, int(worker["workerid"].removeprefix("gw")), int(worker["workercount"]))
        return (yield)
    finally:
        gc.enable()


def import_part(arguments: Sequence[str], number: int, count: int) -> None:
    """Import every `count`th module of tests in the folders among the arguments; collection tells what fails."""
    folders = [folder for argument in arguments if (folder := Path(argument).resolve()).is_relative_to(HERE)]
    found = sorted(path for folder in folders for path in folder.rglob("test_*.py"))
    for path in found[number::count]:
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; all others follow in their order."""
    first = {HERE / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path, len(first)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load what takes seconds, and set what is loaded by now aside from garbage collection.

    Else whichever test meets it first pays for it, some of them within a limit of time; and a collection over thousands
    of tests takes longer than a check may, and falls into whichever one is at work. From then on garbage is collected
    rarely: little of what tests make is garbage of that kind, and looking for it took a tenth of their time.
    """
    if len(session.items) > MANY:
        for name in HEAVY:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_runtest_setup() -> None:
    """Let a provider's midnight pass, and take Hypothesis' callback of the collector away.

    The callback sets its time apart from deadlines, which there are none of here; and a check's time limit ends its
    thread by an exception, which may land in that callback.
    """
    if seconds := clocks.seconds_to_quiet(datetime.now(UTC)):  # also a sleep of none lets others have the processor
        time.sleep(seconds)
    gc.callbacks[:] = [each for each in gc.callbacks if not each.__module__.startswith("hypothesis.")]


@pytest.fixture(autouse=True)
def _clock_as_it_was() -> Iterator[None]:
    """Put the functions' clock back where the test found it."""
    before = os.environ.get(OFFSET_VARIABLE)
    yield
    if before is None:
        os.environ.pop(OFFSET_VARIABLE, None)
    else:
        os.environ[OFFSET_VARIABLE] = before
