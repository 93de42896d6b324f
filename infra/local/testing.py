"""Every check and every test, in one go: style, types and imports beside tests without AWS, then the deployed stack.

Between the two the jobs of a judge are done by a real model, which takes one processor, while the clouds start on
another. Where paths are named, just the tests in them are run, with a cloud if one of them needs it.

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
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO

from infra.layers import ROOT
from infra.local import browser, emulator
from infra.local.emulator import CloudError
from infra.local.home import Home

CHECKS = ("pre-commit", "run", "--all-files", "--verbose")
"""Style, form, types and imports: the same hooks as before a commit (`.pre-commit-config.yaml`)."""
WITHOUT_CLOUD = ("tests/integration", "tests/unit")
"""What takes longest comes first, so that none of those who share the tests is left with it."""
REAL = ("tests/real",)
"""Jobs done by a real model, which takes all of a processor: in one process, without other tests beside it."""
WITH_CLOUD = ("tests/cloud",)
FILE_BY_FILE = ("--dist=loadfile", "--no-loadscope-reorder")
"""Each process is given file after file, in order, as what the tests of a file share is made once."""
MOST_PROCESSES = 8
"""Each must load everything first."""
SHARED = ("--numprocesses=logical", f"--maxprocesses={MOST_PROCESSES}", *FILE_BY_FILE)
"""One process a processor."""
MOST_CLOUDS = 2
"""Clouds side by side, each with a process of tests: a cloud is one process itself, and starts many."""
MEASURED = ("--cov", "--cov-append", "--cov-report=", "--cov-fail-under=0")
"""Counts lines, in whichever process; what is demanded of all runs together is told at the end."""
PAUSE_SECONDS, STOP_SECONDS = 0.2, 30.0
"""Between two looks at what runs side by side, and until what does not end is ended."""
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

    Returns the first exit code that is not 0, and goes no further then: what runs beside is ended.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it starts in the background ignore it
    paths = list(takewhile(lambda argument: not argument.startswith("-") and _within(argument, "tests"), arguments))
    options = arguments[len(paths) :]
    return _some(paths, options) if paths else _everything(options)


def _everything(options: Sequence[str]) -> int:
    _run([_tool("coverage"), "erase"])
    # One process more than processors: here and there a test waits, for a time limit or another process.
    count = min(MOST_PROCESSES, (os.cpu_count() or 1) + 1)
    if code := _checked(_tests(WITHOUT_CLOUD, [*MEASURED, f"--numprocesses={count}", *FILE_BY_FILE, *options])):
        return code
    with (
        _beside(_tests(REAL, [*MEASURED, *options]), _compiled()) as real,
        _browsed_clouds(_clouds_at_once()) as clouds,
    ):
        if code := real.wait() or _on(clouds, WITH_CLOUD, [*MEASURED, *options]):
            return code
    return _run([_tool("coverage"), "report"])


def _checked(tests: Sequence[str]) -> int:
    """Run tests beside the checks, most of whose time is that of one process; what fails first ends the others."""
    hooks = {**os.environ, "PRE_COMMIT_HOME": str(ROOT / ".build" / "pre-commit")}
    with tempfile.TemporaryFile() as said, _beside([_tool(CHECKS[0]), *CHECKS[1:]], hooks, said) as checks:
        with _beside(tests, _compiled()) as tested:
            while tested.poll() is None and not checks.poll():
                time.sleep(PAUSE_SECONDS)
        if tested.returncode and not checks.poll():
            return tested.returncode
        code = checks.wait()
        said.seek(0)
        print(said.read().decode(errors="replace"), end="", flush=True)
    if code:
        print("The checks found something to mend; no further test was run.", file=sys.stderr)
    return code


def _some(paths: Sequence[str], options: Sequence[str]) -> int:
    if not any(_within(path, WITH_CLOUD[0]) for path in paths):
        alone = any(_within(path, REAL[0]) for path in paths)
        return _run(_tests(paths, [*(() if alone else SHARED), *options]), _compiled())
    one_file = len(paths) == 1 and _place(paths[0]).is_file()
    return _with_clouds(paths, options, 1 if one_file else _clouds_at_once())


def _clouds_at_once() -> int:
    return min(MOST_CLOUDS, os.cpu_count() or 1)


def _with_clouds(paths: Sequence[str], options: Sequence[str], count: int) -> int:
    """Run tests with so many clouds and processes, which share the tests."""
    with _browsed_clouds(count) as clouds:
        return _on(clouds, paths, options)


def _on(clouds: Sequence[Mapping[str, str]], paths: Sequence[str], options: Sequence[str]) -> int:
    told = {**clouds[0], CLOUDS_VARIABLE: json.dumps(clouds)}
    shared = [f"--numprocesses={len(clouds)}", *FILE_BY_FILE] if len(clouds) > 1 else []
    return _run(_tests(paths, [*shared, *options]), {**_compiled(), **told})


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


def _tests(paths: Sequence[str], arguments: Sequence[str]) -> list[str]:
    return [_tool("pytest"), *paths, *arguments]


def _compiled() -> dict[str, str]:
    """An environment in which what is compiled is kept.

    Every process of the tests, and each command that one starts, would compile and rewrite all modules anew without.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


@contextmanager
def _beside(
    command: Sequence[str], environment: Mapping[str, str], said: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A command beside ours. If it still runs at the end, it is interrupted as by Ctrl-C, and what it left is ended.

    `said`: takes what it prints. None: it prints where we do.
    """
    together = None if said is None else subprocess.STDOUT
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=together, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=STOP_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _tool(name: str) -> str:
    """A command of the environment we run in."""
    return str(Path(sys.executable).with_name(name))


def _end(*_: object) -> None:
    """Leave by the ordinary way when told to stop, so that everything is torn down."""
    raise SystemExit(128 + signal.SIGTERM)
