"""One question to one judge, within a deadline, and what a record keeps of it."""

import asyncio
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from touchstone.answers.language import Language
from touchstone.answers.model import SkipReason, Spend
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, SpendingCeilingError, TenantShareError, TimedOutError
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


def spend_of(reply: Reply[BaseModel], purpose: Purpose) -> Spend:
    """What a record keeps of a call that was answered."""
    return Spend(
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
