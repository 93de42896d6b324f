"""Every check and every test, in one go: style, types and imports, then tests without AWS, then the deployed stack.

Between the two the jobs of a judge are done by a real model, by itself, as it takes a whole processor.
Where paths are named, just the tests in them are run, with a cloud if one of them needs it.

The cloud tests get clouds of their own, each in a temporary folder and on a free port, with the stack deployed into it
and a judge on loopback behind all three providers' base URLs. Nothing of them, process or file, is left behind.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from pathlib import Path

from infra.layers import ROOT
from infra.local import browser, emulator
from infra.local.emulator import CloudError
from infra.local.home import Home

CHECKS = ("pre-commit", "run", "--all-files", "--verbose")
"""Style, form, types and imports: the same hooks as before a commit (`.pre-commit-config.yaml`)."""
WITHOUT_CLOUD = ("tests/integration", "tests/unit")
"""What takes longest comes first, so that none of those who share the tests is left with it."""
REAL = ("tests/real",)
"""Jobs done by a real model, which takes all of a processor: by themselves, in one process."""
WITH_CLOUD = ("tests/cloud",)
FILE_BY_FILE = ("--dist=loadfile", "--no-loadscope-reorder")
"""Each process is given file after file, in order, as what the tests of a file share is made once."""
SHARED = ("--numprocesses=logical", "--maxprocesses=8", *FILE_BY_FILE)
"""One process a processor; no more than eight, since each must load everything first."""
MOST_CLOUDS = 2
"""Clouds side by side, each with a process of tests: a cloud is one process itself, and starts many."""
MEASURED = ("--cov", "--cov-append", "--cov-report=", "--cov-fail-under=0")
"""Counts lines, in whichever process; what is demanded of all runs together is told at the end."""
WAIT_SCALE_VARIABLE = "TOUCHSTONE_LOCAL_WAIT_SCALE"
"""Multiplies the waits of state machines in the cloud of the tests; 1 unless set."""
JUDGE_VARIABLE = "TOUCHSTONE_TEST_JUDGE"
"""The base URL of the judge on loopback, where tests arrange what it answers."""
CLOUDS_VARIABLE = "TOUCHSTONE_TEST_CLOUDS"
"""The clouds of a run, a JSON list with the variables of each, one for each process of tests."""
SCREENSHOTS_VARIABLE, SCREENSHOTS = "TOUCHSTONE_SCREENSHOTS", ROOT / ".build" / "screenshots"
"""Where a picture of each page is kept, for whoever wants to see what the browser saw."""
TEST_KEYS = {"GEMINI_API_KEY": "test-gemini", "OPENAI_API_KEY": "test-openai", "ANTHROPIC_API_KEY": "test-anthropic"}


def run(arguments: Sequence[str]) -> int:
    """Run everything, or the tests in the paths that `arguments` begin with; the others go to pytest.

    Returns the first exit code that is not 0, and goes no further then.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it starts in the background ignore it
    paths = list(takewhile(lambda argument: not argument.startswith("-") and _within(argument, "tests"), arguments))
    options = arguments[len(paths) :]
    return _some(paths, options) if paths else _everything(options)


def _everything(options: Sequence[str]) -> int:
    hooks = {**os.environ, "PRE_COMMIT_HOME": str(ROOT / ".build" / "pre-commit")}
    if code := _run([_tool(CHECKS[0]), *CHECKS[1:]], hooks):
        print("The checks found something to mend; no test was run.", file=sys.stderr)
        return code
    _run([_tool("coverage"), "erase"])
    if code := _pytest(WITHOUT_CLOUD, [*MEASURED, *SHARED, *options], {}):
        return code
    if code := _pytest(REAL, [*MEASURED, *options], {}):
        return code
    if code := _with_clouds(WITH_CLOUD, [*MEASURED, *options], _clouds_at_once()):
        return code
    return _run([_tool("coverage"), "report"])


