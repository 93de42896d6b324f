"""Findings as SARIF 2.1.0, which code hosts show at the lines that they are about, and other tools collect.

A finding that says something is wrong is a result of the kind `fail`. What nobody could decide is one of the kind
`open`, and no level of severity: it is not a fault, and never a pass. A file that could not be read makes the run one
that did not succeed, and is told as a notification of it. Texts come from elsewhere, so that what a terminal would obey
is written out as an escape.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

import json
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
    """Where something is: a file, and in it a line and column from 1; None: the whole of it."""

    file: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifResult:
    """One finding, by the rule that it breaks. `spot` None: it is at no place in a file. `name` is what it is about."""

    rule: str
    level: Level
    sentence: str
    spot: Spot | None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifRun:
    """One run of a command: its `rules` with what each asks for, what it found, and what kept it from looking."""

    rules: Mapping[str, str]
    results: Sequence[SarifResult]
    faults: Sequence[tuple[str, Spot]] = ()


def sarif(run: SarifRun) -> bytes:
    """The run as a SARIF document."""
    names = list(run.rules)
    invocation: dict[str, Any] = {"executionSuccessful": not run.faults}
    if run.faults:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": visible(sentence)}, "locations": [_location(spot)]}
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


def write_sarif(path: Path, run: SarifRun) -> None:
    """Write the run to a file, whole or not at all. Raises `StoreError`."""
    replace(path, [sarif(run)])


def _result(one: SarifResult, number: int) -> dict[str, Any]:
    decided = one.level != "open"
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": number,
        "kind": "fail" if decided else "open",
        "level": one.level if decided else "none",
        "message": {"text": visible(one.sentence) or one.rule},
    }
    location = {} if one.spot is None else _location(one.spot)
    if one.name:
        location["logicalLocations"] = [{"name": visible(one.name)}]
    return result | {"locations": [location] if location else []}


def _location(spot: Spot) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(spot.file)}}
    region = {"startLine": spot.line, "startColumn": spot.column}
    if known := {name: value for name, value in region.items() if value is not None}:
        place["region"] = known
    return {"physicalLocation": place}


def _uri(file: str) -> str:
    """A file by a URI: relative as it was named, which code hosts look up from the root of the repository."""
    path = Path(file)
    if path.is_absolute():
        return path.as_uri()
    return quote("/".join(part for part in path.parts if part != "."), errors="surrogateescape")
