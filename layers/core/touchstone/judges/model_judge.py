"""Asking one model: from the cache, or by calls that are reserved, settled, and repeated if that can help.

No part of a prompt or a reply is logged or stands in an error.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import InputError, StoreError
from touchstone.judges import tracing
from touchstone.judges.base import Answered, JudgeQuestion, Purpose, Reply, ReplyCache
from touchstone.judges.caller import Caller, CallRequest, JudgeContext, ProviderConnection
from touchstone.judges.questions import address_of, max_usage_of, max_usage_of_turn
from touchstone.judges.registry import Model

if TYPE_CHECKING:
    from touchstone.judges.conversing import Turn, TurnRequest

RECALL_SHARE, RECALL_SECONDS = 0.1, 0.5
"""The share of the time left after which a look into the cache is given up, and the least such time in seconds, if that
is at most half of what is left: it must not use up the time to ask the model. Where nobody waits, a busy machine or a
store that lets nobody in for a moment does not cost a second call."""

logger = logging.getLogger(__name__)


class ModelJudge:
    """One model of one provider as a `Judge`, which can also be conversed with."""

    def __init__(
        self, model: Model, connection: ProviderConnection, context: JudgeContext, *, purpose: Purpose = "fresh"
    ) -> None:
        self._model = model
        self._connection = connection
        self._context = context
        self._caller = Caller(model, connection, context, purpose=purpose)

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self._model.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self._model.name

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Ask, retrying only what can succeed, all within `deadline`. Raises `JudgeError` or `LimitError`.

        If a limit keeps a failed call from being repeated, see `Caller.call` for which of the two is raised.
        """
        with self._traced(question) as traced:
            reply = await self._answered(question, deadline)
            if traced is not None:
                traced.reply = reply
        return reply

    async def _answered[T: BaseModel](self, question: JudgeQuestion[T], deadline: Deadline) -> Reply[T]:
        cache = self._context.cache if question.use_cache else None
        recipient = (self.provider, self._connection.endpoint, self.model)
        key = "" if cache is None else address_of(question, recipient=recipient)
        if cache is not None and (known := await self._recall(cache, key, question, deadline)) is not None:
            return known
        # Thinking counts against the limit of the output, so the room for thinking is added to that limit here.
        thinking = self._model.thinking_tokens
        roomy = replace(question, max_output_tokens=question.max_output_tokens + thinking) if thinking else question

        async def send(timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed to the adapter
            return await self._connection.adapter.ask(self.model, roomy, timeout=timeout)

        call_request = CallRequest(
            send=send, prompt_version=question.prompt.version, most=max_usage_of(roomy), seconds=question.seconds
        )
        reply = await self._caller.call(call_request, deadline)
        if cache is not None:
            await self._context.finish(
                _remember(cache, key, reply, at=self._context.clock()), within=deadline.remaining
            )
        return reply

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:
        """The model's next turn in a conversation: a paid call like that for a question, but never from the cache.

        Raises as `ask` does, and InputError if the conversation was begun in another provider's wire format.
        """
        from touchstone.judges.conversing import TurnSaid, as_question

        adapter = self._connection.adapter
        if (begun := request.conversation.wire) not in {None, adapter.wire}:
            raise InputError(f"The conversation was begun by {begun} and cannot go on with {self.provider}.")
        roomy = replace(request, max_output_tokens=request.max_output_tokens + self._model.thinking_tokens)

        async def send(timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed to the adapter
            return await adapter.converse(self.model, roomy, timeout=timeout)

        call_request = CallRequest(
            send=send, prompt_version=request.conversation.prompt_version, most=max_usage_of_turn(roomy)
        )
        with self._traced(as_question(request)) as traced:
            reply = await self._caller.call(call_request, deadline)
            if traced is not None:
                untyped: Reply[Any] = reply
                traced.reply = replace(untyped, value=TurnSaid.of(reply.value))
        return reply

    def _traced(self, question: JudgeQuestion[Any]) -> AbstractContextManager[tracing.TracedQuestion | None]:
        """While a trace is being collected, note in it what is asked inside this context, and what comes of it."""
        return tracing.trace_question(
            question,
            provider=self.provider,
            model=self.model,
            secrets=lambda: (*filter(None, (self._connection.secret,)), *self._context.secrets()),
            clock=self._context.clock,
        )

    async def _recall[T: BaseModel](
        self, cache: ReplyCache, key: str, question: JudgeQuestion[T], deadline: Deadline
    ) -> Reply[T] | None:
        try:
            left = deadline.remaining
            async with asyncio.timeout(max(RECALL_SHARE * left, min(RECALL_SECONDS, left / 2))):
                stored = await cache.get(key)
            if stored is None:
                return None
            known = json.loads(stored)
            value = question.reply_type.model_validate_json(known["value"])
            model = str(known["model"])
            if question.renewed and not _since(known.get("at"), question.began):
                return None
        except (StoreError, TimeoutError, ValueError, LookupError, TypeError) as error:
            logger.warning("The reply cache could not be read: %s", type(error).__name__)
            return None
        return Reply(
            value=value,
            provider=self.provider,
            model=model,
            requested_model=self.model,
            prompt_version=question.prompt.version,
            cost_usd=0.0,
            attempts=0,
            cached=True,
        )


def _since(at: str | None, began: datetime | None) -> bool:
    """Whether a reply that was stored at a time (ISO 8601; None: not known) is not older than the work that asks."""
    return at is not None and began is not None and datetime.fromisoformat(at) >= began


async def _remember(cache: ReplyCache, key: str, reply: Reply[BaseModel], *, at: datetime) -> None:
    value = reply.value.model_dump_json(by_alias=True, round_trip=True)
    await cache.put(key, json.dumps({"model": reply.model, "value": value, "at": at.isoformat()}))
