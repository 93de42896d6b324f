"""One question to one judge, within a deadline: all jobs ask through this module.

A reply may have to obey rules that no schema states. It is checked against them, and asked for again with its faults
named.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

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
    Unscored,
)
from touchstone.judges.base import Judge, JudgeQuestion, Prompt, Reply
from touchstone.judges.spends import JudgedBy, Spend, spends_of, spends_of_failure


class JudgeReply(BaseModel):
    """The base of all reply schemas: no unknown field, and no value turned into another type.

    A reply that says `"0.9"` or `true` where a number is due was not understood, so it cannot be trusted either.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


async def ask[T: BaseModel](judge: Judge, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
    """Ask, and stop at the deadline even if the judge does not. Raises `JudgeError` or `LimitError`."""
    if deadline.passed:
        raise TimedOutError(f"No time was left to ask {judge.provider}.", sent=False)
    try:
        async with asyncio.timeout(deadline.remaining):
            return await judge.ask(question, deadline=deadline)
    except TimeoutError:
        raise TimedOutError(f"{judge.provider} did not answer in time.") from None


async def ask_for_use[T: BaseModel](
    judge: Judge, question: JudgeQuestion[T], faults_of: Callable[[T], Iterable[str]], *, deadline: Deadline
) -> Reply[T]:
    """Ask, and ask anew if the reply was known before and has faults. The new reply may have faults, too.

    A known reply with faults counts as a failed call of the new one. Raises `JudgeError` or `LimitError`.
    """
    known = await ask(judge, question, deadline=deadline)
    if not known.cached or (fault := next(iter(faults_of(known.value)), None)) is None:
        return known
    before = unusable_reply_error(known, fault).failed_calls
    try:
        reply = await ask(judge, replace(question, renewed=True), deadline=deadline)
    except (JudgeError, LimitError) as error:
        error.failed_calls = (*before, *error.failed_calls)
        raise
    # If it is cached, too, it was known to this work already, or other work has just replaced the one with faults.
    return reply if reply.cached else replace(reply, failed_calls=(*before, *reply.failed_calls))


def unusable_reply_error(reply: Reply[BaseModel], sentence: str) -> UnreadableError:
    """The failure of a question whose reply fits the schema but cannot be used.

    It carries the calls that are paid for.
    """
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


def unanswered_reason(error: JudgeError | LimitError) -> Unanswered:
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


MOST_FAULTS = 20
"""How many faults of one reply are named. A record keeps the faults, and nobody would read more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked[T]:
    """A reply that obeys the rules, the model that gave it, and every call that was paid for on the way."""

    value: T
    provider: str
    model: str
    prompt_version: str
    spends: tuple[Spend, ...]

    @property
    def judged_by(self) -> JudgedBy:
        """The model that gave the reply and the prompt's version, as a record keeps them."""
        return JudgedBy(model=self.model, prompt_version=self.prompt_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotScored:
    """No judge answered, or both replies broke the rules.

    `faults` names the rules that the last reply broke, and is empty if no judge answered. `error` is the judge's
    failure or the limit that was met; None after an invalid reply. `failed_by` is the provider that failed; None if
    only one provider was asked.
    """

    reason: Unscored
    faults: tuple[str, ...]
    error: JudgeError | LimitError | None
    spends: tuple[Spend, ...]
    failed_by: str | None = None

    @property
    def details(self) -> tuple[str, ...]:
        """Why there is no result, in sentences as a record keeps them."""
        return self.faults if self.error is None else (str(self.error),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedReply[T](NotScored):
    """Both replies broke the rules. `value` is the last reply, for a caller that can use a part of it."""

    value: T
    provider: str
    model: str
    prompt_version: str

    @property
    def judged_by(self) -> JudgedBy:
        """The model that gave the reply and the prompt's version, as a record keeps them."""
        return JudgedBy(model=self.model, prompt_version=self.prompt_version)


def not_scored(error: JudgeError | LimitError, spends: tuple[Spend, ...] = ()) -> NotScored:
    """The result if no judge answered because of this error. `spends` are the calls that were paid for all the same."""
    return NotScored(reason=unanswered_reason(error), faults=(), error=error, spends=spends)


async def ask_checked[T: BaseModel](
    judge: Judge,
    render: Callable[[list[str]], Prompt],
    reply_type: type[T],
    faults_of: Callable[[T], Iterable[str]],
    *,
    max_output_tokens: int,
    deadline: Deadline,
    purpose: str,
    use_cache: bool = True,
    replicate: int = 1,
) -> Checked[T] | RefusedReply[T] | NotScored:
    """Ask until the reply obeys the rules, twice at most. Return `RefusedReply` if the last reply breaks them too.

    `render` makes the prompt from the faults of the reply before; the first prompt gets no faults. `faults_of` names
    the rules that a reply breaks, one sentence each, and returns nothing if the reply breaks none. The first
    `MOST_FAULTS` faults are told. The other values are those of `JudgeQuestion`.

    A first reply that breaks the rules stays known, since it leads to the second question. If the second reply is known
    and breaks them too, the second question is asked anew.
    """
    first = JudgeQuestion(
        prompt=render([]),
        reply_type=reply_type,
        max_output_tokens=max_output_tokens,
        use_cache=use_cache,
        replicate=replicate,
    )
    found = await _ask(ask(judge, first, deadline=deadline), faults_of, purpose=purpose)
    if not isinstance(found, RefusedReply):
        return found
    second = replace(first, prompt=render(list(found.faults)))
    again = await _ask(ask_for_use(judge, second, faults_of, deadline=deadline), faults_of, purpose=purpose)
    return replace(again, spends=(*found.spends, *again.spends))


async def _ask[T: BaseModel](
    asked: Awaitable[Reply[T]], faults_of: Callable[[T], Iterable[str]], *, purpose: str
) -> Checked[T] | RefusedReply[T] | NotScored:
    """Await one reply, and check whether it obeys the rules."""
    try:
        reply = await asked
    except (JudgeError, LimitError) as error:
        return not_scored(error, spends_of_failure(error, purpose))
    faults = tuple(islice(faults_of(reply.value), MOST_FAULTS))
    if not faults:
        return Checked(
            value=reply.value,
            provider=reply.provider,
            model=reply.model,
            prompt_version=reply.prompt_version,
            spends=spends_of(reply, purpose),
        )
    return RefusedReply(
        reason="invalid_reply",
        faults=faults,
        error=None,
        spends=spends_of_failure(unusable_reply_error(reply, faults[0]), purpose),
        value=reply.value,
        provider=reply.provider,
        model=reply.model,
        prompt_version=reply.prompt_version,
    )


def grouped[T](
    things: Iterable[T], size: Callable[[T], int], *, most: int, count: int | None = None
) -> Iterator[list[T]]:
    """The things that share a call: groups in their order, whose sizes come to `most` at most.

    A thing that is larger stands alone. `count` is the most things in a group; None: as many as fit.
    """
    group: list[T] = []
    room = most
    for thing in things:
        if group and (size(thing) > room or len(group) == count):
            yield group
            group, room = [], most
        group.append(thing)
        room -= size(thing)
    if group:
        yield group
