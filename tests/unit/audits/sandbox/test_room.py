"""A room that runs proofs for others: what it fetches, keeps, looks at again, and removes."""

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from touchstone.audits.bundles import Bundle
from touchstone.audits.bundles.archive import pack
from touchstone.audits.sandbox.bubblewrap import Filtered, Sandbox
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.sandbox.room import CUT, KEPT_CHARS, ProofAnswer, ProofOrder, ProofRunner
from touchstone.errors import StoreError

pytestmark = pytest.mark.usefixtures("nothing_left")
HOLDS = "import tinylib\ntinylib.Box(1)"


@dataclass
class Store:
    """A store on loopback. `fetched` counts how often the bundle was asked for."""

    url: str
    sha256: str
    fetched: list[str]

    def order(self, script: str | None, **changes: object) -> ProofOrder:
        fields = {"url": self.url, "sha256": self.sha256, "script": script, "limits": Limits(cpu_seconds=2)}
        return ProofOrder.model_validate(fields | changes)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, bundle: Bundle) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    sha256 = pack(bundle, folder / "b.tar.gz")
    fetched: list[str] = []

    class Files(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *said: object) -> None:  # noqa: ARG002 - the base class calls it so
            fetched.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Store(url=f"http://127.0.0.1:{server.server_port}/b.tar.gz", sha256=sha256, fetched=fetched)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def room(tmp_path: Path) -> ProofRunner:
    """A room as in an account: proofs can write to its folder."""
    return ProofRunner(folder=tmp_path / "target", sandbox=Filtered(), shared=tmp_path)


def outcome(answer: ProofAnswer) -> str:
    assert answer.result is not None, answer
    return answer.result.outcome


def test_a_proof_comes_to_what_it_does_elsewhere_and_the_bundle_is_fetched_once(
    room: ProofRunner, store: Store
) -> None:
    before = len(store.fetched)
    assert outcome(room.run(store.order(HOLDS))) == "holds"
    assert outcome(room.run(store.order("import tinylib\ntinylib.Chest"))) == "refuted"
    assert room.run(store.order(None)) == ProofAnswer()
    assert len(store.fetched) == before + 1


def test_what_a_proof_wrote_is_gone_whatever_rights_it_left(room: ProofRunner, store: Store, tmp_path: Path) -> None:
    script = f"""
import os, tinylib
os.makedirs({str(tmp_path / "left" / "deep")!r})
open({str(tmp_path / "left" / "deep" / "note")!r}, "w").write("for the next one")
os.symlink("/etc", {str(tmp_path / "link")!r})
os.chmod({str(tmp_path / "left" / "deep")!r}, 0)
os.chmod({str(tmp_path / "left")!r}, 0)
tinylib.Box(1)
"""
    assert outcome(room.run(store.order(script))) == "holds"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    assert Path("/etc/passwd").exists()


@pytest.mark.parametrize(
    "change",
    [
        "open(path + '/site/tinylib/__init__.py', 'a').write('class Chest: pass')",
        "open(path + '/site/sitecustomize.py', 'w').write('raise SystemExit')",
        "os.rename(path + '/site/tinylib/boxes.py', path + '/site/tinylib/b.py')",
        "os.rename(path, path + '-away')",
    ],
)
def test_a_bundle_that_a_proof_touched_is_fetched_anew(room: ProofRunner, store: Store, change: str) -> None:
    room.run(store.order(None))
    before = len(store.fetched)
    room.run(store.order(f"import os, tinylib\npath = {str(room.folder)!r}\n{change}\ntinylib.Box(1)"))
    assert outcome(room.run(store.order("import tinylib\ntinylib.Chest"))) == "refuted"
    assert outcome(room.run(store.order(HOLDS))) == "holds"
    assert len(store.fetched) == before + 1


def test_output_is_cut_so_that_a_reply_carries_it(room: ProofRunner, store: Store) -> None:
    answer = room.run(store.order("import tinylib\nprint('first' + 'x' * 500_000 + 'last')\ntinylib.Box(1)"))
    assert answer.result is not None
    text = answer.result.stdout
    assert (len(text) <= KEPT_CHARS, CUT in text, answer.result.stdout_cut) == (True, True, True)
    assert text.startswith("first")
    assert text.endswith("last\n")


def test_in_bubblewrap_nothing_of_this_machine_is_removed(sandbox: Sandbox, store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    room = ProofRunner(folder=tmp_path / "target", sandbox=sandbox, shared=None)
    assert outcome(room.run(store.order(HOLDS))) == "holds"
    assert (tmp_path / "mine").read_text() == "kept"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sha256": "0" * 64}, "not the one that was named"),
        ({"url": "http://127.0.0.1:1/b.tar.gz"}, r"could not be fetched \(URLError\)"),
    ],
)
def test_a_bundle_that_cannot_be_had_says_nothing_of_the_script(
    room: ProofRunner, store: Store, changes: dict[str, str], sentence: str
) -> None:
    with pytest.raises(StoreError, match=sentence):
        room.run(store.order(HOLDS, **changes))


@pytest.mark.parametrize(
    ("script", "changes", "sentence"),
    [("\0", {}, "U+0000"), ("", {"url": "file:///etc/passwd"}, "no web address")],
)
def test_what_cannot_be_run_is_refused(
    room: ProofRunner, store: Store, script: str, changes: dict[str, str], sentence: str
) -> None:
    answer = room.run(store.order(script, **changes))
    assert answer.result is None
    assert sentence in (answer.refused or "")
