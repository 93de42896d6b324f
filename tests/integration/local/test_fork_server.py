"""Functions' processes of the local cloud: forked from one that has loaded their layers, and like fresh ones else."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from infra.layers import ROOT
from infra.local import emulator, fork_server
from infra.local.home import Home
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks where there are handles of processes"),
    # The cloud outlives the object that stands for its process: `stop` ends it by its number.
    pytest.mark.filterwarnings("ignore:.*Popen.__del__:pytest.PytestUnraisableExceptionWarning"),
]

SITE = "python/lib/python3.13/site-packages/layer.pth"
SCRIPT = """
import json, os, sys
print(json.dumps({
    "parent": os.getppid(), "cwd": os.getcwd(), "own": os.environ.get("OWN"), "path": sys.path,
    "seen": "A_KEY_OF_THIS_MACHINE" in open("/proc/self/environ").read(), "loaded": "pydantic" in sys.modules,
    "ours": sorted(name for name in sys.modules if name.partition(".")[0] == "touchstone"),
    "name": __name__, "arguments": sys.argv,
}))
print("complaint", file=sys.stderr)
for line in sys.stdin:
    print(line.upper(), end="")
"""
HANDLER = """
import os, sys
from pathlib import Path

def handler(event, context):
    parent = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode()
    return {"parent": parent, "own": os.environ.get("OWN"), "pid": os.getpid()}
"""

READS = """
import importlib, os, sys
from infra.local.fork_server import OURS, _modules_of

class Watched(dict):
    def _note(self, variable):
        frame = sys._getframe(2)
        # Another library may read the environment while it is loaded; pydantic looks for its plugins for each model.
        while frame and not ("importlib" in frame.f_code.co_filename or variable == "PYDANTIC_DISABLE_PLUGINS"):
            if frame.f_globals["__name__"].partition(".")[0] == OURS:
                readers.add(f"{frame.f_globals['__name__']} reads {variable}")
            frame = frame.f_back

    def __getitem__(self, name):
        self._note(name)
        return dict.__getitem__(self, name)

    def get(self, name, default=None):
        self._note(name)
        return dict.get(self, name, default)

    def __contains__(self, name):
        self._note(name)
        return dict.__contains__(self, name)

    def __iter__(self):
        self._note("all")
        return dict.__iter__(self)

readers = set()
os.environ = Watched(os.environ)
for name in _modules_of(OURS):
    importlib.import_module(name)
print(sum(name.partition(".")[0] == OURS for name in sys.modules))
print(*sorted(readers), sep="\\n", end="")
"""


def _layer(folder: Path) -> bytes:
    """A layer that puts a folder on the path, as those of a deployment on a laptop do."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(SITE, f"import sys; sys.path.insert(0, {str(folder)!r})\n")
    return content.getvalue()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts the script as the emulator starts a worker, with a layer that holds a stand-in for a library."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "pydantic.py").touch()
    for module in ("__init__", "tables/__init__", "tables/units", "cli/__init__", "broken"):
        (library / "touchstone" / module).parent.mkdir(parents=True, exist_ok=True)
        (library / "touchstone" / module).with_suffix(".py").write_text("1 / 0" if module == "broken" else "")
    layer = tmp_path / "layer_0"
    layer.with_suffix(".zip").write_bytes(_layer(library))
    with zipfile.ZipFile(layer.with_suffix(".zip")) as archive:
        archive.extractall(layer)
    script = tmp_path / "worker.py"
    script.write_text(SCRIPT)
    started: list[subprocess.Popen[str]] = []

    def popen(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(*arguments, **options))
        return started[-1]

    servers = fork_server.ForkServers(popen)

    def worker(**environment: str) -> Any:
        variables = {fork_server.LAYERS_VARIABLE: str(layer), **environment}
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return servers.popen([sys.executable, str(script)], env=variables, cwd=str(tmp_path), text=True, **pipes)

    yield worker
    for each in servers.known():
        each.close()
    for process in started:
        assert process.wait(timeout=30) == 0, "it ends when nobody is there to ask"


def _said(process: Any) -> dict[str, Any]:
    return dict(json.loads(process.stdout.readline()))


