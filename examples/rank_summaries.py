"""Three summaries handed in to a task: each is gated and scored by itself, the best are compared and ranked.

A deployment does this with deadlines, challenges and events (docs/how-to/tasks.md); these are the steps by themselves.

    uv run python examples/rank_summaries.py
"""

import asyncio
import random
from datetime import UTC, datetime, timedelta

from touchstone import Brief
from touchstone.clock import Deadline
from touchstone.judges import EnvironmentKeys, Judges, NotScored
from touchstone.judges import load_registry as registry_of_environment
from touchstone.oracle import (
    Contender,
    aggregate,
    choose,
    compare,
    judge_submission,
    open_judge,
    rank,
    read_entry,
    shortlist,
    winner_of,
)

BRIEF = Brief(
    description="Tell a town council in under 150 words why its river floods more often than forty years ago.",
    acceptance_criteria=("Names at least two causes.", "Ends with one recommendation."),
)
SUMMARIES = {
    "ann": """The river floods more often for two reasons. Fields upstream were drained, so that rain reaches the river
in hours where it took days; and a third of the flood plain was built on, so that the water has nowhere to spread. We
recommend to open the eastern meadow to the river again.""",
    "ben": """It rains more today, and more of the ground is sealed: since 1985 the paved area doubled. Gauges show
peaks that arrive six hours sooner. The council should require that new car parks let water through.""",
    "cleo": """Floods are a problem for everyone. There are many causes, such as rain and building, and they should all
be looked at. The council should do something soon.""",
}


async def main() -> None:
    """Judge, shortlist, compare, rank."""
    chosen = choose(registry_of_environment())
    judges = Judges(chosen.registry, EnvironmentKeys(chosen.registry))
    judge, deadline = open_judge(judges, chosen), Deadline.after(600.0)
    first = await judge_submission(BRIEF, SUMMARIES["ann"], judge=judge, deadline=deadline)  # makes the dimensions
    if first.dimensions is None:
        raise SystemExit(f"No dimensions could be made: {first.unscored}")
    dimensions = first.dimensions
    others = {name: text for name, text in SUMMARIES.items() if name != "ann"}
    rest = await asyncio.gather(
        *(
            judge_submission(BRIEF, text, judge=judge, deadline=deadline, dimensions=dimensions)
            for text in others.values()
        )
    )
    scored = {}
    for name, judgement in zip(["ann", *others], [first, *rest], strict=True):
        if judgement.scoring is None:
            print(f"{name}: {judgement.unscored or 'a criterion is not met'}")
        else:
            scored[name] = judgement.scoring
            print(f"{name}: {judgement.scoring.penalized_total} by itself")

    began = datetime(2027, 1, 31, 12, tzinfo=UTC)
    contest = shortlist(
        Contender(
            submission_id=name,
            submitted_at=began + timedelta(minutes=minute),
            penalized_total=scoring.penalized_total,
            bands={each.dimension: each.band for each in scoring.dimension_scores},
        )
        for minute, (name, scoring) in enumerate(scored.items())
    )
    finalists = [one.submission_id for one in contest.finalists]
    read = [
        await read_entry(
            name,
            SUMMARIES[name],
            scored[name].dimension_scores,
            brief=BRIEF,
            dimensions=dimensions,
            judge=judge,
            deadline=deadline,
        )
        for name in finalists
    ]
    entries = [each.entry for each in read if not isinstance(each, NotScored)]
    points: dict[str, dict[str, float]] = {name: {} for name in finalists}
    if len(entries) > 1:
        labels = random.Random()  # noqa: S311 - who is shown under which label
        compared = await asyncio.gather(
            *(compare(each, entries, brief=BRIEF, judge=judge, deadline=deadline, rng=labels) for each in dimensions)
        )
        for each in compared:
            if not isinstance(each, NotScored):
                for entry in each.entries:
                    points[entry.submission_id][each.dimension] = entry.score
    whole = {name: aggregate(dimensions, own).final for name, own in points.items() if len(own) == len(dimensions)}
    places = rank(contest, whole)
    for place in places:
        print(f"{place.rank or '-'}. {place.submission_id} {place.final_score}")
    print("winner:", winner_of(places) or "nobody")
    await judges.aclose()


asyncio.run(main())
