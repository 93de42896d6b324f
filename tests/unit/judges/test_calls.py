"""One question to one judge: the deadline holds whatever the judge does."""

import asyncio

import pytest
from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import TimedOutError
from touchstone.judges.base import JudgeQuestion, Prompt, Reply
from touchstone.judges.calls import JudgeReply, ask


class _Said(JudgeReply):
    number: float


QUESTION = JudgeQuestion(prompt=Prompt(name="p", version="0", system="s", user="u"), reply_type=_Said)


class _Deaf:
    """A judge that knows no deadline."""

    provider = "deaf"
    model = "m"
    asked = 0

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002
        self.asked += 1
        await asyncio.sleep(30.0)
        raise AssertionError("nobody was to wait")


async def test_a_judge_that_knows_no_deadline_is_held_to_it() -> None:
    with pytest.raises(TimedOutError, match="deaf did not answer in time") as caught:
        await ask(_Deaf(), QUESTION, deadline=Deadline.after(0.2))
    assert caught.value.sent


async def test_without_time_nothing_is_sent() -> None:
    judge = _Deaf()
    with pytest.raises(TimedOutError) as caught:
        await ask(judge, QUESTION, deadline=Deadline.after(0.0))
    assert (judge.asked, caught.value.sent) == (0, False)
