"""A tiny library that is really installed, and the real sandbox."""

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.proving import Prove
from tests.support.wheels import make_wheels
from touchstone.audits.bundles import Bundle, Bundles, Target
from touchstone.audits.sandbox.bubblewrap import Sandbox, open_sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, Limits
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.result import ProofResult
from touchstone.audits.sandbox.watching import process_tree

PR_SET_CHILD_SUBREAPER = 36
PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Bundles:
    return Bundles(tmp_path_factory.mktemp("bundles"), wheels=wheels)


@pytest.fixture(scope="session")
def bundle(bundles: Bundles) -> Bundle:
    return bundles.build(Target(requirement="tinylib==1.0"))


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return open_sandbox()


@pytest.fixture
def proof(bundle: Bundle, sandbox: Sandbox) -> Prove:
    """Runs a script in the sandbox with tinylib 1.0."""

    def run(script: str, limits: Limits = DEFAULT_LIMITS) -> ProofResult:
        return prove(script, bundle, sandbox=sandbox, limits=limits)

    return run


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails a test after which a process is left that it started, however that hid.

    What loses its parent becomes a child of this process meanwhile.
    """
    adopt = ctypes.CDLL(None).prctl
    adopt(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = set(process_tree(os.getpid()))
    try:
        yield
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (left := _alive(before)) and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        adopt(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    assert left == set()


def _alive(before: set[int]) -> set[int]:
    started = set(process_tree(os.getpid())) - before
    for process in list(started):
        with suppress(ChildProcessError):
            if os.waitpid(process, os.WNOHANG)[0] == process:
                started.discard(process)
    return started
