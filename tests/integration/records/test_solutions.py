"""Verified solutions are found again; nothing else is."""

from typing import TYPE_CHECKING

import pytest

from tests.support.records import HandClock, an_answer, an_attempt, finished
from touchstone.answers.model import Status
from touchstone.answers.retrieval import SolutionStore, near_keys, problem_key
from touchstone.records import Answers, Artifacts, SolutionRecords

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

PROBLEM = "A train travels 120 km in 2 hours. What is its average speed in kilometres an hour?"
KEYS = {"problem_key": problem_key(PROBLEM), "near_keys": near_keys(PROBLEM)}


@pytest.fixture
def solutions(table: "Table", artifacts: Artifacts, clock: HandClock) -> SolutionStore:
    return SolutionRecords(table, artifacts, tenant="acme", clock=clock)


async def test_a_verified_solution_is_found_by_its_problem(answers: Answers, solutions: SolutionStore) -> None:
    record = finished(answers, an_answer(problem=PROBLEM), an_attempt(answer="60 km/h"), confidence=0.95, **KEYS)
    found = await solutions.exact(problem_key(PROBLEM))
    assert found is not None
    assert (found.answer_id, found.problem, found.solution.answer) == (record.id, PROBLEM, "60 km/h")
    assert found.confidence == 0.95
    assert await solutions.exact(problem_key("Another problem")) is None


async def test_near_problems_lead_to_each_solution_once(answers: Answers, solutions: SolutionStore) -> None:
    record = finished(answers, an_answer(problem=PROBLEM), **KEYS)
    assert [each.answer_id for each in await solutions.near(near_keys(PROBLEM))] == [record.id]
    assert await solutions.near(near_keys("Something else entirely")) == ()


@pytest.mark.parametrize("status", ["caution", "unverified"])
async def test_what_is_not_verified_is_not_kept(answers: Answers, solutions: SolutionStore, status: Status) -> None:
    finished(answers, an_answer(problem=PROBLEM), status=status, **KEYS)
    assert await solutions.exact(problem_key(PROBLEM)) is None


async def test_a_retrieved_solution_is_not_kept_again(answers: Answers, solutions: SolutionStore) -> None:
    original = finished(answers, an_answer(problem=PROBLEM), **KEYS)
    finished(answers, an_answer(problem=PROBLEM, retrieved_from=original.id), **KEYS)
    found = await solutions.exact(problem_key(PROBLEM))
    assert found is not None
    assert found.answer_id == original.id


async def test_another_tenants_solution_is_not_found(answers: Answers, solutions: SolutionStore) -> None:
    finished(answers, an_answer(tenant="rival", problem=PROBLEM), **KEYS)
    assert await solutions.exact(problem_key(PROBLEM)) is None
    assert await solutions.near(near_keys(PROBLEM)) == ()


async def test_a_solution_whose_record_is_gone_is_not_offered(
    answers: Answers, solutions: SolutionStore, table: "Table"
) -> None:
    record = finished(answers, an_answer(problem=PROBLEM), **KEYS)
    table.delete_item(Key={"pk": f"T#acme#ANSWER#{record.id}", "sk": "RECORD"})
    assert await solutions.exact(problem_key(PROBLEM)) is None


async def test_a_solution_whose_record_says_otherwise_is_not_offered(
    answers: Answers, solutions: SolutionStore, table: "Table"
) -> None:
    finished(answers, an_answer(problem=PROBLEM), **KEYS)
    doubted = finished(answers, an_answer(problem=PROBLEM), status="caution")
    key = {"pk": f"T#acme#PROBLEM#{problem_key(PROBLEM)}", "sk": "SOLUTION"}
    table.put_item(Item={**key, "answer_id": doubted.id})
    assert await solutions.exact(problem_key(PROBLEM)) is None
