"""One question to one judge, within a deadline: what every job asks through."""

import asyncio

from pydantic import BaseModel, ConfigDict

from touchstone.clock import Deadline
from touchstone.errors import (
    FailedCall,
    JudgeError,
    LimitError,
    SpendingCeilingError,
    TenantShareError,
    TimedOutError,
    Unanswered,
    UnpricedError,
    UnreadableError,
)
from touchstone.judges.base import Judge, JudgeQuestion, Reply


class JudgeReply(BaseModel):
    """The base of all reply schemas: no unknown field, and no value turned into another type.

    A reply that says `"0.9"` or `true` where a number is due was not understood, so it cannot be trusted either.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


async def ask[T: BaseModel](judge: Judge, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
    """Ask, and hold the deadline even against a judge that does not. Raises `JudgeError` or `LimitError`."""
    if deadline.passed:
        raise TimedOutError(f"No time was left to ask {judge.provider}.", sent=False)
    try:
        async with asyncio.timeout(deadline.remaining):
            return await judge.ask(question, deadline=deadline)
    except TimeoutError:
        raise TimedOutError(f"{judge.provider} did not answer in time.") from None


def unusable(reply: Reply[BaseModel], sentence: str) -> UnreadableError:
    """The failure of a question whose reply fits the schema and cannot be used, with the calls that are paid for."""
    error = UnreadableError(sentence)
    last = FailedCall(
        reason=error.reason,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
        cached=reply.cached,
        line_id=reply.line_id,
    )
    error.failed_calls = (*reply.failed_calls, last)
    return error


def unanswered(error: JudgeError | LimitError) -> Unanswered:
    """The stable word for why no judge answered."""
    match error:
        case JudgeError():
            return error.reason
        case SpendingCeilingError():
            return "spending_ceiling"
        case UnpricedError():
            return "unpriced"
        case TenantShareError():
            return "tenant_share"
        case _:
            return "quota"
