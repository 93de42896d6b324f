"""How near many calls in flight come to what an endpoint of fixed latency allows, which is `in flight / latency`."""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

LATENCY = 0.2
CALLS_EACH = 15
"""Calls that each place in flight makes in a round."""
CPU_MS = 0.8
SHARES = {50: 0.9, 200: 0.8}
"""What is to be reached of the limit, by the number in flight."""
HEADING = f"{'provider':<10} {'in flight':>9} {'of the limit':>12} {'wanted':>7} {'CPU each':>11} {'of its limit':>12}"

RATIOS = {50: 0.95, 200: 0.85}
"""What is to be reached of the bare SDK, by the number in flight."""
BEYOND_CPU_MS = 0.6
"""CPU time a call that may be spent beyond the SDK's own."""
COMPARISON = (
    f"{'provider':<10} {'in flight':>9} {'ours / SDK':>10} {'wanted':>7} {'of the limit: ours':>18} {'SDK':>6}"
    f" {'CPU each: ours':>14} {'SDK':>8} {'beyond':>8} {'allowed':>8}"
)

type Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one round came to: the share of the limit, and this process's CPU time a call, threads included."""

    share: float
    cpu_ms: float


def arguments(description: str, providers: Sequence[str]) -> argparse.Namespace:
    """What is to be measured: `provider`, `in_flight` and `rounds`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--provider", nargs="+", default=list(providers), choices=providers)
    parser.add_argument("--in-flight", nargs="+", type=int, default=list(SHARES))
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


async def report(provider: str, call: Call, *, in_flight: Sequence[int], rounds: int) -> None:
    """A line for each number in flight: the best of several rounds, since others on the machine only ever slow it."""
    for number in in_flight:
        paces = [await measured(call, in_flight=number) for _ in range(rounds)]
        share, cpu = max(pace.share for pace in paces), min(pace.cpu_ms for pace in paces)
        wanted = f"{SHARES[number]:.0%}" if number in SHARES else ""
        print(f"{provider:<10} {number:>9} {share:>12.1%} {wanted:>7} {cpu:>8.2f} ms {cpu / CPU_MS:>12.2f}", flush=True)


async def compare(provider: str, ours: Call, sdk: Call, *, in_flight: Sequence[int], rounds: int) -> None:
    """A line for each number in flight: ours against the SDK's own call, in turns, and the medians of both.

    Rounds of both alternate, so that what else the machine does meets both alike; the ratio is taken round by round.
    """
    for number in in_flight:
        pairs = [(await measured(ours, in_flight=number), await measured(sdk, in_flight=number)) for _ in range(rounds)]
        ratio = statistics.median(one.share / other.share for one, other in pairs)
        shares = [statistics.median(pair[side].share for pair in pairs) for side in (0, 1)]
        cpus = [statistics.median(pair[side].cpu_ms for pair in pairs) for side in (0, 1)]
        wanted = f"{RATIOS[number]:.2f}" if number in RATIOS else ""
        print(
            f"{provider:<10} {number:>9} {ratio:>10.3f} {wanted:>7} {shares[0]:>18.1%} {shares[1]:>6.1%}"
            f" {cpus[0]:>11.2f} ms {cpus[1]:>5.2f} ms {cpus[0] - cpus[1]:>5.2f} ms {BEYOND_CPU_MS:>5.2f} ms",
            flush=True,
        )


async def measured(call: Call, *, in_flight: int) -> Pace:
    """One round, on connections that are open already."""

    async def work(calls: int) -> None:
        for _ in range(calls):
            await call()

    await asyncio.gather(*(work(1) for _ in range(in_flight)))
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work(CALLS_EACH) for _ in range(in_flight)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Pace(share=CALLS_EACH * LATENCY / wall, cpu_ms=1000 * cpu / (in_flight * CALLS_EACH))
