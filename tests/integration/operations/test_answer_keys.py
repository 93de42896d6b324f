"""An answer key on the way from step to step: as in the library, tried again by another provider, and kept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import replies
from tests.support.house import House, build
from tests.support.judges import Line, Script
from touchstone.answers.model import AnswerRecord, SolveRequest
from touchstone.answers.pipeline import solve_and_verify
from touchstone.answers.progress import new_record
from touchstone.operations.answers.steps import solve_whole
from touchstone.records import new_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

PROBLEM = "How many eggs are in the basket of the story?"
SAID: dict[str, Sequence[Line]] = {
    "analyze": [replies.analyze()],
    "solve": [replies.solve(answer="12")],
    "verify": [replies.verify(independent_answer="12")],
    "enrich": [replies.enrich()],
}


async def _solved(house: House, **fields: Any) -> AnswerRecord:
    house.clock.advance(seconds=1)
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False, **fields)
    begun = new_record(request, tenant="acme", answer_id=new_ulid(house.clock()), now=house.clock())
    house.answers.create(begun)
    return await solve_whole(house.context(), begun.id)


@pytest.mark.parametrize(
    ("expected", "methods", "status"),
    [
        ("12", ["expected"], "verified"),
        (["11", "12"], ["expected"], "verified"),
        ("13", ["expected", "expected"], "caution"),
        ("a dozen, all brown", ["judge"], "verified"),
    ],
)
async def test_a_deployment_decides_by_a_key_what_the_library_does(
    table: "Table", expected: str | list[str], methods: list[str], status: str
) -> None:
    script = Script(SAID)
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False, expected=expected)
    alone = await solve_and_verify(request, judges=script.judges(), tenant="acme")
    house = build(table, SAID)
    deployed = await _solved(house, expected=expected)
    assert house.script.prompts() == script.prompts()
    changing = {"id", "created_at", "updated_at", "spends"}
    assert deployed.model_dump(exclude=changing) == alone.model_dump(exclude=changing)
    assert [each.verification.method for each in deployed.attempts if each.verification] == methods
    assert deployed.verification_status == status
    assert house.answers.get(Reference("acme", "answer", deployed.id)).answer_key == request.answer_key


async def test_what_a_key_verified_is_kept_for_later_and_what_it_refuted_is_not(table: "Table") -> None:
    house = build(table, SAID | {"verify": []})
    refuted = await _solved(house, expected="13")
    assert refuted.verification_status == "caution"
    verified = await _solved(house, expected="12")
    assert (verified.retrieved_from, verified.verification_status) == (None, "verified")
    for fields in ({"expected": "12"}, {"expected": "12.1", "tolerance": {"absolute": 0.1}}):
        assert (await _solved(house, **fields)).retrieved_from == verified.id
    for fields in ({"expected": "13"}, {"expected": "12.1"}):
        assert (await _solved(house, **fields)).retrieved_from is None
