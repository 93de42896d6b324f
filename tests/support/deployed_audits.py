"""What the tests of deployed audits share: a benchmark about a library that is really installed, and its agent."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from functions import sandbox
from functions.composition.contexts import workflows
from tests.support.agents import called, concluded, proved
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Deployment
from tests.support.enforcement import elsewhere
from tests.support.lambdas import Lambdas
from tests.support.providers import ProviderServer, error
from tests.support.wheels import make_wheels
from tests.support.wire import Asked, Behaviour, Kind
from touchstone.audits.bundles import Bundles
from touchstone.audits.report import read_report
from touchstone.audits.sandbox import prove
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.running import Run, run

WEEK = 7 * 24 * 3600
STALLED = 60 * 60
MOST_MINUTES = 6
TURNS = 13
"""Three a case, and one more where the agent would end without a proof of an option."""
SCRIPT = "import tinylib\ntinylib.Box(1, {}=2)\n"
BENCHMARK = """
benchmarks:
  - {id: valid, question: What does a box of valid take?, options: {A: lid, B: hinge}, correct_answer: A}
  - {id: incorrect, question: What does a box of incorrect take?, options: {A: lid, B: hinge}, correct_answer: B}
  - {id: both, question: What does a box of both take?, options: {A: lid, B: width}, correct_answer: A}
  - {id: hidden, question: What does a box of hidden take?, options: {A: lid, B: girth}, correct_answer: A}
"""
SCRIPTS = {
    "both": {"A": SCRIPT.format("lid"), "B": "import tinylib\ntinylib.Box(width=1)\n"},
    "hidden": {"A": "print('nothing of the library')\n", "B": SCRIPT.format("girth")},
}
RATINGS = {"valid": "Valid", "incorrect": "Incorrect", "both": "Ambiguous", "hidden": "Unproven"}


ONE = {
    "id": "valid",
    "question": "What does a box of valid take?",
    "options": {"A": "lid", "B": "hinge"},
    "correct_answer": "A",
}
ONE_FILE = [{"name": "one.json", "text": json.dumps(ONE)}]


class Agent:
    """Proves the options of any case, a turn each, and claims B whatever came of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing: Kind | None = None

    def answer(self, asked: Asked) -> Behaviour:
        self.asked.append(asked.prompt)
        if self.failing:
            return error(self.failing)
        name = asked.prompt.partition("a box of ")[2].partition(" take?")[0]
        scripts = SCRIPTS.get(name) or {"A": SCRIPT.format("lid"), "B": SCRIPT.format("hinge")}
        turns = [called(*proved(label, script)) for label, script in scripts.items()]
        return Behaviour(by_turn=(*turns, concluded("B", critique=f"Seen: {name}.")))


def request(**changes: Any) -> dict[str, Any]:
    files = [{"name": "bench.yaml", "text": BENCHMARK}]
    return {"target": {"requirement": "tinylib==1.0"}, "files": files} | changes


def begun(demo: Api, **changes: Any) -> str:
    """The address of an audit that came as far as it comes: full minutes of the provider's were waited for."""
    made = demo.post("/v1/audits", request(**changes))
    assert made.status == 202, made.body
    settled()
    return made.location


def settled() -> None:
    for _ in range(MOST_MINUTES):
        if not (asleep := workflows().sfn.asleep):  # type: ignore[attr-defined] # the double's
            return
        later(61)
        for name in list(asleep):
            workflows().sfn.wake(name)  # type: ignore[attr-defined]


def ratings(demo: Api, path: str) -> dict[str, str]:
    found = read_report(demo.get(f"{path}/report", format="json").body.encode(), name="r")
    return {one.case.id: one.quality_rating for one in found.cases}


@pytest.fixture
def agent(judges: ProviderServer) -> Agent:
    agent = Agent()
    judges.reset()
    judges.script(agent.answer)
    return agent


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def lambdas(judged: Deployment, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambdas]:
    """The sandbox function, which reaches the store by nothing but its links."""
    with sandboxed(judged, wheels, monkeypatch) as double:
        yield double


@contextmanager
def sandboxed(here: Deployment, wheels: Path, patch: pytest.MonkeyPatch) -> Iterator[Lambdas]:
    """The sandbox function of a deployment, which installs from these wheels.

    What is installed once for these wheels is kept beside them, and what was run once is not run again.
    """
    double = Lambdas(sandbox.handler)
    patch.setenv(sandbox.VARIABLE, "bubblewrap")
    patch.setattr("touchstone.workflows.sandbox.client", lambda: double)
    patch.setattr(
        "touchstone.audits.bundles.Bundles",
        lambda _, *, seconds: Bundles(wheels / "bundles", wheels=wheels, seconds=seconds),
    )
    patch.setattr(prove, "run", _run_once)

    def fetched(url: str, **_: Any) -> io.BytesIO:
        assert "Signature=" in url
        key = unquote(urlsplit(url).path).lstrip("/").removeprefix(f"{BUCKET}/")
        with elsewhere():  # a link has the rights of whoever made it
            return io.BytesIO(here.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    patch.setattr("urllib.request.urlopen", fetched)
    sandbox._room.cache_clear()
    yield double
    sandbox._room.cache_clear()


_ran: dict[str, Run] = {}
"""What scripts came to in the real sandbox, by all that decides it."""


def _run_once(script: str, *, site: Path | None, sandbox: Sandbox, **how: Any) -> Run:
    """In place of `run`: a script runs the first time that it meets a target, and would come to the same again.

    A run that met a bound is not remembered: on a busy machine it may come to something else than the script does.
    """
    lock = None if site is None else (site.parent / "lock.txt").read_text("utf-8")
    decisive = repr((script, lock, sorted(how.items())))
    ran = _ran.get(decisive) or run(script, site=site, sandbox=sandbox, **how)
    if ran.breach is None:
        _ran[decisive] = ran
    return ran


@pytest.fixture
def demo(judged: Deployment, agent: Agent, lambdas: Lambdas) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))
