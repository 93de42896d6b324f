"""A known reply of no use that other work replaces between this work's two questions."""

from dataclasses import dataclass, field

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.judges import JudgeQuestion, Prompt
from touchstone.judges.base import Reply
from touchstone.judges.calls import JudgeReply, ask_for_use


class Word(JudgeReply):
    """A word."""

    word: str


@dataclass
class KnownReplies:
    """A judge whose cache holds one reply at the first question and another one at the second."""

    words: list[str]
    provider: str = "openai"
    model: str = "m"
    renewed: list[bool] = field(default_factory=list)

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002 - as any judge
        self.renewed.append(question.renewed)
        return Reply(
            value=question.reply_type.model_validate({"word": self.words.pop(0)}),
            provider=self.provider,
            model=self.model,
            requested_model=self.model,
            prompt_version="v1",
            cost_usd=0.0,
            attempts=0,
            cached=True,
        )


async def test_the_reply_that_other_work_has_put_in_place_of_a_broken_one_is_taken() -> None:
    judge = KnownReplies(["broken", "good"])
    question = JudgeQuestion(prompt=Prompt(name="word", version="v1", system="", user="Say."), reply_type=Word)

    def faults(word: Word) -> list[str]:
        return ["It is broken."] if word.word == "broken" else []

    reply = await ask_for_use(judge, question, faults, deadline=Deadline.after(5.0))
    assert reply.value.word == "good"
    assert (reply.cached, reply.failed_calls, judge.renewed) == (True, (), [False, True])
