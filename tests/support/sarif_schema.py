"""SARIF as its standard has it: the schema of SchemaStore, as Microsoft's `@microsoft/jest-sarif` (MIT) ships it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).with_name("sarif-2.1.0-rtm.5.json")


@cache
def _validator() -> Any:
    return jsonschema.Draft4Validator(
        json.loads(SCHEMA.read_text(encoding="utf-8")), format_checker=jsonschema.FormatChecker()
    )


def sarif_runs(document: bytes) -> list[dict[str, Any]]:
    """The runs in a document, once the schema knows everything in it."""
    parsed = json.loads(document)
    _validator().validate(parsed)
    runs: list[dict[str, Any]] = parsed["runs"]
    return runs
