"""Answers of a class verified: by computation where that is possible, by a key where there is one, else by a judge.

uv run python examples/verify.py
"""

import asyncio
from typing import Any

import touchstone
from touchstone.judges import EnvironmentKeys, Judges, MemoryCache, load_registry

ANSWERS: list[dict[str, Any]] = [
    {"problem": "Solve 3x - 4 = 11.", "answer": "x = 5"},
    {"problem": "Compute 2/3 + 1/4.", "answer": "3/7"},
    {
        "problem": "A cyclist rides 42 km in 1 h 45 min. What is her mean speed?",
        "answer": "6.7 m/s",
        "expected": "24 km/h",
        "tolerance": {"relative": 0.01},
    },
    {"problem": "Which planet is closest to the Sun?", "answer": "Mercury", "expected": ["Mercury", "水星"]},
    {"problem": "Why is the sky blue at noon?", "answer": "Air scatters blue light more than red light."},
]


async def main() -> None:
    """Verify all of them at once, with judges that are opened once."""
    registry = load_registry()
    judges = Judges(registry, EnvironmentKeys(registry), cache=MemoryCache())
    records = await asyncio.gather(*(touchstone.averify(**each, judges=judges) for each in ANSWERS))
    await judges.aclose()
    for each, record in zip(ANSWERS, records, strict=True):
        found = record.attempts[-1].verification
        print(f"{record.verification_status:<11} by {found.method if found else 'nobody':<9} {each['answer']}")
        if found and record.verification_status != "verified":
            print(f"{'':<11} {found.error or found.skip_reason or ''}")


asyncio.run(main())
