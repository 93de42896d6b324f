"""How close asking comes to what the wire allows: adapters against an endpoint that always takes 200 ms.

    uv run python -m tests.bench.throughput [--provider gemini …] [--in-flight 50 200] [--rounds 3]

The same question and reply as in `tests.bench.evaluations`, without anything around the adapters.
"""

import asyncio
from functools import partial
from typing import Any

from tests.bench import judging, pace
from touchstone.answers.verification import VerifyReply
from touchstone.judges.base import JudgeQuestion
from touchstone.judges.opening import connect
from touchstone.judges.prompts import prompt_of


def question() -> JudgeQuestion[VerifyReply]:
    """What a verification asks."""
    values: dict[str, Any] = {"problem": judging.PROBLEM, "answer": judging.ANSWER, "steps": judging.STEPS}
    values |= {"finding": None, "expected": [], "tolerance": None}
    return JudgeQuestion(prompt=prompt_of("touchstone.answers", "verify", "en", **values), reply_type=VerifyReply)


async def main() -> None:
    """Measure and print a line for each provider and number in flight."""
    options = pace.arguments("Share of the physical limit that adapters reach.", judging.PROVIDERS)
    print(pace.HEADING)
    asked = question()
    with judging.endpoint(seconds=pace.LATENCY) as base_url:
        registry = judging.registry(options.provider, base_url)
        for provider in options.provider:
            adapter = connect(registry.provider(provider), "bench")
            ask = partial(adapter.ask, registry.model(provider, "verify").name, asked, timeout=judging.LONG_SECONDS)
            await pace.report(provider, ask, in_flight=options.in_flight, rounds=options.rounds)
            await adapter.aclose()


if __name__ == "__main__":
    asyncio.run(main())
