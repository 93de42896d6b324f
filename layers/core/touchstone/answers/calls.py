"""One question to one judge, within a deadline, and what a record keeps of it."""

import asyncio
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from touchstone.answers.language import Language
from touchstone.answers.model import SkipReason, Spend
from touchstone.clock import Deadline
from touchstone.errors import (
    FailedCall,
    JudgeError,
    LimitError,
    SpendingCeilingError,
    TenantShareError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges.base import Judge, Prompt, Question, Reply
from touchstone.judges.prompts import load_prompt

type Purpose = Literal["ocr", "analyze", "solve", "verify", "enrich", "evaluate"]


class JudgeReply(BaseModel):
    """The base of all reply schemas: no unknown field, and no value turned into another type.

    A reply that says `"0.9"` or `true` where a number is due was not understood, so it cannot be trusted either.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this job's prompts in a language, rendered with `values`: whatever its template names."""
    return load_prompt("touchstone.answers", name, language).render(**values)


async def ask[T: BaseModel](judge: Judge, question: Question[T], *, deadline: Deadline) -> Reply[T]:
    """Ask, and hold the deadline even against a judge that does not. Raises `JudgeError` or `LimitError`."""
    if deadline.passed:
        raise TimedOutError(f"No time was left to ask {judge.provider}.", sent=False)
    try:
        async with asyncio.timeout(deadline.remaining):
            return await judge.ask(question, deadline=deadline)
    except TimeoutError:
        raise TimedOutError(f"{judge.provider} did not answer in time.") from None


def spends_of(reply: Reply[BaseModel], purpose: Purpose) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that was answered, those before it that failed among them."""
    answered = Spend(
        purpose=purpose,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
        cached=reply.cached,
    )
    return (*(_failed(call, purpose) for call in reply.failed_calls), answered)


def spends_of_failure(error: JudgeError | LimitError, purpose: Purpose) -> tuple[Spend, ...]:
    """What a record keeps of the calls for a question that nobody answered: those that are paid for all the same."""
    return tuple(_failed(call, purpose) for call in error.failed_calls)


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
    )
    error.failed_calls = reply.failed_calls if reply.cached else (*reply.failed_calls, last)
    return error


def _failed(call: FailedCall, purpose: Purpose) -> Spend:
    return Spend(
        purpose=purpose,
        provider=call.provider,
        model=call.model,
        prompt_version=call.prompt_version,
        input_tokens=call.usage.input_tokens,
        output_tokens=call.usage.output_tokens,
        cost_usd=call.cost_usd,
        latency_ms=call.latency_ms,
        failure=call.reason,
    )


def skip_reason(error: JudgeError | LimitError) -> SkipReason:
    """The stable word for why no judge decided."""
    match error:
        case JudgeError():
            return error.reason
        case SpendingCeilingError():
            return "spending_ceiling"
        case TenantShareError():
            return "tenant_share"
        case _:
            return "quota"
