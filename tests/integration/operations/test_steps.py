"""A problem's way from step to step, in one process and cut short."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.operations.conftest import build
from tests.support import replies
from tests.support.judges import Line
from touchstone.answers.model import SolveRequest
from touchstone.answers.progress import new_record
from touchstone.clock import Deadline
from touchstone.errors import QuotaExceededError
from touchstone.judges.base import Judge, Purpose, Tier
from touchstone.judges.opening import Judges
from touchstone.operations.patience import PatientJudge
from touchstone.operations.steps import solve_whole

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

PROBLEM = "Name the capital of Australia."


@pytest.mark.parametrize(("seconds", "status"), [(None, "unverified"), (800.0, "verified")])
async def test_a_line_of_a_batch_waits_for_the_minute_of_its_verification(
    table: "Table", monkeypatch: pytest.MonkeyPatch, seconds: float | None, status: str
) -> None:
    house = build(table, {})
    free_again = house.clock.now + timedelta(seconds=40)

    def minute_is_full(_: Any) -> Line:
        if house.clock.now < free_again:
            raise QuotaExceededError("The minute is full.", window="minute", until=free_again)
        return replies.verify()

    house.script.lines = {
        "analyze": [replies.analyze()],
        "solve": [replies.solve()],
        "verify": [minute_is_full],
        "enrich": [replies.enrich()],
    }
    impatient = Judges.get

    async def sleep(pause: float) -> None:
        house.clock.advance(seconds=pause)

    def patient(self: Judges, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        judge = impatient(self, provider, tier, purpose=purpose)
        return PatientJudge(judge=judge, seconds=5.0, clock=house.clock, sleep=sleep)

    monkeypatch.setattr(Judges, "get", patient)
    desk = replace(house.desk(), judges=house.script.judges(clock=house.clock))
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False)
    record = desk.answers.create(
        new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock())
    )
    deadline = None if seconds is None else Deadline.after(seconds)
    assert (await solve_whole(desk, record.id, deadline=deadline)).verification_status == status
