"""A problem's way from step to step, in one process and cut short."""

import re
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import replies
from tests.support.house import build
from tests.support.judges import Asked, Line, Script
from touchstone.answers.model import ImageSource, SolveRequest, VerifyRequest
from touchstone.answers.pipeline import solve_and_verify
from touchstone.answers.progress import new_record
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, QuotaExceededError, RefusedError, StoreError
from touchstone.judges import MemoryCache
from touchstone.judges.base import Judge, Purpose, Tier
from touchstone.judges.opening import Judges
from touchstone.operations.answers.finishing import fail_or_finish, finish_skipped, skip_verification
from touchstone.operations.answers.steps import UndecidedError, solve_problem, solve_whole, verify_own_answer
from touchstone.operations.answers.sweeping import NO_ANSWER
from touchstone.operations.jobs.patience import PatientJudge
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

PROBLEM = "Name the capital of Australia."


def _questions(script: Script) -> list[tuple[str, str, str]]:
    """Who was asked what, in which words; the marks around what strangers wrote are new each time."""
    return [(asked.provider, asked.prompt, re.sub(r"[0-9a-f]{16}", "", asked.user)) for asked in script.asked]


@pytest.mark.parametrize(("seconds", "status"), [(10.0, "unverified"), (None, "verified"), (800.0, "verified")])
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
        return PatientJudge(inner=judge, clock=house.clock, sleep=sleep)

    monkeypatch.setattr(Judges, "get", patient)
    context = replace(house.context(), judges=house.script.judges(clock=house.clock))
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False)
    record = context.answers.create(
        new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock())
    )
    deadline = None if seconds is None else Deadline.after(seconds)
    assert (await solve_whole(context, record.id, deadline=deadline)).verification_status == status


@pytest.mark.parametrize("during", ["read_image", "analyze", "solve", "verify", "enrich"])
async def test_a_problem_that_the_sweep_ended_while_it_was_worked_on_keeps_that_end(
    table: "Table", during: str
) -> None:
    house = build(table, {})
    answer_id = "01JD7Z00000000000000000000"

    def ended_meanwhile(asked: Asked) -> Line:
        if asked.prompt == during:
            record = house.answers.get(Reference("acme", "answer", answer_id))
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
    record = await solve_whole(house.context(), answer_id)
    assert record == house.answers.get(Reference("acme", "answer", answer_id))
    assert house.script.prompts()[-1].endswith(f"/{during}")
    if during in {"read_image", "analyze", "solve"}:
        assert (record.stage, record.failure) == ("failed", NO_ANSWER)
    else:
        assert (record.stage, record.attempt_count) == ("finished", 1 if during == "verify" else 2)


@pytest.mark.parametrize("ended", [False, True])
async def test_a_verdict_that_comes_after_somebody_else_ended_the_verification_changes_nothing(
    table: "Table", *, ended: bool
) -> None:
    house = build(table, {"verify": [replies.verify()]})
    request = VerifyRequest(problem=PROBLEM, answer="Canberra", deep_evaluation=False)
    begun = new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock())
    house.answers.create(begun)
    context = house.context()
    skip = finish_skipped if ended else skip_verification

    def meanwhile(tier: Tier, **how: Any) -> Judge | None:
        skip(house.answers, house.answers.get(begun.ref), reason="timed_out", sentence="Late.")
        return default(tier, **how)

    default, context.judges.default = context.judges.default, meanwhile  # type: ignore[method-assign]
    record = await verify_own_answer(context, begun.id)
    assert (record.stage, record.verification_status, record.best_attempt) == ("finished", "unverified", 1)
    assert [attempt.verification and attempt.verification.error for attempt in record.attempts] == ["Late."]
    assert len(record.spends) == 1, "what was paid for is kept"
    assert house.answers.get(begun.ref) == record


