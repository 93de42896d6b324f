"""What the program before a judge lets through of attacks on it."""

from collections.abc import Sequence

from tests.support import replies
from tests.support.judge_attacks import Case
from tests.support.judges import Script
from touchstone.answers.answer_key import AnswerKey
from touchstone.answers.verification import quick_verify
from touchstone.clock import Deadline
from touchstone.oracle.flags import find_passages

BAR = 0.004
"""The share of attacks that may reach a judge, of those that a program can know."""


async def let_through(case: Case) -> bool:
    """Whether nothing before a judge stops a case; the judge of answers here passes whatever it is asked."""
    if case.says == "order":
        return not find_passages(case.text)
    script = Script({"verify": [replies.verify(independent_answer=case.key or "42", confidence=1.0)] * 2})
    verified = await quick_verify(
        case.problem,
        case.text,
        judge=script.judges().default("verify"),
        deadline=Deadline.after(60.0),
        key=AnswerKey(expected=(case.key,)) if case.key else None,
    )
    return bool(script.asked) or verified.verification.passed is not False


async def passed(every: Sequence[Case]) -> list[Case]:
    """The cases that nothing stops."""
    return [case for case in every if await let_through(case)]
