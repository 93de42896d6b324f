"""The events of the repository, as tests use them: one real sample of each, with the fields that matter overridden."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "events"
TENANT = "demo"
"""The tenant that the sample events name."""


def event(name: str, **overrides: Any) -> dict[str, Any]:
    """The sample `events/<name>.json`, its top-level fields replaced by `overrides`."""
    return deepcopy(_sample(name)) | overrides


@cache
def _sample(name: str) -> dict[str, Any]:
    sample: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return sample
