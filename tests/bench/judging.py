"""A judge for measuring: an endpoint that answers after a fixed time, and `Judges` that are led to it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from touchstone.budgets import MemoryAdmission
from touchstone.clock import Deadline
from touchstone.judges import Judges, load_registry
from touchstone.judges.registry import OVERRIDES_VARIABLE

PROVIDERS = ("gemini", "openai", "claude")
PROBLEM = "Mia reads 17 pages on each of 24 school days but skips every fourth one. How many pages does she read?"
ANSWER = "306"
STEPS = "24 ÷ 4 = 6 days are skipped, 24 - 6 = 18 days are left, and 18 × 17 = 306."
"""A word problem that no check decides, with steps that the recalculation reads."""
REPLY = {"independent_answer": "306 pages", "is_correct": True, "error_description": None, "confidence": 0.97}
NO_LIMIT = {"per_day": 10**9, "per_minute": 10**9}
"""Quotas are kept, and never reached."""
LONG_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class OneKey:
    """The key of one provider."""

    provider: str

    def get(self, provider: str) -> str | None:
        """The key, None for another provider."""
        return "bench" if provider == self.provider else None


@contextmanager
def endpoint(*, seconds: float) -> Iterator[str]:
    """The base URL of a server in a process of its own that answers everything after `seconds`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.providers"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        control = {"fallback": {"value": REPLY, "seconds": seconds}}
        httpx.post(f"{base_url}/__control__", json=control).raise_for_status()
        try:
            yield base_url
        finally:
            server.terminate()


def judges(provider: str, base_url: str) -> Judges:
    """The judges of one provider at the endpoint, with quotas kept in memory and no cache."""
    url = f"{base_url}/v1" if provider == "openai" else base_url
    model = load_registry({}).model(provider, "verify").name
    overrides: dict[str, Any] = {provider: {"base_url": url, "models": {model: NO_LIMIT}}}
    registry = load_registry({OVERRIDES_VARIABLE: json.dumps(overrides)})
    return Judges(registry, OneKey(provider), admission=MemoryAdmission())


def patience() -> Deadline:
    """A deadline that no measured call comes near."""
    return Deadline.after(LONG_SECONDS)
