"""Every command there is, with arguments that lead it to a deployment where it asks one."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.main import get_command

from touchstone.cli.app import app

EVENTS = Path(__file__).parents[3] / "events"
ID = "01JD7Z00000000000000000000"
TASK = '{"description": "Compare.", "acceptance_criteria": ["It does."]}'
ASKING: Mapping[str, tuple[str, ...]] = {
    "verify": ("--problem", "1+1=?", "--answer", "5"),
    "solve": ("--problem", "1+1=?"),
    "answers list": (),
    "answers show": (ID,),
    "answers evaluate": (ID,),
    "quiz generate": ("--curriculum", "book", "--chapter", "1"),
    "quiz list": (),
    "quiz show": (ID,),
    "curricula put": (str(EVENTS / "curriculum.csv"),),
    "curricula list": (),
    "curricula show": ("book",),
    "curricula delete": ("book",),
    "learners put": (str(EVENTS / "learners.csv"),),
    "learners list": (),
    "learners show": ("mei",),
    "learners delete": ("mei",),
    "tasks create": ("-", "--owner", "buyer", "--path", "quality_first", "--deadline", "3d"),
    "tasks list": (),
    "tasks show": (ID,),
    "tasks deadline": (ID, "3d"),
    "tasks submit": (ID, str(EVENTS / "summary.md"), "--submitter", "ann"),
    "tasks submissions": (ID, "--party", "ann"),
    "tasks submission": (ID, ID, "--party", "ann"),
    "tasks challenge": (ID, ID, "--party", "ann", "--reason", "It is right."),
    "tasks challenges": (ID, "--party", "ann"),
    "audits start": (str(EVENTS / "benchmark.yaml"), "--target", "tinylib==1.0"),
    "audits list": (),
    "audits show": (ID,),
    "audits report": (ID,),
    "audits recheck": (ID, "--target", "tinylib==1.0"),
    "audits end-weekly": (ID,),
    "batch run": (str(EVENTS / "answers.jsonl"), "-o", "results.jsonl"),
    "batch list": (),
    "batch show": (ID,),
    "budget": (),
    "backlog": (),
    "stats rates": (),
    "stats volume": (),
    "stats trends": (),
    "stats suggestions": (),
    "stats approaches": (),
    "judge cards": (),
    "judge card": ("quick_verify-1",),
    "judge label": (ID, "right"),
    "routing list": (),
    "routing pin": ("algebra", "openai"),
    "routing unpin": ("algebra",),
    "login": ("URL",),
    "tokens create": ("--role", "reader", "--name", "x"),
    "tokens list": (),
    "tokens revoke": (ID,),
}
"""Commands that ask a deployment, with what they are given; URL stands for its address."""
STDIN: Mapping[str, str] = {"login": "ts_" + "a" * 43, "tasks create": TASK}
HERE = frozenset(
    {
        "evaluate quiz", "evaluate summary", "evaluate flashcards",
        "experiment run", "experiment estimate", "experiment report",
        "quiz check", "oracle score", "models", "logout", "judge calibrate",
        "audit run", "audit estimate", "audit prove", "audit recheck",
        "check equivalent", "check prove", "check arithmetic", "check script", "check pinyin",
        "tenants create", "tenants ceiling", "tenants recount", "tenant export", "tenant delete", "quotas forget",
    }
)  # fmt: skip
"""Commands that ask no deployment: they work in this process, or on AWS itself."""


def names() -> list[str]:
    """Every command, by all its words."""
    return [" ".join(path) for path in _leaves(get_command(app), ())]


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    parts = getattr(command, "commands", None)
    if parts is None:
        yield path
        return
    for name, part in parts.items():
        yield from _leaves(part, (*path, name))
