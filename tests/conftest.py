"""What holds for every test run."""

import gc
import importlib
import secrets

import pytest
from hypothesis import HealthCheck, settings

MANY = 500
"""So many tests that they are a run of everything, or a process's share in one."""
HEAVY = ("anthropic", "google.genai", "openai", "sympy")

# How long an example takes, or is sought for, says how busy the machine is; tests of speed count processor time. The
# same examples each time: a run says something of the change, not of luck. `--hypothesis-profile=explore` seeks others,
# by a seed that the run prints (`--hypothesis-seed` repeats it).
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("touchstone", settings.get_profile("explore"), derandomize=True)
settings.load_profile("touchstone")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of an exploring run here, where it can be told."""
    if config.getoption("hypothesis_profile") == "explore" and config.getoption("hypothesis_seed") is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Tell the seed of an exploring run."""
    seed = config.getoption("hypothesis_seed")
    return None if seed is None else f"--hypothesis-seed={seed}"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load what takes seconds, and set what is loaded by now aside from garbage collection.

    Else whichever test meets it first pays for it, some of them within a limit of time; and a collection over thousands
    of tests takes longer than a check may, and falls into whichever one is at work.
    """
    if len(session.items) > MANY:
        for name in HEAVY:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Take Hypothesis' callback of the collector away, which sets its time apart from deadlines: there are none here.

    A check's time limit ends its thread by an exception, which may land in that callback.
    """
    gc.callbacks[:] = [each for each in gc.callbacks if not each.__module__.startswith("hypothesis.")]
