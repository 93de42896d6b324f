"""Every command there is, with arguments that lead it to a deployment where it asks one."""

import dis
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from typer.main import get_command

from touchstone.cli.app import app

EVENTS = Path(__file__).parents[2] / "events"
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
    "audit start": (str(EVENTS / "benchmark.yaml"), "--target", "tinylib==1.0"),
    "audit list": (),
    "audit show": (ID,),
    "audit report": (ID,),
    "audit start-recheck": (ID, "--target", "tinylib==1.0"),
    "audit now": (ID,),
    "audit end-weekly": (ID,),
    "batch run": (str(EVENTS / "answers.jsonl"), "-o", "results.jsonl"),
    "batch list": (),
    "batch show": (ID,),
    "batch now": (ID,),
    "measurement start": ("quiz", str(EVENTS / "quiz.json")),
    "measurement list": (),
    "measurement show": (ID,),
    "measurement now": (ID,),
    "experiment start": (str(EVENTS / "experiment"),),
    "experiment list": (),
    "experiment show": (ID,),
    "experiment now": (ID,),
    "experiment report": (ID,),
    "experiment pairs": (ID, "--format", "html"),
    "trace": (ID,),
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
    "judge import": ("-",),
    "judge next": (),
    "routing list": (),
    "routing pin": ("algebra", "openai"),
    "routing unpin": ("algebra",),
    "login": ("URL",),
    "tokens create": ("--role", "reader", "--name", "x"),
    "tokens list": (),
    "tokens revoke": (ID,),
}
"""Commands that ask a deployment, with what they are given; URL stands for its address."""
STDIN: Mapping[str, str] = {"judge import": f"id,label\n{ID},right\n", "login": "ts_" + "a" * 43, "tasks create": TASK}
HERE = frozenset(
    {
        "evaluate quiz", "evaluate summary", "evaluate flashcards",
        "experiment run", "experiment estimate",
        "quiz check", "oracle score", "models", "logout", "judge calibrate",
        "audit run", "audit estimate", "audit prove", "audit recheck",
        "check equivalent", "check prove", "check arithmetic", "check script", "check pinyin", "check image", "mcp",
        "quiz export", "quiz import", "cards export", "cards import", "results export",
        "tenant create", "tenant ceiling", "tenant recount", "tenant export", "tenant delete", "quotas forget",
    }
)  # fmt: skip
"""Commands that ask no deployment: they work in this process, or on AWS itself."""


CLIENT = "touchstone.cli.deployment.client"
"""The module through which a deployment is asked, and there is no other."""
ROOM = "touchstone.cli"


def names() -> list[str]:
    """Every command, by all its words."""
    return [" ".join(path) for path, _ in _leaves(get_command(app), ())]


def asking() -> list[str]:
    """The commands whose code leads to `CLIENT`, as it is found by following what their functions name."""
    return [" ".join(path) for path, callback in _leaves(get_command(app), ()) if _leads_to_client(callback, set())]


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    parts = getattr(command, "commands", None)
    if parts is None:
        yield path, command.callback
        return
    for name, part in parts.items():
        if not part.hidden:
            yield from _leaves(part, (*path, name))


def _leads_to_client(thing: Any, seen: set[int]) -> bool:
    """Whether a function, a class or a module is the client's, or names one that leads to it."""
    thing = unwrap(thing) if callable(thing) else thing
    home = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or ""
    if id(thing) in seen or not home.startswith(ROOM):
        return False
    seen.add(id(thing))
    if home == CLIENT:
        return True
    if isinstance(thing, type):
        return any(_leads_to_client(part, seen) for part in vars(thing).values())
    return isinstance(thing, FunctionType) and any(
        _leads_to_client(each, seen) for code in _codes(thing.__code__) for each in _named(code, thing.__globals__)
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those within it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _named(code: CodeType, known: Mapping[str, Any]) -> Iterator[Any]:
    """What code names: its globals, what it imports itself, and what it takes of modules."""
    modules = [each for name in code.co_names if isinstance(each := known.get(name), ModuleType)]
    imported = (step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME")
    modules += [import_module(name) for name in imported if name.startswith(ROOM)]
    yield from (known[name] for name in code.co_names if name in known)
    for module in modules:
        yield module
        yield from (vars(module)[name] for name in code.co_names if name in vars(module))
