"""What is added for the learner, and that an answer stands without it."""

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from touchstone.answers.enrichment import MAX_HINTS, MAX_KNOWLEDGE_POINTS, Enriched, enrich
from touchstone.answers.model import Solution, Status
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError

SOLUTION = Solution(answer="Canberra", steps="It is Canberra.", provider="gemini", model="m")


async def _enrich(*lines: Line, status: Status = "verified") -> tuple[Enriched, Script]:
    script = Script({"enrich": lines})
    judge = script.judges().default("fast")
    problem = "Name the capital of Australia."
    return await enrich(problem, SOLUTION, status=status, judge=judge, deadline=Deadline.after(5.0)), script


async def test_hints_knowledge_points_and_an_exercise_are_added() -> None:
    enriched, _ = await _enrich(replies.enrich(hints=["one", "one", "two", "three", "four"]))
    assert enriched.enrichment is not None
    assert enriched.enrichment.hints == ("one", "two", "three")
    assert len(enriched.enrichment.hints) == MAX_HINTS
    assert enriched.enrichment.related_exercise == "Name the capital of Canada."
    assert [spend.purpose for spend in enriched.spends] == ["enrich"]


async def test_too_many_are_cut_and_an_empty_exercise_is_none() -> None:
    points = [f"point {number}" for number in range(9)]
    enriched, _ = await _enrich(replies.enrich(knowledge_points=points, related_exercise=" "))
    assert enriched.enrichment is not None
    assert len(enriched.enrichment.knowledge_points) == MAX_KNOWLEDGE_POINTS
    assert enriched.enrichment.related_exercise is None


@pytest.mark.parametrize(("status", "warned"), [("verified", False), ("unverified", True), ("caution", True)])
async def test_hints_do_not_build_on_a_result_that_may_be_wrong(status: Status, warned: bool) -> None:
    _, script = await _enrich(replies.enrich(), status=status)
    assert ("Nobody has confirmed this solution" in script.asked[0].system) is warned


async def test_where_the_judge_fails_there_is_none() -> None:
    enriched, _ = await _enrich(OverloadedError("Overloaded."))
    assert (enriched.enrichment, enriched.failure, enriched.spends) == (None, "overloaded", ())


async def test_without_a_key_there_is_none() -> None:
    enriched = await enrich("1 + 1", SOLUTION, status="verified", judge=None, deadline=Deadline.after(5.0))
    assert (enriched.enrichment, enriched.failure) == (None, "misconfigured")
