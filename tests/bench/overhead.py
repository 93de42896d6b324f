"""What a warm quick verify takes beyond the judge's own time.

    uv run python -m tests.bench.overhead [--calls 100]

In this process: `quick_verify` against an endpoint of fixed latency, one call after the other. "beyond the endpoint" is
the whole time less that latency, the SDK and the loopback connection included; "beyond the call" is the whole time
less what the provider's call took by our own clock: the checks, the prompt, the bookkeeping.

Deployed: with `TOUCHSTONE_API_URL` and `TOUCHSTONE_TOKEN` set, a verification through the API as its caller sees it,
less what the judge took by the record's own word; all of the deployment lies in between.
"""

import argparse
import asyncio
import os
import statistics
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from tests.bench import judging
from touchstone.answers.verification import quick_verify

LIMIT_MS = 40.0
LATENCIES = (0.0, 0.2)
WARM_UP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Milliseconds of one verification: the whole, and the judge's own by the record's word."""

    whole: float
    judge: float


async def in_process(provider: str, *, latency: float, calls: int) -> list[Took]:
    """Verifications one after the other against an endpoint that answers after `latency` seconds."""
    took = []
    with judging.endpoint(seconds=latency) as base_url:
        judges = judging.judges(provider, base_url)
        judge = judges.get(provider, "verify")
        for _ in range(WARM_UP + calls):
            begun = time.perf_counter()
            verified = await quick_verify(
                judging.PROBLEM, judging.ANSWER, judging.STEPS, judge=judge, deadline=judging.patience()
            )
            whole = 1000 * (time.perf_counter() - begun)
            if verified.verification.method != "judge":
                raise SystemExit(f"Not what the endpoint answers: {verified.verification}")
            took.append(Took(whole=whole, judge=sum(spend.latency_ms for spend in verified.spends)))
        await judges.aclose()
    return took[WARM_UP:]


def deployed(api_url: str, token: str, *, calls: int) -> list[Took]:
    """Verifications one after the other through the API, none of them answered from the cache."""
    took = []
    with httpx.Client(base_url=api_url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as api:
        for number in range(WARM_UP + calls):
            request = {
                "problem": judging.PROBLEM.replace("Mia", f"Mia, pupil {uuid.uuid4().hex},"),
                "answer": judging.ANSWER,
                "steps": judging.STEPS,
                "use_cache": False,
            }
            begun = time.perf_counter()
            reply = api.post("v1/verifications", json=request)
            whole = 1000 * (time.perf_counter() - begun)
            reply.raise_for_status()
            view = reply.json()
            if number == 0:
                print(f"deployed: decided by {view['method']}, {view['skip_reason'] or 'nothing skipped'}")
            took.append(Took(whole=whole, judge=sum(spend["latency_ms"] for spend in view["spends"])))
    return took[WARM_UP:]


def report(name: str, beyond: Sequence[float]) -> None:
    """One line: the median and the slow end, as shares of the limit."""
    middle, slow = statistics.median(beyond), statistics.quantiles(beyond, n=20)[-1]
    shares = f"{middle / LIMIT_MS:>6.2f} {slow / LIMIT_MS:>6.2f}"
    print(f"{name:<48} {shares}   {middle:>7.1f} ms {slow:>7.1f} ms", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a warm quick verify takes beyond the judge's own time.")
    parser.add_argument("--provider", nargs="+", default=list(judging.PROVIDERS), choices=judging.PROVIDERS)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    print(f"{f'shares of {LIMIT_MS:.0f} ms':<48} {'median':>6} {'95 %':>6}   {'median':>10} {'95 %':>10}")
    for provider in options.provider:
        for latency in LATENCIES:
            took = asyncio.run(in_process(provider, latency=latency, calls=options.calls))
            name = f"{provider}, {1000 * latency:.0f} ms"
            report(f"{name}: beyond the endpoint", [one.whole - 1000 * latency for one in took])
            report(f"{name}: beyond the call", [one.whole - one.judge for one in took])
    api_url, token = os.environ.get("TOUCHSTONE_API_URL"), os.environ.get("TOUCHSTONE_TOKEN")
    if api_url and token:
        took = deployed(api_url, token, calls=options.calls)
        report("deployed: beyond the judge", [one.whole - one.judge for one in took])
    else:
        print("deployed: not measured; set TOUCHSTONE_API_URL and TOUCHSTONE_TOKEN")


if __name__ == "__main__":
    main()
