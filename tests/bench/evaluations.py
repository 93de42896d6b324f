"""Verifications a second through the product's own way, as a share of what the endpoint's latency allows.

    uv run python -m tests.bench.evaluations [--provider gemini …] [--in-flight 50 200] [--rounds 3]

Every evaluation is a whole `quick_verify`: the checks, the prompt, quota and money in memory, the provider's SDK, and
the comparison of the judge's own answer with the given one.
"""

import asyncio
from functools import partial

from tests.bench import judging, pace
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
    options = pace.arguments("Share of the physical limit that whole verifications reach.", judging.PROVIDERS)
    print(pace.HEADING)
    with judging.endpoint(seconds=pace.LATENCY) as base_url:
        for provider in options.provider:
            judges = judging.judges(provider, base_url)
            call = partial(evaluate, judges.get(provider, "verify"))
            await pace.report(provider, call, in_flight=options.in_flight, rounds=options.rounds)
            await judges.aclose()


if __name__ == "__main__":
    asyncio.run(main())
