"""Runs every check and every test: style, types and imports beside tests without AWS, then the deployed stack.

Beside the second stage, a real model does a judge's jobs, and every function is fed with hostile texts. If paths are
named, only the tests in them are run, with a cloud if one of them needs it.

The cloud tests get clouds of their own. Each is in a temporary folder and on a free port, with the stack deployed and
with a judge on loopback behind all three providers' base URLs. No process and no file of them is left behind.
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
"""The slowest tests come first, so that no process is left alone with them at the end."""
REAL = ("tests/real",)
"""Tests of jobs done by a real model: they run in one process, since it takes a whole processor."""
HOSTILE = ("tests/unit/test_hostile_text.py", "tests/unit/test_patterns.py")
"""Tests without a cloud that compute for minutes and wait for nothing, so they go well beside those that wait."""
WITH_CLOUD = ("tests/cloud",)
FILE_BY_FILE = ("--dist=loadfile", "--no-loadscope-reorder")
"""Each process gets whole files, in order, since the tests of a file share what they set up once."""
MOST_PROCESSES = 8
"""The limit is low because each process must first load everything."""
SHARED = ("--numprocesses=logical", f"--maxprocesses={MOST_PROCESSES}", *FILE_BY_FILE)
"""One process per processor."""
MOST_CLOUDS = 3
"""The most clouds in parallel, each with a process of tests: a cloud is a process itself, and starts many."""
MEASURED = ("--cov", "--cov-append", "--cov-report=", "--cov-fail-under=0")
"""Count lines in every process; the coverage required of these runs together is checked at the end."""
WHILE_OTHERS_WAIT = ("nice", "-n", "10")
"""Before a command: it gets a processor when others want none."""
PAUSE_SECONDS, STOP_SECONDS = 0.2, 30.0
"""The pause between two looks at parallel processes, and the time after which an unfinished one is killed."""
WAIT_SCALE_VARIABLE = "TOUCHSTONE_LOCAL_WAIT_SCALE"
"""A factor for the waits of state machines in the tests' clouds; 1 unless set."""
JUDGE_VARIABLE = "TOUCHSTONE_TEST_JUDGE"
"""The base URL of the judge on loopback, where tests arrange its replies."""
CLOUDS_VARIABLE = "TOUCHSTONE_TEST_CLOUDS"
"""The clouds of a run: a JSON list with the variables of each, one cloud for each process of tests."""
SCREENSHOTS_VARIABLE, SCREENSHOTS = "TOUCHSTONE_SCREENSHOTS", ROOT / ".build" / "screenshots"
"""The folder in which a picture of each page is kept, for people who want to see the pages."""
TEST_KEYS = {"GEMINI_API_KEY": "test-gemini", "OPENAI_API_KEY": "test-openai", "ANTHROPIC_API_KEY": "test-anthropic"}


def run(arguments: Sequence[str]) -> int:
    """Run everything, or the tests in the paths at the beginning of `arguments`; the other arguments go to pytest.

    Stop at the first exit code that is not 0, end the parallel processes, and return that code.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes its background processes ignore SIGINT
    paths = list(takewhile(lambda argument: not argument.startswith("-") and _within(argument, "tests"), arguments))
    options = arguments[len(paths) :]
    return _some(paths, options) if paths else _everything(options)


def _everything(options: Sequence[str]) -> int:
    _run([_tool("coverage"), "erase"])
    chromium = browser.install()  # the tests of the pages, with and without a cloud, look for a browser
    later = [f"--ignore={path}" for path in HOSTILE]
    shared = [f"--numprocesses={_at_once(MOST_PROCESSES)}", *FILE_BY_FILE]
    if code := _checked(_tests(WITHOUT_CLOUD, [*MEASURED, *later, *shared, *options])):
        return code
    # The tests with clouds mostly wait, so that there is a processor for these.
    with (
        _kept(_tests(REAL, options), _compiled()) as (real, said),
        _kept([*WHILE_OTHERS_WAIT, *_tests(HOSTILE, options)], _compiled()) as (hostile, said_too),
    ):
        with _clouds(_at_once(MOST_CLOUDS), chromium) as clouds:
            code = _ahead_of((real, hostile), *_on(clouds, WITH_CLOUD, [*MEASURED, *options]))
        _print(said, said_too)
    return code or _run([_tool("coverage"), "report"])


def _checked(tests: Sequence[str]) -> int:
    """Run tests beside the checks, which mostly use a single process. The first failure ends the other processes."""
    hooks = {**os.environ, "PRE_COMMIT_HOME": str(ROOT / ".build" / "pre-commit")}
    with _kept([_tool(CHECKS[0]), *CHECKS[1:]], hooks) as (checks, said):
        code = _ahead_of((checks,), tests, _compiled())
        if code and not checks.poll():
            return code
        _print(said)
    if code:
        print("The checks found something to mend; no further test was run.", file=sys.stderr)
    return code


def _ahead_of(behind: Sequence[subprocess.Popen[bytes]], command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command while others run behind it, and wait for all. The first failure ends the command."""
    with _beside(command, environment) as ahead:
        while ahead.poll() is None and not _failed(behind):
            time.sleep(PAUSE_SECONDS)
    if ahead.returncode and not _failed(behind):
        return ahead.returncode
    while not _failed(behind) and any(one.poll() is None for one in behind):
        time.sleep(PAUSE_SECONDS)
    return _failed(behind)