def _some(paths: Sequence[str], options: Sequence[str]) -> int:
    if not any(_within(path, WITH_CLOUD[0]) for path in paths):
        alone = any(_within(path, REAL[0]) for path in paths)
        return _pytest(paths, [*(() if alone else SHARED), *options], {})
    one_file = len(paths) == 1 and _place(paths[0]).is_file()
    return _with_clouds(paths, options, 1 if one_file else _clouds_at_once())


def _clouds_at_once() -> int:
    return min(MOST_CLOUDS, os.cpu_count() or 1)


def _with_clouds(paths: Sequence[str], options: Sequence[str], count: int) -> int:
    """Run tests with so many clouds and processes, which share the tests."""
    with _browsed_clouds(count) as clouds:
        told = {**clouds[0], CLOUDS_VARIABLE: json.dumps(clouds)}
        shared = [f"--numprocesses={count}", *FILE_BY_FILE] if count > 1 else []
        return _pytest(paths, [*shared, *options], told)


def _within(path: str, folder: str) -> bool:
    """Whether a path has tests of a folder: it lies in it, or holds it."""
    named, held = _place(path), (ROOT / folder).resolve()
    return named.is_relative_to(held) or held.is_relative_to(named)


def _place(path: str) -> Path:
    """The file or folder of a path that may name a test in it."""
    return (ROOT / path.partition("::")[0]).resolve()


@contextmanager
def _browsed_clouds(count: int) -> Iterator[list[dict[str, str]]]:
    """Clouds with the stack in them, and a browser that looks at them, where one can be had."""
    chromium = browser.install()
    seen = {browser.VARIABLE: chromium, SCREENSHOTS_VARIABLE: str(SCREENSHOTS)} if chromium else {}
    with ExitStack() as started:
        yield [{**started.enter_context(_cloud()), **seen} for _ in range(count)]


@contextmanager
def _cloud() -> Iterator[dict[str, str]]:
    """A cloud with the stack in it; yields the variables by which tests reach it."""
    from infra.local import deployment
    from infra.local.ready import bring_up

    home = Home(Path(tempfile.mkdtemp(prefix="touchstone-test-")))
    try:
        with _judge() as judge:
            # What waits for a batch waits for hours, and no test of the deployed stack does; nor is one left to chance.
            settings = {"TOUCHSTONE_BATCHES": "off", "TOUCHSTONE_EXPLORE_SHARE": "0"}
            os.environ.update({**_base_urls(judge), **TEST_KEYS, **settings})
            ready = bring_up(home, wait_scale=os.environ.get(WAIT_SCALE_VARIABLE, "1"), kept=False)
            yield {
                **home.credentials(ready.running),
                "TOUCHSTONE_STACK": deployment.STACK_NAME,
                "TOUCHSTONE_API_URL": ready.api_url,
                "TOUCHSTONE_TOKEN": ready.token,
                JUDGE_VARIABLE: judge,
            }
    finally:
        emulator.stop(home)
        shutil.rmtree(home.folder, ignore_errors=True)


@contextmanager
def _judge() -> Iterator[str]:
    """The judge on loopback as a process of its own, since the functions that ask it are not in ours."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.providers", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().strip() if process.stdout else ""
        if not url:
            raise CloudError("The judge of the tests did not start; `python -m tests.support.providers` says why.")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


def _base_urls(judge: str) -> dict[str, str]:
    return {
        "GOOGLE_GEMINI_BASE_URL": judge,
        "OPENAI_BASE_URL": f"{judge}/v1",
        "ANTHROPIC_BASE_URL": judge,
    }


def _pytest(folders: Sequence[str], arguments: Sequence[str], variables: dict[str, str]) -> int:
    # Every process of the tests, and each command that one starts, would compile and rewrite all modules anew without.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return _run([_tool("pytest"), *folders, *arguments], {**compiled, **variables})


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _tool(name: str) -> str:
    """A command of the environment we run in."""
    return str(Path(sys.executable).with_name(name))


def _end(*_: object) -> None:
    """Leave by the ordinary way when told to stop, so that everything is torn down."""
    raise SystemExit(128 + signal.SIGTERM)
