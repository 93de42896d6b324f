"""How close asking comes to what the wire allows: adapters against an endpoint that always takes 200 ms.

    uv run python -m tests.bench.throughput [--provider gemini] [--in-flight 50 200] [--rounds 3]

The limit is calls in flight / latency. The server runs in a process of its own; the CPU time is that of the whole
client process, event loop and SDK included. Of several rounds the best is printed: others on the machine only ever
slow it.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, Field

from touchstone.judges.anthropic import AnthropicAdapter
from touchstone.judges.base import Adapter, Prompt, Question
from touchstone.judges.gemini import GeminiAdapter
from touchstone.judges.openai import OpenAIAdapter

LATENCY = 0.2
CALLS_EACH = 15
"""Calls that each place in flight makes in a round."""


class Grade(BaseModel):
    """A reply of the size that a verification gives."""

    is_correct: bool
    confidence: float = Field(ge=0, le=1)
    independent_answer: str
    error: str | None = None


QUESTION = Question(
    prompt=Prompt(name="bench", version="0" * 16, system="You grade answers. " * 20, user="What is 17 × 23? " * 40),
    reply_type=Grade,
)
REPLY = {"is_correct": True, "confidence": 0.97, "independent_answer": "391", "error": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one round came to."""

    share: float
    cpu_ms: float


@contextmanager
def endpoint() -> Iterator[str]:
    """The loopback server in a process of its own, answering everything after `LATENCY`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.providers"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        control = {"fallback": {"value": REPLY, "seconds": LATENCY}}
        httpx.post(f"{base_url}/__control__", json=control).raise_for_status()
        try:
            yield base_url
        finally:
            server.terminate()


def adapter(provider: str, base_url: str) -> Adapter:
    """The adapter of a provider, led to the endpoint."""
    match provider:
        case "gemini":
            return GeminiAdapter(api_key="bench", base_url=base_url)
        case "anthropic":
            return AnthropicAdapter(api_key="bench", base_url=base_url)
        case _:
            return OpenAIAdapter(api_key="bench", base_url=f"{base_url}/v1")


async def measured(judge: Adapter, *, in_flight: int) -> Pace:
    """One round, on connections that are open already."""

    async def ask(calls: int) -> None:
        for _ in range(calls):
            await judge.ask("model", QUESTION, timeout=60)

    await asyncio.gather(*(ask(1) for _ in range(in_flight)))
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask(CALLS_EACH) for _ in range(in_flight)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Pace(share=CALLS_EACH * LATENCY / wall, cpu_ms=1000 * cpu / (in_flight * CALLS_EACH))


async def main() -> None:
    """Measure and print a line for each provider and number in flight."""
    parser = argparse.ArgumentParser(description="Share of the physical limit that adapters reach.")
    parser.add_argument("--provider", nargs="+", default=["gemini", "openai", "anthropic"])
    parser.add_argument("--in-flight", nargs="+", type=int, default=[50, 200])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'provider':<10} {'in flight':>9} {'of the limit':>12} {'CPU a call':>11}")
    with endpoint() as base_url:
        for provider in options.provider:
            judge = adapter(provider, base_url)
            for in_flight in options.in_flight:
                rounds = [await measured(judge, in_flight=in_flight) for _ in range(options.rounds)]
                best = max(pace.share for pace in rounds)
                cpu = min(pace.cpu_ms for pace in rounds)
                print(f"{provider:<10} {in_flight:>9} {best:>12.1%} {cpu:>8.2f} ms")
            await judge.aclose()


if __name__ == "__main__":
    asyncio.run(main())
