"""Verifications a second through the product's own way, as a share of what the provider's SDK reaches by itself.

    uv run python -m tests.bench.evaluations [--provider gemini …] [--in-flight 50 200] [--rounds 3]

Every evaluation is a whole `quick_verify`: the checks, the prompt, quota and money in memory, the provider's SDK, and
the comparison of the judge's own answer with the given one. The other side is one call of the bare SDK on aiohttp
with the same question (`tests.bench.bare`), in the same process and in turns.
"""

import asyncio
from functools import partial

from tests.bench import bare, judging, pace
from touchstone.answers.verification import quick_verify
from touchstone.judges import Judge


async def evaluate(judge: Judge) -> None:
    """One verification; anything but the judge's verdict would be another thing measured."""
    verified = await quick_verify(
        judging.PROBLEM, judging.ANSWER, judging.STEPS, judge=judge, deadline=judging.patience()
    )
    found = verified.verification
    if found.method != "judge" or not found.passed or found.contradicted:
        raise SystemExit(f"Not what the endpoint answers: {found}")


async def main() -> None:
    """Measure and print a line for each provider and number in flight."""
    options = pace.arguments("Whole verifications against the bare SDK on aiohttp.", judging.PROVIDERS)
    print(pace.COMPARISON)
    with judging.endpoint(seconds=pace.LATENCY) as base_url:
        for provider in options.provider:
            judges = judging.judges(provider, base_url)
            judge = judges.get(provider, "verify")
            async with bare.sdk(provider, judge.model, base_url) as call:
                ours = partial(evaluate, judge)
                await pace.compare(provider, ours, call, in_flight=options.in_flight, rounds=options.rounds)
            await judges.aclose()


if __name__ == "__main__":
    asyncio.run(main())
