"""Findings as SARIF 2.1.0. Code hosts show such findings at their lines, and other tools collect them.

A finding of a fault is a result of the kind `fail`. A finding that nobody could decide is a result of the kind `open`
without a level of severity: it is not a fault, and never a pass. If a file could not be read, the run counts as not
successful, and has a notification about the file. Texts come from elsewhere, so a character that a terminal would obey
is written as an escape.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from touchstone.cli.terminal.places import replace
from touchstone.cli.terminal.screen import visible
from touchstone.version import __version__

type Level = Literal["error", "warning", "open"]
"""`open`: nobody could decide."""

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place: a file, and a line and column in it, counted from 1. `line` None: the whole file; `column`: the line."""

    file: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifResult:
    """One finding. `rule` is the rule that is broken. `spot` is its place in a file, None if it has none.

    `name` is the id of the thing that the finding is about.
    """

    rule: str
    level: Level
    sentence: str
    spot: Spot | None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifRun:
    """One run of a command: its `rules`, each with its requirement, its findings, and the files it could not check."""

    rules: Mapping[str, str]
    results: Sequence[SarifResult]
    faults: Sequence[tuple[str, Spot]] = ()


def sarif(run: SarifRun) -> bytes:
    """The run as a SARIF document."""
    names = list(run.rules)
    invocation: dict[str, Any] = {"executionSuccessful": not run.faults}
    if run.faults:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": _text(sentence)}, "locations": [_location(spot)]}
            for sentence, spot in run.faults
        ]
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Touchstone",
                        "semanticVersion": __version__,
                        "rules": [
                            {"id": name, "shortDescription": {"text": asked}} for name, asked in run.rules.items()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation],
                "results": [_result(one, names.index(one.rule)) for one in run.results],
            }
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def write_sarif(path: Path | None, run: SarifRun) -> None:
    """Write the run to a file, whole or not at all. None: nothing is written. Raises `StoreError`."""
    if path is not None:
        replace(path, [sarif(run)])


def _result(one: SarifResult, number: int) -> dict[str, Any]:
    decided = one.level != "open"
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": number,
        "kind": "fail" if decided else "open",
        "level": one.level if decided else "none",
        "message": {"text": _text(one.sentence) or one.rule},
    }
    location = {} if one.spot is None else _location(one.spot)
    if one.name:
        location["logicalLocations"] = [{"name": visible(one.name)}]
    return result | {"locations": [location] if location else []}


def _text(sentence: str) -> str:
    """A sentence for a message, escaped so that no text in it becomes a link (section 3.11.6 of the standard)."""
    shown = visible(sentence)
    return re.sub(r"[\\\[\]]", r"\\\g<0>", shown) if "](" in shown else shown


def _location(spot: Spot) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(spot.file)}}
    region = {"startLine": spot.line, "startColumn": spot.column}
    if known := {name: value for name, value in region.items() if value is not None}:
        place["region"] = known
    return {"physicalLocation": place}


def _uri(file: str) -> str:
    """The URI of a file. A relative path stays relative: code hosts look it up from the root of the repository."""
    path = Path(file)
    if path.is_absolute():
        return path.as_uri()
    return quote("/".join(part for part in path.parts if part != "."), errors="surrogateescape")
