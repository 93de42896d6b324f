"""A problem's way from step to step, in one process and cut short."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.operations.conftest import build
from tests.support import replies
from tests.support.judges import Asked, Line
from touchstone.answers.model import ImageSource, SolveRequest
from touchstone.answers.progress import new_record
from touchstone.clock import Deadline
from touchstone.errors import QuotaExceededError
from touchstone.judges.base import Judge, Purpose, Tier
from touchstone.judges.opening import Judges
from touchstone.operations.finishing import fail_or_finish
from touchstone.operations.patience import PatientJudge
from touchstone.operations.steps import solve_whole
from touchstone.operations.sweeping import NO_ANSWER

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


@pytest.mark.parametrize("during", ["read_image", "analyze", "solve", "verify", "enrich"])
async def test_a_problem_that_the_sweep_ended_while_it_was_worked_on_keeps_that_end(
    table: "Table", during: str
) -> None:
    house = build(table, {})
    answer_id = "01JD7Z00000000000000000000"

    def ended_meanwhile(asked: Asked) -> Line:
        if asked.prompt == during:
            record = house.answers.get(tenant="acme", answer_id=answer_id)
            fail_or_finish(house.answers, record, failure=NO_ANSWER, skipped="timed_out")
        return said[asked.prompt]

    said = {
        "read_image": replies.image(),
        "analyze": replies.analyze(),
        "solve": replies.solve(),
        "verify": replies.failed(),
        "enrich": replies.enrich(),
    }
    house.script.lines = {prompt: [ended_meanwhile] for prompt in said}
    key = "acme/images/a"
    house.artifacts.put_bytes(tenant="acme", key=key, data=b"\x89PNG\r\n\x1a\n" + bytes(64))
    request = SolveRequest(image=ImageSource(s3_key=key), deep_evaluation=False)
    house.answers.create(new_record(request, tenant="acme", answer_id=answer_id, now=house.clock(), image_key=key))
    record = await solve_whole(house.desk(), answer_id)
    assert record == house.answers.get(tenant="acme", answer_id=answer_id)
    assert house.script.prompts()[-1].endswith(f"/{during}")
    if during in {"read_image", "analyze", "solve"}:
        assert (record.stage, record.failure) == ("failed", NO_ANSWER)
    else:
        assert (record.stage, record.attempt_count) == ("finished", 1 if during == "verify" else 2)