def _failed(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """The exit code of one that failed; 0 if none has so far."""
    return next(filter(None, (one.poll() for one in processes)), 0)


def _print(*said: IO[bytes]) -> None:
    for each in said:
        each.seek(0)
        print(each.read().decode(errors="replace"), end="", flush=True)


def _some(paths: Sequence[str], options: Sequence[str]) -> int:
    if not any(_within(path, WITH_CLOUD[0]) for path in paths):
        alone = any(_within(path, REAL[0]) for path in paths)
        return _run(_tests(paths, [*(() if alone else SHARED), *options]), _compiled())
    one_file = len(paths) == 1 and _place(paths[0]).is_file()
    return _with_clouds(paths, options, 1 if one_file else _at_once(MOST_CLOUDS))


def _at_once(most: int) -> int:
    """One more than there are processors: a test sometimes waits for a time limit or another process."""
    return min(most, (os.cpu_count() or 1) + 1)


def _with_clouds(paths: Sequence[str], options: Sequence[str], count: int) -> int:
    """Run tests with `count` clouds and as many processes, which share the tests."""
    with _clouds(count, browser.install()) as clouds:
        return _run(*_on(clouds, paths, options))


def _on(
    clouds: Sequence[Mapping[str, str]], paths: Sequence[str], options: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment for tests on these clouds."""
    told = {**clouds[0], CLOUDS_VARIABLE: json.dumps(clouds)}
    shared = [f"--numprocesses={len(clouds)}", *FILE_BY_FILE] if len(clouds) > 1 else []
    return _tests(paths, [*shared, *options]), {**_compiled(), **told}


def _within(path: str, folder: str) -> bool:
    """Whether a path holds tests of a folder: the path lies in the folder, or contains it."""
    named, held = _place(path), (ROOT / folder).resolve()
    return named.is_relative_to(held) or held.is_relative_to(named)


def _place(path: str) -> Path:
    """The file or folder of a path; the path may also name a test in a file."""
    return (ROOT / path.partition("::")[0]).resolve()


@contextmanager
def _clouds(count: int, chromium: str | None) -> Iterator[list[dict[str, str]]]:
    """Clouds with the stack deployed, and the path of the browser for their pages; None: there is no browser here."""
    seen = {browser.VARIABLE: chromium, SCREENSHOTS_VARIABLE: str(SCREENSHOTS)} if chromium else {}
    with ExitStack() as started:
        yield [{**started.enter_context(_cloud()), **seen} for _ in range(count)]


@contextmanager
def _cloud() -> Iterator[dict[str, str]]:
    """A cloud with the stack deployed; yields the variables with which tests reach it."""
    from infra.local import deployment
    from infra.local.ready import bring_up

    home = Home(Path(tempfile.mkdtemp(prefix="touchstone-test-")))
    try:
        with _judge() as judge:
            # Batches take hours, and no test of the deployed stack waits for one. No test may depend on chance either.
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
    """The judge on loopback, in a process of its own: the functions that ask it do not run in this process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.providers", "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
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
    """An environment in which compiled modules are kept.

    Otherwise every process of the tests, and each command that they start, would compile all modules anew.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


@contextmanager
def _kept(
    command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A command beside this process, as `_beside`, and the file that receives its output."""
    with tempfile.TemporaryFile() as said, _beside(command, environment, said) as process:
        yield process, said


@contextmanager
def _beside(
    command: Sequence[str], environment: Mapping[str, str], said: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A command beside this process. If it still runs at the end, it is interrupted as by Ctrl-C, then killed.

    `said` receives its output; if None, it prints to the output of this process.
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
    """The path of a command in the environment of this process."""
    return str(Path(sys.executable).with_name(name))


def _end(*_: object) -> None:
    """Exit in the ordinary way on a signal to stop, so that everything is torn down."""
    raise SystemExit(128 + signal.SIGTERM)
