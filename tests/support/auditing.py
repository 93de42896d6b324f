"""Audits of a deployed stack: cases about a library really installed, and an agent that claims the same of all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.agents import called, concluded, proved
from tests.support.callers import Caller
from tests.support.cloud import Cloud
from tests.support.overrides import registry
from tests.support.waiting import eventually
from tests.support.wire import Behaviour
from touchstone.judges import load_registry

ROOMY = {"per_day": 1_000_000, "per_minute": 1_000_000}
TAKES = "import tinylib\ntinylib.Box(1, {}=2)\n"
HAS = "import tinylib\ntinylib.{}\n"
LIES = "print('proved, on my word')\n"
ENDLESS = "import tinylib\nwhile True: pass\n"
BROKEN = "import tinylib\ntinylib.Box(undefined)\n"
CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "lid": ({"A": TAKES.format("lid"), "B": TAKES.format("hinge")}, "A", "Valid"),
    "crate": ({"A": HAS.format("Crate"), "B": HAS.format("Chest")}, "A", "Valid"),
    "shape": ({"A": HAS.format("Shape.SQUARE"), "B": HAS.format("Shape.ROUND")}, "B", "Valid"),
    "girth": ({"A": TAKES.format("lid"), "B": TAKES.format("girth")}, "B", "Incorrect"),
    "chest": ({"A": HAS.format("Chest"), "B": HAS.format("Crate")}, "A", "Incorrect"),
    "both": ({"A": TAKES.format("lid"), "B": "import tinylib\ntinylib.Box(width=1)\n"}, "A", "Ambiguous"),
    "names": ({"A": HAS.format("Box"), "B": HAS.format("Crate")}, "B", "Ambiguous"),
    "word": ({"A": LIES, "B": TAKES.format("girth")}, "A", "Unproven"),
    "endless": ({"A": TAKES.format("lid"), "B": ENDLESS}, "A", "Unproven"),
    "broken": ({"A": BROKEN, "B": TAKES.format("girth")}, "A", "Unproven"),
}
"""By case: the script that the agent runs for each option, the benchmark's key, and the rating it must come to."""


@contextmanager
def auditing(cloud: Cloud, wheels: Path) -> Iterator[None]:
    """A deployment whose agent is scripted and whose targets come from the folder `wheels`."""
    strong = load_registry({}).model("gemini", "strong").name
    roomy = registry(gemini={"models": {strong: ROOMY}}) | {"TOUCHSTONE_TENANT_SHARE": "1"}
    empty = wheels.parent / "no-index"
    empty.mkdir(exist_ok=True)
    registries = {"UV_FIND_LINKS": str(wheels), "UV_DEFAULT_INDEX": empty.as_uri()}
    for name, (scripts, _, _) in CASES.items():
        turns = [called(*proved(label, script)) for label, script in scripts.items()]
        behaviour = Behaviour(by_turn=(*turns, concluded("A", summary="All options are proved as I say.")))
        cloud.judge.rule(behaviour.model_dump(mode="json"), prompt=f"Which is right of {name}\\?")
    with (
        cloud.functions.changed("AuditsInstall", variables=registries),
        cloud.functions.changed("AuditsPrepare", "AuditsTurn", variables=roomy),
    ):
        yield


def request(*names: str) -> dict[str, Any]:
    """An audit of these cases; of all where none is named."""
    lines = "\n".join(
        f'{{"id": "{name}", "question": "Which is right of {name}?", '
        f'"options": {{"A": "the first", "B": "the second"}}, "correct_answer": "{key}"}}'
        for name, (_, key, _) in CASES.items()
        if name in (names or CASES)
    )
    return {"target": {"requirement": "tinylib==1.0"}, "files": [{"name": "ten.jsonl", "text": lines}]}


def over(caller: Caller, audit_id: str, *, seconds: float = 600.0) -> dict[str, Any]:
    """An audit once it is over."""

    def look() -> dict[str, Any] | None:
        view: dict[str, Any] = caller.get(f"v1/audits/{audit_id}")
        return view if view["finished_at"] else None

    return eventually(look, what=f"the end of audit {audit_id}", seconds=seconds, pause=1.0)
