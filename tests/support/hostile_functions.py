"""Which of the package's text functions are fed hostile texts as they stand, and why the others need not be.

Whoever adds a function has nothing to do here, unless what it takes cannot be made of its annotations.
"""

import asyncio
import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import typer

from tests.support.hostile import Door
from tests.support.making import UnmadeError, arguments
from tests.support.text_functions import TextFunction, written
from touchstone.answers.model import MAX_ANSWER_CHARS, MAX_PROBLEM_CHARS
from touchstone.audits.sandbox.limits import MAX_SCRIPT_CHARS
from touchstone.checks.equivalence.decision import TEXT_LIMIT
from touchstone.checks.notation.trees import LENGTH_LIMIT
from touchstone.checks.proofs import recognition as proofs
from touchstone.cli.app import app
from touchstone.cli.commands.exchange import MAX_GIFT_BYTES
from touchstone.material.items import MAX_SUMMARY_CHARS
from touchstone.material.parts import MAX_TEXT_CHARS
from touchstone.oracle.model import MAX_SUBMISSION_CHARS
from touchstone.quizzes import tables

ROOMS: Mapping[str, str] = {
    "budgets": "names of providers and models, numbers and days",
    "extras": "names of modules, and of parts of the package",
    "packaged": "names of files of ours, and of installed packages that carry data",
    "records": "ids, keys, and records that were read at a door: carried into the table and out of it",
    "statistics": "numbers, and labels out of fixed lists",
}
"""Packages and modules of which no function reads a stranger's text, and what their functions take."""

NEEDED: Mapping[str, str] = {
    "builtins": "makes a value of a class, or calls an SDK's module, that is handed in",
    "collections.abc.Awaitable": "awaits work that is handed in, and logs a sentence of ours if it breaks off",
    "mpmath": "works out numbers of a tree that was read within its limits",
    "mypy_boto3_dynamodb": "reads items by keys of our own",
    "mypy_boto3_stepfunctions": "starts a machine by names of our own",
    "pathlib": "looks for a file or writes one; what it reads, functions of a text read",
    "rich.text": "lays out cells that `cli.terminal.tables` made, whose functions are fed",
    "types": "works inside the sandbox, within its limits, with functions that are made there",
    "touchstone.answers": "looks for stored solutions",
    "touchstone.audits": "works on the sources of a target and in the sandbox, within their own limits",
    "touchstone.limits": "works out numbers of a tree that was read within its limits",
    "touchstone.cli": "calls a deployment, or keeps a file of the person's own",
    "touchstone.errors": "carries an error of ours, whose sentence is short",
    "touchstone.judges": "asks judges: what it sends them and reads of them, functions of a text send and read",
    "touchstone.operations": "works on the stores of a deployment",
    "touchstone.parts": "changes the record of a job, whose sentences are short",
    "touchstone.records": "works on the stores of a deployment",
    "touchstone.surfaces": "asks judges about material that was read at a door",
}
"""Homes of types that annotations do not make, and what a function does that needs one."""

OURS: Mapping[str, str] = {
    "language": "en",
    "mark": "9f86d081884c7d65",
    "model": "gemini-3.8-flash",
    "provider": "gemini",
    "tenant": "acme",
    "ui_language": "en",
}
"""Names of parameters that never hold a stranger's text, and what they hold: identifiers, and words of our own."""

NUMBERS: Mapping[str, int] = {"most": 30_000}
"""Names of parameters that take a number, and one that we give: characters that are shown of a text."""

NOT_FED: Mapping[str, str] = {
    "audits.sandbox.inside.process:put_filter": "a filter of our own, which ends the process if the kernel refuses it",
    "cli.deployment.client:upload": "a file, and where it goes: sent as it is",
    "cli.screens.experiment_screen:print_estimate": "models' names and prices, laid out for a terminal",
    "judges.prompts:load_prompt": "the name of a prompt's file, which is the package's own",
    "judges.prompts:prompt_of": "the name of a prompt's file, as `load_prompt`",
    "judges.prompts:parse_prompt": "a prompt's file, which is the package's own",
}
"""Functions that could be fed and need not be, by what they take."""

