"""Sorting a problem never stops it from being solved."""

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from touchstone.answers.analysis import MAX_KNOWLEDGE_POINTS, Analyzed, analyze
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError


async def _analyze(*lines: Line, problem: str = "Name the capital of Australia.") -> Analyzed:
    judge = Script({"analyze": lines}).judges().default("fast")
    return await analyze(problem, judge=judge, deadline=Deadline.after(5.0))


async def test_a_problem_is_sorted_by_subject_difficulty_and_knowledge_points() -> None:
    found = await _analyze(replies.analyze())
    assert found.analysis is not None
    assert (found.analysis.subject, found.analysis.difficulty) == ("geography", "easy")
    assert found.analysis.knowledge_points == ("capital cities",)
    assert (found.language, found.analysis.language) == ("en", "en")
    assert [spend.purpose for spend in found.spends] == ["analyze"]


async def test_knowledge_points_are_few_and_each_is_named_once() -> None:
    points = ["a", " a ", "", " ", *(f"point {number}" for number in range(20))]
    found = await _analyze(replies.analyze(knowledge_points=points))
    assert found.analysis is not None
    assert len(found.analysis.knowledge_points) == MAX_KNOWLEDGE_POINTS
    assert found.analysis.knowledge_points[:2] == ("a", "point 0")


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (OverloadedError("Overloaded."), "overloaded"),
        (RefusedError("Declined."), "refused"),
        (replies.analyze(subject="alchemy"), "unreadable"),
        (replies.analyze(difficulty="impossible"), "unreadable"),
        (replies.analyze(knowledge_points="capitals"), "unreadable"),
    ],
)
async def test_where_the_judge_fails_nothing_is_claimed_but_the_language(line: Line, failure: str) -> None:
    found = await _analyze(line, problem="澳大利亚的首都是哪座城市？")
    assert (found.analysis, found.failure, found.language) == (None, failure, "zh")


async def test_without_a_key_nothing_is_claimed_either() -> None:
    found = await analyze("1 + 1", judge=None, deadline=Deadline.after(5.0))
    assert (found.analysis, found.failure) == (None, "misconfigured")
