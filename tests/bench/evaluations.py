"""Verifications a second through the product's own way, as a share of what the endpoint's latency allows.

    uv run python -m tests.bench.evaluations [--provider gemini …] [--in-flight 50 200]

The endpoint is a process of its own that answers after 200 ms, so `in flight / latency` is the physical limit. Every
evaluation is a whole `quick_verify`: the checks, the prompt, quota and money in memory, the provider's SDK, and the
comparison of the judge's own answer with the given one. CPU is this process's, threads included.
"""

import argparse
import asyncio
import time
from dataclasses import dataclass

from tests.bench import judging
from touchstone.answers.verification import quick_verify
from touchstone.judges import Judge

LATENCY = 0.2
CALLS_EACH = 15
"""Evaluations that each place in flight makes in a round."""
CPU_MS = 0.8
SHARES = {50: 0.9, 200: 0.8}
"""What is to be reached of the limit, by the number in flight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one round came to."""

    share: float
    cpu_ms: float


async def evaluate(judge: Judge) -> None:
    """One verification; anything but the judge's verdict would be another thing measured."""
    verified = await quick_verify(
        judging.PROBLEM, judging.ANSWER, judging.STEPS, judge=judge, deadline=judging.patience()
    )
    found = verified.verification
    if found.method != "judge" or not found.passed or found.contradicted:
        raise SystemExit(f"Not what the endpoint answers: {found}")


async def measured(judge: Judge, *, in_flight: int) -> Pace:
    """One round, on connections that are open already."""

    async def work(evaluations: int) -> None:
        for _ in range(evaluations):
            await evaluate(judge)

    await asyncio.gather(*(work(1) for _ in range(in_flight)))
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work(CALLS_EACH) for _ in range(in_flight)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Pace(share=CALLS_EACH * LATENCY / wall, cpu_ms=1000 * cpu / (in_flight * CALLS_EACH))


async def main() -> None:
    """Measure and print a line for each provider and number in flight."""
    parser = argparse.ArgumentParser(description="Share of the physical limit that whole verifications reach.")
    parser.add_argument("--provider", nargs="+", default=list(judging.PROVIDERS), choices=judging.PROVIDERS)
    parser.add_argument("--in-flight", nargs="+", type=int, default=list(SHARES))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'provider':<10} {'in flight':>9} {'of the limit':>12} {'wanted':>7} {'CPU each':>11} {'of its limit':>12}")
    with judging.endpoint(seconds=LATENCY) as base_url:
        for provider in options.provider:
            judges = judging.judges(provider, base_url)
            judge = judges.get(provider, "verify")
            for in_flight in options.in_flight:
                rounds = [await measured(judge, in_flight=in_flight) for _ in range(options.rounds)]
                share = max(pace.share for pace in rounds)
                cpu = min(pace.cpu_ms for pace in rounds)
                wanted = f"{SHARES[in_flight]:.0%}" if in_flight in SHARES else ""
                print(
                    f"{provider:<10} {in_flight:>9} {share:>12.1%} {wanted:>7} {cpu:>8.2f} ms {cpu / CPU_MS:>12.2f}",
                    flush=True,
                )
            await judges.aclose()


if __name__ == "__main__":
    asyncio.run(main())