SIZES: Mapping[str, int] = {
    "": MAX_SUBMISSION_CHARS,
    "answers": MAX_PROBLEM_CHARS,
    "audits.sandbox": MAX_SCRIPT_CHARS,
    "checks": MAX_PROBLEM_CHARS,
    "checks.contentless": MAX_SUBMISSION_CHARS,
    "checks.equivalence": TEXT_LIMIT,
    "checks.notation": LENGTH_LIMIT,
    "checks.values": LENGTH_LIMIT,
    "checks.proofs": proofs.MAX_PROBLEM_CHARS,
    "chinese": MAX_TEXT_CHARS,
    "cli.terminal": MAX_ANSWER_CHARS,
    "material.exchange.gift:read_gift": MAX_GIFT_BYTES,
    "material.sentences": MAX_SUMMARY_CHARS,
    "quizzes": MAX_TEXT_CHARS,
    "quizzes.tables": tables.MAX_CHARS,
    "quizzes.uploads": tables.MAX_CHARS,
    "surfaces": MAX_SUMMARY_CHARS,
    "surfaces.experiments.report": MAX_TEXT_CHARS,
}
"""The most characters that the doors of a package, a module or a function admit; the longest name that fits counts.

What is laid out on a screen is no longer than an answer.
"""

ORDINARY = "So x = 12 cm."
"""What stands in one text of a function while another is hostile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A function with its doors, or why it has none: a reason, or the type that could not be made for it."""

    function: TextFunction
    doors: tuple[Door, ...] = ()
    reason: str = ""
    used: str = ""
    unmade: str = ""


def judged(function: TextFunction, commands: frozenset[str]) -> Judged:
    """Whether a function is fed."""
    if function.place in commands:
        return Judged(function=function, reason="a command: the person at the keyboard wrote what it takes", used="")
    if (room := next((name for name in ROOMS if is_within(function.place, name)), None)) is not None:
        return Judged(function=function, reason=ROOMS[room], used=room)
    if (reason := NOT_FED.get(function.place)) is not None:
        return Judged(function=function, reason=reason, used=function.place)
    hostile = [name for name in function.texts if name not in OURS]
    if not hostile:
        return Judged(function=function, reason="none of its texts is a stranger's", used=" ".join(function.texts))
    try:
        arguments(function, dict.fromkeys(hostile, ORDINARY), OURS, NUMBERS)
    except UnmadeError as error:
        home = next((name for name in NEEDED if is_within(error.needed, name)), "")
        return Judged(function=function, reason=NEEDED.get(home, ""), used=home, unmade=error.needed)
    return Judged(function=function, doors=_doors(function, hostile))


def _doors(function: TextFunction, hostile: list[str]) -> tuple[Door, ...]:
    """One for each parameter while the others are ordinary, and one for all of them at once."""
    feedings = [{**dict.fromkeys(hostile, ORDINARY), name: None} for name in hostile]
    if len(hostile) > 1:
        feedings.append(dict.fromkeys(hostile))

    def door(feeding: Mapping[str, str | None], text: str) -> None:
        texts = {name: text[at:] if given is None else given for at, (name, given) in enumerate(feeding.items())}
        with suppress(UnmadeError):
            positional, named = arguments(function, texts, OURS, NUMBERS)
            run(function, positional, named)

    return tuple(partial(door, feeding) for feeding in feedings)


def run(function: TextFunction, positional: list[object], named: dict[str, object]) -> None:
    """Call a function to its end, also one that is awaited or iterated over."""
    with suppress(Exception):  # an error is an answer too: what is asked here is what it takes to come to one
        result = function.called(*positional, **named)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        if isinstance(result, Iterator):
            for _ in result:
                pass


def size_of(place: str) -> int:
    """The most characters that the doors of a function admit."""
    return SIZES[max((name for name in SIZES if is_within(place, name)), key=len)]


def is_within(place: str, name: str) -> bool:
    """Whether a place is a package, a module or a function of this name, or within it."""
    return not name or place == name or place.startswith((f"{name}.", f"{name}:"))


def commands_of(group: typer.Typer = app) -> frozenset[str]:
    """The functions that are commands: what they take, the person at the keyboard typed."""
    found = {written(one.callback) for one in group.registered_commands}
    own = {f"{one.__module__.removeprefix('touchstone.')}:{one.__qualname__}" for one in found if one is not None}
    return frozenset(own).union(
        *(commands_of(one.typer_instance) for one in group.registered_groups if one.typer_instance)
    )
