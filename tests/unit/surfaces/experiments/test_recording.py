"""A judge whose replies are kept: what one asks serves all, and the limit of cost holds whatever is under way."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.judges import Asked, Line, Script, paid
from touchstone.clock import Deadline
from touchstone.errors import LimitError, OverloadedError, SpendingCeilingError, TimedOutError, UnreadableError
from touchstone.judges import Judge, JudgeQuestion, MemoryCache, Prompt, load_registry
from touchstone.judges.calls import JudgeReply
from touchstone.surfaces.experiments.recording import Ledger, RecordedJudge, Records
from touchstone.usage import Usage

MODEL = load_registry({}).model("openai", "strong")
COST = (1000 * (MODEL.price_in or 0) + 100 * (MODEL.price_out or 0)) / 1e6


class Word(JudgeReply):
    """A word."""

    word: str


def question(text: str = "Say a word.") -> JudgeQuestion[Word]:
    return JudgeQuestion(prompt=Prompt(name="word", version="v1", system="", user=text), reply_type=Word)


def recorded(*lines: Line, limit: float | None = None) -> tuple[RecordedJudge, Records, Script]:
    script = Script({"word": lines})
    judge: Judge = script.judges().get("openai", "strong")
    records = Records(ledger=Ledger(limit=limit), clock=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    return RecordedJudge(judge, records, model=MODEL), records, script


def soon() -> Deadline:
    return Deadline.after(5.0)


async def test_what_several_ask_at_once_is_asked_once_and_paid_once() -> None:
    judge, records, script = recorded({"word": "water"})
    replies = await asyncio.gather(*(judge.ask(question(), deadline=soon()) for _ in range(5)))
    assert {reply.value.word for reply in replies} == {"water"}
    assert (len(script.asked), [reply.cached for reply in replies].count(True)) == (1, 4)
    assert {reply.model for reply in replies} == {f"{MODEL.name}-answered"}
    assert sum(reply.cost_usd or 0.0 for reply in replies) == pytest.approx(COST) == records.ledger.spent
    assert (judge.provider, judge.model) == ("openai", MODEL.name)


async def test_a_failure_is_kept_as_no_reply_and_what_it_cost_is_counted() -> None:
    judge, records, script = recorded(
        *[paid(UnreadableError("cut off"))] * 5, paid(OverloadedError("503")), {"word": "water"}
    )
    with pytest.raises(UnreadableError):
        await judge.ask(question(), deadline=soon())
    sent = len(script.asked)
    assert records.ledger.spent == pytest.approx(COST * sent)
    assert [spend.failure for spend in records.paid] == ["unreadable"] * sent
    while True:
        try:
            reply = await judge.ask(question(), deadline=soon())
            break
        except UnreadableError:
            continue
    assert not reply.cached
    assert records.ledger.spent == pytest.approx(COST * len(script.asked))


async def test_a_reply_of_no_use_is_asked_anew_unless_the_experiment_has_paid_for_it() -> None:
    script = Script({"word": [{"word": "one"}, {"word": "two"}, {"word": "three"}]})
    judge: Judge = script.judges(cache=MemoryCache()).get("openai", "strong")
    await judge.ask(question(), deadline=soon())
    records = Records(ledger=Ledger())
    recorded = RecordedJudge(judge, records, model=MODEL)
    renewed = replace(question(), renewed=True)
    words = [(await recorded.ask(one, deadline=soon())).value.word for one in (question(), renewed, renewed)]
    assert words == ["one", "two", "two"]
    assert len(script.asked) == 2


@pytest.mark.parametrize("before", [0, 1], ids=["alone", "after one of which it was told"])
async def test_a_call_of_which_nobody_told_what_it_used_counts_with_its_highest_price(before: int) -> None:
    judge, records, _ = recorded(*[paid(UnreadableError("cut off"))] * before, TimedOutError("late"))
    with pytest.raises(TimedOutError):
        await judge.ask(question(), deadline=soon())
    assert records.ledger.spent == pytest.approx(judge._highest(question()) + before * COST)
    assert len(records.paid) == before


async def test_a_call_that_was_cut_off_may_have_been_sent_and_counts_with_its_highest_price() -> None:
    begun = asyncio.Event()

    def silent(_: Asked) -> Line:
        begun.set()
        return 30.0

    judge, records, _ = recorded(silent)
    asking = asyncio.create_task(judge.ask(question(), deadline=soon()))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert records.ledger.spent > COST


async def test_calls_wait_for_those_under_way_before_the_limit_refuses_them() -> None:
    judge, records, script = recorded({"word": "water"})
    with pytest.raises(SpendingCeilingError):
        await recorded(limit=0.0)[0].ask(question(), deadline=soon())
    records.ledger.limit = 2 * judge._highest(question()) + 3 * COST
    replies = await asyncio.gather(*(judge.ask(question(f"Word {n}."), deadline=soon()) for n in range(3)))
    assert len(replies) == len(script.asked) == 3
    assert not records.ledger.ended
    assert records.ledger.spent <= records.ledger.limit


async def test_a_reply_that_cannot_be_read_is_paid_twice_and_passes_no_limit() -> None:
    highest = recorded()[0]._highest(question())
    whole = Usage(input_tokens=1, output_tokens=question().max_output_tokens + MODEL.thinking_tokens)
    for limit, sent in ((1.5 * highest, 0), (2 * highest, 2)):
        cut = UnreadableError("cut off")
        cut.usage = whole
        judge, records, script = recorded(cut, limit=limit)
        with pytest.raises((SpendingCeilingError, UnreadableError)):
            await judge.ask(question(), deadline=soon())
        assert len(script.asked) == sent
        assert records.ledger.spent <= limit


async def test_once_the_limit_has_refused_a_call_it_refuses_all() -> None:
    judge, records, script = recorded({"word": "water"}, limit=0.000_001)
    for number in range(2):
        with pytest.raises(LimitError):
            await judge.ask(question(f"Word {number}."), deadline=soon())
    assert (records.ledger.stopped, script.asked, records.ledger.spent) == ("max_cost", [], 0.0)
