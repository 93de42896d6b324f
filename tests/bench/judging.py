"""A judge for measuring: an endpoint that answers after a fixed time, and `Judges` that are led to it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from touchstone.budgets import MemoryAdmission
from touchstone.clock import Deadline
from touchstone.judges import Judges, load_registry
from touchstone.judges.keys import Place
from touchstone.judges.registry import OVERRIDES_VARIABLE, Registry

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
    place: Place = "environment"

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


def registry(providers: Sequence[str], base_url: str) -> Registry:
    """The registry with these providers at the endpoint, and quotas that are never reached."""
    plain = load_registry({})
    overrides = {
        provider: {
            "base_url": f"{base_url}/v1" if provider == "openai" else base_url,
            "models": {plain.model(provider, "verify").name: NO_LIMIT},
        }
        for provider in providers
    }
    return load_registry({OVERRIDES_VARIABLE: json.dumps(overrides)})


def judges(provider: str, base_url: str) -> Judges:
    """The judges of one provider at the endpoint, with quotas kept in memory and no cache."""
    return Judges(registry([provider], base_url), OneKey(provider), admission=MemoryAdmission())


def patience() -> Deadline:
    """A deadline that no measured call comes near."""
    return Deadline.after(LONG_SECONDS)