def _ended(process: Any) -> None:
    assert process.wait(timeout=30) == 0
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_process_has_its_libraries_loaded_and_all_else_is_its_own(start: Any, tmp_path: Path) -> None:
    one, other = start(OWN="one"), start(OWN="other")
    said = [_said(one), _said(other)]
    assert [each["own"] for each in said] == ["one", "other"]
    assert [each["loaded"] for each in said] == [True, True]
    assert said[0]["parent"] == said[1]["parent"], "of the same layers it is the same fork server"
    assert said[0]["name"] == "__main__"
    assert said[0]["arguments"] == [str(tmp_path / "worker.py")]
    assert said[0]["cwd"] == str(tmp_path)
    assert not [each for each in said[0]["path"] if each.startswith(str(tmp_path))], "its layers it finds by itself"
    one.stdin.write("spoken\n")
    one.stdin.flush()
    assert one.stdout.readline() == "SPOKEN\n"
    assert one.stderr.readline() == "complaint\n"
    assert one.poll() is None
    one.stdin.close()
    _ended(one)
    other.terminate()
    _ended(other)


def test_our_library_is_loaded_whole_but_for_the_command_and_what_is_broken_is_left_to_the_function(start: Any) -> None:
    def all_loaded() -> bool:
        process = start()
        said = _said(process)
        process.stdin.close()
        _ended(process)
        return bool(said["ours"] == ["touchstone", "touchstone.tables", "touchstone.tables.units"])

    eventually(all_loaded, what="a fork server that has loaded everything")


def test_our_library_reads_no_environment_while_it_is_loaded() -> None:
    """A function's process gets its variables when the library is loaded already."""
    found = subprocess.run([sys.executable, "-c", READS], capture_output=True, text=True, check=True, cwd=ROOT)
    modules, *readers = found.stdout.splitlines()
    assert int(modules) > 300, "most modules were loaded"
    assert readers == []


def test_no_process_can_read_what_this_machine_keeps_in_its_environment(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY_OF_THIS_MACHINE", "a secret")
    process = start()
    assert _said(process)["seen"] is False
    process.stdin.close()
    _ended(process)


def test_what_is_too_large_to_be_sent_is_started_as_ever(start: Any) -> None:
    process = start(**{f"LARGE_{number}": "x" * 20_000 for number in range(8)})
    process.stdin.close()
    assert _said(process)["loaded"] is False
    process.wait(timeout=30)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_killed_process_is_seen_to_be_gone(start: Any) -> None:
    process = start()
    _said(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.01)
    process.kill()
    _ended(process)
    assert process.poll() == 0
    process.terminate()


def test_what_has_no_layers_is_started_as_ever() -> None:
    process = fork_server.ForkServers(subprocess.Popen).popen([sys.executable, "-c", ""], env={})
    assert isinstance(process, subprocess.Popen)
    assert process.wait() == 0


def test_the_cloud_forks_its_functions_and_one_that_is_changed_starts_anew(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    running = emulator.start(home)
    try:
        variables = home.credentials(running)
        make: Any = boto3.client

        def client(service: str) -> Any:
            return make(
                service,
                endpoint_url=running.endpoint,
                region_name=variables["AWS_REGION"],
                aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
                config=Config(retries={"total_max_attempts": 1}),
            )

        functions = client("lambda")
        role = client("iam").create_role(RoleName="any", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        layer = functions.publish_layer_version(LayerName="any", Content={"ZipFile": _layer(tmp_path)})
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("any.py", HANDLER)
        functions.create_function(
            FunctionName="any", Runtime="python3.13", Role=role, Handler="any.handler", Timeout=60,
            Code={"ZipFile": code.getvalue()}, Layers=[layer["LayerVersionArn"]],
            Environment={"Variables": {"OWN": "first"}},
        )  # fmt: skip

        def ran() -> dict[str, Any]:
            return dict(json.loads(functions.invoke(FunctionName="any")["Payload"].read()))

        first, again = ran(), ran()
        assert "fork_server.py" in first["parent"]
        assert (first["own"], again) == ("first", first)
        functions.update_function_configuration(FunctionName="any", Environment={"Variables": {"OWN": "second"}})
        second = eventually(lambda: found if (found := ran())["own"] == "second" else None, what="the change")
        assert second["pid"] != first["pid"]
    finally:
        emulator.stop(home)
    # It is killed with the cloud, and gone once the system has taken it away.
    eventually(lambda: not Path(f"/proc/{second['pid']}").exists(), what="the end of the function's process")