@pytest.mark.parametrize(
    "lines",
    [
        {},
        {"verify": [replies.failed(), replies.verify()]},
        {"verify": [replies.failed(), replies.failed(confidence=0.7)]},
        {"verify": [replies.verify(confidence=0.5), replies.verify(confidence=0.6)]},
        {"verify": [RefusedError("No.")]},
        {"analyze": [RefusedError("No.")]},
        {"enrich": [RefusedError("No.")]},
        {"claude/solve": [OverloadedError("Broken.")]},
        {"verify": [replies.failed()], "openai/solve": [RefusedError("No.")], "gemini/solve": [RefusedError("No.")]},
        {"solve": [RefusedError("No.")]},
        {"read_image": [RefusedError("No.")]},
    ],
    ids=lambda lines: "+".join(lines) or "good",
)
@pytest.mark.parametrize("pictured", [False, True])
async def test_a_deployment_asks_and_decides_what_the_library_does(
    table: "Table", lines: dict[str, Sequence[Line]], *, pictured: bool
) -> None:
    good: dict[str, Sequence[Line]] = {
        "read_image": [replies.image()],
        "analyze": [replies.analyze()],
        "solve": [replies.solve()],
        "verify": [replies.verify()],
        "enrich": [replies.enrich()],
    }
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    source = ImageSource(data_base64=b64encode(picture).decode()) if pictured else None
    request = SolveRequest(problem=None if pictured else PROBLEM, image=source, deep_evaluation=False)

    script = Script(good | lines)
    alone = await solve_and_verify(request, judges=script.judges(), tenant="acme")

    house = build(table, good | lines)
    key = "acme/images/a" if pictured else None
    if key is not None:
        house.artifacts.put_bytes(tenant="acme", key=key, data=picture)
    begun = new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock(), image_key=key)
    house.answers.create(begun)
    deployed = await solve_whole(house.context(), begun.id)

    assert _questions(house.script) == _questions(script)
    paid = [[(spend.purpose, spend.model, spend.failure) for spend in record.spends] for record in (deployed, alone)]
    assert paid[0] == paid[1]
    changing = {"id", "created_at", "updated_at", "image_key", "spends"}
    assert deployed.model_dump(exclude=changing) == alone.model_dump(exclude=changing)


async def test_a_problem_that_is_tried_again_pays_its_blank_solution_once(table: "Table") -> None:
    house = build(
        table,
        {
            "analyze": [replies.analyze()],
            "openai/solve": [replies.solve(answer=" ")],
            "solve": [OverloadedError("Come back later.")],
        },
    )
    context = replace(house.context(), judges=house.script.judges(cache=MemoryCache(), clock=house.clock))
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False)
    record = context.answers.create(
        new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock())
    )
    for _ in range(3):
        await solve_whole(context, record.id, abandoned_after=timedelta(days=7))
        house.clock.advance(hours=7)
    assert house.script.prompts().count("openai/solve") == 1


async def test_a_problem_whose_solution_was_blank_is_solved_by_the_next_try_which_pays_once_though_it_dies(
    table: "Table", monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = replies.solve(answer=" ")
    house = build(table, {"analyze": [replies.analyze()], "solve": [blank, blank, replies.solve()]})
    house.script.providers = ("openai",)
    context = replace(house.context(), judges=house.script.judges(cache=MemoryCache(), clock=house.clock))
    request = SolveRequest(problem=PROBLEM, deep_evaluation=False)
    record = context.answers.create(
        new_record(request, tenant="acme", answer_id="01JD7Z00000000000000000000", now=house.clock())
    )

    async def solved() -> int:
        house.clock.advance(hours=1)
        with suppress(UndecidedError):
            await solve_problem(context, record.id, number=1, abandoned_after=timedelta(days=7))
        return house.script.prompts().count("openai/solve")

    assert await solved() == 1
    with monkeypatch.context() as dying:
        dying.setattr(type(context.answers), "wait", _fail)
        with pytest.raises(StoreError):
            await solved()
    assert await solved() == 2, "the step that died had paid for this reply"
    assert await solved() == 3
    assert context.answers.get(record.ref).attempts[0].solution.answer == replies.solve()["answer"]


def _fail(*_: object, **__: object) -> None:
    raise StoreError("The store is away.")
