"""A judge call that brought nothing is paid for all the same: every step keeps it in the record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from tests.support import replies
from tests.support.house import House, build
from tests.support.judges import USAGE, Line, Script, paid
from tests.support.scripted_adapters import FreeTicket
from touchstone.answers.model import AnswerRecord, ImageSource, SolveRequest
from touchstone.answers.progress import new_record
from touchstone.answers.verification import VerifyReply
from touchstone.attempts import MAX_TRIES
from touchstone.budgets import Spending
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    OverloadedError,
    QuotaExceededError,
    RefusedError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges import load_registry
from touchstone.judges.base import Call, JudgeQuestion, Permit, Reply
from touchstone.judges.prompts import prompt_of
from touchstone.judges.questions import cost_usd
from touchstone.operations.answers.evaluating import Claimed, claim, evaluate_answer
from touchstone.operations.answers.steps import solve_whole
from touchstone.operations.jobs.patience import PatientJudge
from touchstone.records import new_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

ANSWERS: dict[str, Sequence[Line]] = {
    "analyze": [replies.analyze()],
    "solve": [replies.solve()],
    "verify": [replies.verify()],
    "enrich": [replies.enrich()],
    "evaluate": [replies.evaluate()],
}
ASKED: dict[str, Any] = {
    "problem": "1 + 1",
    "answer": "2",
    "steps": "",
    "finding": None,
    "expected": [],
    "tolerance": None,
}
"""What a verification is asked about."""
NONSENSE = "no JSON"
HOUR_SECONDS = 3600.0


async def _solved(house: House, **fields: Any) -> AnswerRecord:
    request = SolveRequest(**({"problem": "Name the capital of Australia."} | fields))
    key = None if request.image is None else request.image.s3_key
    context = house.context()
    record = new_record(request, tenant="acme", answer_id=new_ulid(house.clock()), now=house.clock(), image_key=key)
    context.answers.create(record)
    return await solve_whole(context, record.id)


def _failures(record: AnswerRecord) -> list[tuple[str, str]]:
    return [(spend.purpose, spend.failure) for spend in record.spends if spend.failure is not None]


STEPS: list[tuple[dict[str, Sequence[Line]], list[tuple[str, str]], str]] = [
    ({"analyze": [NONSENSE]}, [("analyze", "unreadable")] * 2, "finished"),
    ({"claude/solve": [NONSENSE]}, [("solve", "unreadable")] * 2, "finished"),
    ({"verify": [NONSENSE]}, [("verify", "unreadable")] * 2, "finished"),
    ({"enrich": [paid(RefusedError("Declined."))]}, [("enrich", "refused")], "finished"),
    ({"solve": [paid(RefusedError("Declined."))]}, [("solve", "refused")] * 3, "failed"),
    (
        {"solve": [replies.solve(answer="Sydney"), paid(RefusedError("Declined."))], "verify": [replies.failed()]},
        [("solve", "refused")] * 3,
        "finished",
    ),
]


@pytest.mark.parametrize(("said", "failures", "stage"), STEPS)
async def test_every_step_keeps_the_calls_that_failed(
    table: "Table", said: dict[str, Sequence[Line]], failures: list[tuple[str, str]], stage: str
) -> None:
    house = build(table, ANSWERS | said)
    record = await _solved(house)
    assert (record.stage, _failures(record)) == (stage, failures)
    assert len(record.spends) == len(house.script.asked)
    spent = Spending(table, clock=house.clock).today("acme")
    assert spent.spent_usd == pytest.approx(record.cost_usd, abs=1e-6 * len(record.spends))
    assert spent.reserved_usd == 0.0


async def test_a_picture_that_nobody_reads_is_paid_for(table: "Table") -> None:
    house = build(table, ANSWERS | {"read_image": [NONSENSE]})
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
    house.artifacts.put_bytes(tenant="acme", key="acme/images/1", data=picture, content_type="image/png")
    record = await _solved(house, problem=None, image=ImageSource(s3_key="acme/images/1"))
    assert (record.stage, _failures(record)) == ("failed", [("ocr", "unreadable")] * 2)


EVALUATIONS: list[tuple[list[Line], list[str | None], str]] = [
    ([NONSENSE, NONSENSE, replies.evaluate()], ["unreadable", "unreadable", None], "done"),
    ([NONSENSE, replies.evaluate()], ["unreadable", None], "done"),
    ([paid(RefusedError("Declined."))], ["refused"], "failed"),
    ([NONSENSE], [*["unreadable"] * (2 * MAX_TRIES)], "failed"),
]


@pytest.mark.parametrize(("said", "failures", "state"), EVALUATIONS)
async def test_every_try_at_an_evaluation_keeps_the_calls_that_failed(
    table: "Table", said: list[Line], failures: list[str | None], state: str
) -> None:
    house = build(table, {"evaluate": said})
    (record,) = house.asked_for(1, state="waiting")
    while (outcome := await evaluate_answer(house.context(), record.id)).until is not None:
        house.clock.now = max(house.clock.now, outcome.until)
    after = house.answers.get(Reference("acme", "answer", record.id))
    assert (outcome.state, [spend.failure for spend in after.spends]) == (state, failures)
    assert {spend.purpose for spend in after.spends} == {"evaluate"}
    spent = Spending(table, clock=house.clock).today("acme").spent_usd
    assert spent == pytest.approx(after.cost_usd, abs=1e-6 * len(after.spends))


async def test_an_evaluation_that_is_deferred_keeps_what_its_try_cost(table: "Table") -> None:
    house = build(table, {"evaluate": [NONSENSE, DayQuotaError("Spent.")]})
    (record,) = house.asked_for(1, state="waiting")
    assert (await evaluate_answer(house.context(), record.id)).state == "deferred"
    assert _failures(house.answers.get(Reference("acme", "answer", record.id))) == [("evaluate", "unreadable")]


@pytest.mark.parametrize("per_minute", [1, 3, 10])
async def test_an_evaluation_that_nobody_can_read_ends_after_its_tries_however_tight_the_minute(
    table: "Table", per_minute: int
) -> None:
    house = build(table, {"evaluate": [NONSENSE]})
    house.per_day, house.per_minute = 250, per_minute
    (asked,) = house.asked_for(1, state="waiting")
    tries = list[int]()
    for _ in range(40):
        outcome = await evaluate_answer(house.context(), asked.id)
        tries.append(house.answers.get(Reference("acme", "answer", asked.id)).evaluation.tries)
        if outcome.until is None:
            break
        house.clock.now = max(house.clock.now, outcome.until)
    after = house.answers.get(Reference("acme", "answer", asked.id))
    assert (after.evaluation.state, after.evaluation.failure) == ("failed", "unreadable")
    assert tries == sorted(tries)
    assert max(tries) == MAX_TRIES - 1, "the last one is not put back"
    assert len(after.spends) == len(house.script.asked) <= 2 * MAX_TRIES


async def test_r27_an_outage_of_hours_is_waited_out_and_one_of_days_ends_with_its_reason(table: "Table") -> None:
    down = True

    def say(_: Any) -> Line:
        return paid(OverloadedError("Overloaded.")) if down else replies.evaluate()

    house = build(table, {"evaluate": [say]})
    house.per_day, house.per_minute = 1000, 100
    hours, days = house.asked_for(2, state="waiting")
    for asked, lasts in ((hours, timedelta(hours=10)), (days, timedelta(days=30))):
        since = house.clock.now
        while (outcome := await evaluate_answer(house.context(), asked.id)).until is not None:
            assert outcome.reason in {"overloaded", "quota"}
            house.clock.now = max(house.clock.now, outcome.until)
            down = house.clock.now - since < lasts
        down = True
    ends = [house.answers.get(Reference("acme", "answer", each.id)).evaluation for each in (hours, days)]
    assert [(end.state, end.failure) for end in ends] == [("done", None), ("failed", "overloaded")]
    assert len(house.script.asked) < 3 * 80


async def test_r27_deaths_between_the_claim_and_the_call_count_for_nothing(table: "Table") -> None:
    house = build(table, {"evaluate": [replies.evaluate()]})
    (asked,) = house.asked_for(1, state="waiting")
    for _ in range(2 * MAX_TRIES):
        claimed = claim(house.context(), asked.id, purpose="fresh")  # and then the process is gone
        assert isinstance(claimed, Claimed)
        house.clock.now = claimed.lease or house.clock.now
    assert house.script.asked == []
    assert (await evaluate_answer(house.context(), asked.id)).state == "done"
    assert len(house.script.asked) == 1


async def test_r27_after_deaths_the_last_true_reason_is_shown(table: "Table") -> None:
    house = build(table, {"evaluate": [*[paid(OverloadedError("Overloaded."))] * 3, replies.evaluate()]})
    (asked,) = house.asked_for(1, state="waiting")
    first = await evaluate_answer(house.context(), asked.id)
    assert (first.state, first.reason) == ("deferred", "overloaded")
    house.clock.now = max(house.clock.now, first.until or house.clock.now)
    for _ in range(5):
        claimed = claim(house.context(), asked.id, purpose="fresh")  # and then the process is gone
        assert isinstance(claimed, Claimed)
        house.clock.now = claimed.lease or house.clock.now
        shown = house.answers.get(Reference("acme", "answer", asked.id)).evaluation
        assert (shown.failure, shown.tries) == ("overloaded", 0)
    assert (await evaluate_answer(house.context(), asked.id)).state == "done"


class _Doorkeeper:
    """Admits the calls that are due, and refuses the others for a minute each."""

    def __init__(self, house: House, *admitted: bool) -> None:
        self._house = house
        self._admitted = list(admitted)

    async def admit(self, _call: Call) -> Permit:
        if self._admitted.pop(0):
            return FreeTicket()
        until = self._house.clock.now + timedelta(minutes=1)
        raise QuotaExceededError("The minute is full.", window="minute", until=until)


@pytest.mark.parametrize("last", [replies.verify(), OverloadedError("Overloaded.")])
async def test_a_judge_that_waits_for_its_minute_forgets_no_call_before_it(table: "Table", last: Line) -> None:
    house = build(table, {})
    admission = _Doorkeeper(house, True, False, True, True, True)
    judge = Script({"verify": [NONSENSE, last]}).judges(admission=admission).get("openai", "fast")

    async def sleep(seconds: float) -> None:
        house.clock.advance(seconds=seconds)

    patient = PatientJudge(inner=judge, clock=house.clock, sleep=sleep)
    asked = prompt_of("touchstone.answers", "verify", "en", **ASKED)
    question = JudgeQuestion(prompt=asked, reply_type=VerifyReply)
    if isinstance(last, OverloadedError):
        with pytest.raises(OverloadedError) as failed:
            await patient.ask(question, deadline=Deadline.after(200.0))
        calls = failed.value.failed_calls
    else:
        calls = (await patient.ask(question, deadline=Deadline.after(200.0))).failed_calls
    price = cost_usd(load_registry({}).model("openai", "fast"), USAGE, on=house.clock().date())
    assert [(call.reason, call.cost_usd) for call in calls] == [("unreadable", price)]


async def test_a_judge_that_waits_pays_for_no_more_than_one_repeat_of_what_failed(table: "Table") -> None:
    house = build(table, {})
    admission = _Doorkeeper(house, False, False, *[True, False, False] * 50)
    script = Script({"verify": [NONSENSE]})
    judge = script.judges(admission=admission).get("openai", "fast")

    async def sleep(seconds: float) -> None:
        house.clock.advance(seconds=seconds)

    patient = PatientJudge(inner=judge, clock=house.clock, sleep=sleep)
    asked = prompt_of("touchstone.answers", "verify", "en", **ASKED)
    with pytest.raises(UnreadableError) as failed:
        await patient.ask(JudgeQuestion(prompt=asked, reply_type=VerifyReply), deadline=Deadline.after(HOUR_SECONDS))
    assert [call.reason for call in failed.value.failed_calls] == ["unreadable"] * 2
    assert len(script.asked) == 2


async def test_a_judge_that_waits_tells_the_failure_where_the_next_slot_lies_behind_the_deadline(
    table: "Table",
) -> None:
    house = build(table, {})
    admission = _Doorkeeper(house, True, False, False)
    judge = Script({"verify": [NONSENSE]}).judges(admission=admission).get("openai", "fast")
    slots = list[float]()

    async def sleep(seconds: float) -> None:
        slots.append(seconds)

    deadline = Deadline.after(HOUR_SECONDS)
    patient = PatientJudge(inner=judge, clock=lambda: house.clock.now - _past(slots), sleep=sleep)
    asked = prompt_of("touchstone.answers", "verify", "en", **ASKED)
    with pytest.raises(UnreadableError) as failed:
        await patient.ask(JudgeQuestion(prompt=asked, reply_type=VerifyReply), deadline=deadline)
    assert ([call.reason for call in failed.value.failed_calls], len(slots)) == (["unreadable"], 1)


@dataclass
class _InVain:
    """A judge whose minute is full, and for which no time is left when it is not."""

    house: House
    provider: str = "openai"
    model: str = "m"
    asked: int = 0

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002
        self.asked += 1
        if self.asked == 1:
            until = self.house.clock.now + timedelta(minutes=1)
            raise QuotaExceededError("The minute is full.", window="minute", until=until)
        raise TimedOutError("No time was left.", sent=False)


async def test_a_judge_that_waited_in_vain_tells_what_it_waited_for(table: "Table") -> None:
    house = build(table, {})

    async def sleep(seconds: float) -> None:
        house.clock.advance(seconds=seconds)

    patient = PatientJudge(inner=_InVain(house), clock=house.clock, sleep=sleep)
    question = JudgeQuestion(prompt=prompt_of("touchstone.answers", "verify", "en", **ASKED), reply_type=VerifyReply)
    with pytest.raises(QuotaExceededError, match="The minute is full"):
        await patient.ask(question, deadline=Deadline.after(60.5))


def _past(slots: Sequence[float]) -> timedelta:
    """How far the clock is behind: an hour for every wait, so that the second one is longer than the whole deadline."""
    return timedelta(seconds=HOUR_SECONDS * len(slots))
