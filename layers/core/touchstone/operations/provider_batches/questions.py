"""Questions in batches: asked by the same code that asks at once, and answered by the replies of a batch."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from touchstone.errors import ConflictError, MisconfiguredError, NotFoundError, SettingsError
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.base import size_of
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.judges.questions import highest_cost_usd
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.waiting import WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.replaying import WaitingQuestion, with_savings
from touchstone.references import Reference

OUT_OF_REACH = (NotFoundError, ConflictError, ValidationError)
"""Raised for a record that is gone, was taken elsewhere, or cannot be read. Such a record must not stop the others."""
UNANSWERED = "overloaded"
"""The reason of a question that no batch answered and that is in the line again: the same as for a call without a
reply."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledQuestion:
    """The result of one question. `spends` are its calls. `unknown`: it may have a cost that nobody reported.

    `unread`: its record could not be read and still says that it is in the batch.
    """

    answered: bool
    spends: tuple[Spend, ...] = ()
    unknown: bool = False
    unread: bool = False


async def wanted_question(context: BatchingContext, one: WaitingQuestion, *, shared: bool) -> WantedQuestion | None:
    """A question as an open line states it. None if no batch takes it, or its cost is not known."""
    try:
        batches = context.apis.batches(one.provider)
        if batches is None:
            return None
        await context.apis.load(one.provider)
    except (MisconfiguredError, SettingsError):
        return None
    model = context.apis.prices.find(one.provider, one.model)
    question = one.sample_line
    most = highest_cost_usd(model, question, on=context.clock().date())
    if most is None:
        return None
    size = size_of(batches.line(one.model, question))
    return WantedQuestion(
        provider=one.provider, model=one.model, address=one.address, most_usd=most, size=size, shared=shared
    )


async def all_wanted(
    context: BatchingContext, questions: Iterable[WaitingQuestion], *, shared: bool
) -> tuple[WantedQuestion, ...]:
    """The questions of one record as an open line states them. Empty if there are none, or if no batch takes one."""
    wanted = [await wanted_question(context, one, shared=shared) for one in questions]
    return () if None in wanted else tuple(one for one in wanted if one is not None)


@contextmanager
def passing_over(answer_id: str) -> Iterator[None]:
    """Pass over a record that is out of reach; it is logged if it cannot be read."""
    try:
        yield
    except OUT_OF_REACH as error:
        log_unreadable(answer_id, error)


def log_unreadable(answer_id: str, error: Exception) -> None:
    """Log a record that cannot be read. A record that is gone or was taken elsewhere needs no attention."""
    if isinstance(error, ValidationError):
        # Log the error's type only: the message of a validation error quotes the record.
        logger.error("The record %s cannot be read and is passed over: %s", answer_id, type(error).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuestion:
    """A question of a batch: its record's id, and the address that tells it from others of the record.

    `address` None: the record has only one question.
    """

    answer_id: str
    address: str | None = None


type RepliedQuestion = tuple[ListedQuestion, BatchReply | None]
"""A question, and the reply that a batch brought for it; None if it brought nothing at all."""


def with_records_read(
    context: BatchingContext, of: BatchedKind, questions: Sequence[ListedQuestion], *, cached: bool = False
) -> BatchingContext:
    """A context in which the records of these questions are read already, a hundred at once; `cached`: replies, too.

    Only records of answers are read ahead. Records of other kinds have many questions each, and are read one by one.
    """
    which = [Reference(context.tenant, "answer", one.answer_id) for one in questions]
    if of == "evaluation":
        evaluations = context.evaluations().preloaded(which)
        context = replace(context, evaluations=lambda: evaluations)
    elif of == "verification":
        here = context.answers()
        here = replace(here, answers=here.answers.preloaded(which))
        context = replace(context, answers=lambda: here)
    else:
        return context
    if cached and context.cache is not None:
        context = replace(context, cache=context.cache.preloaded([one.address for one in questions if one.address]))
    return context


def was_answered(reply: BatchReply | None) -> bool:
    """Whether a batch brought a response for a question. A response is paid for, whatever it says."""
    return reply is not None and reply.missed is None and reply.status == HTTPStatus.OK


def settled_by(reply: BatchReply | None, paid: Sequence[Spend]) -> SettledQuestion:
    """The result of one of several questions of a record. `paid` are the calls of all of them."""
    spends = () if reply is None else tuple(spend for spend in paid if spend.line_id == reply.line_id)
    return SettledQuestion(
        answered=any(spend.failure is None for spend in spends),
        spends=spends,
        unknown=was_answered(reply) and not spends,
    )


def listed(questions: Sequence[ListedQuestion]) -> str:
    """The list of a batch's questions as text, one JSON line each."""
    return "".join(
        json.dumps({name: value for name, value in asdict(one).items() if value is not None}) + "\n"
        for one in questions
    )


def questions_from_text(text: str) -> list[ListedQuestion]:
    """The questions in a list that `listed` made."""
    return [ListedQuestion(**_object(line)) for line in _lines(text)]


def lines_of(context: BatchingContext, batch: ProviderBatch) -> list[ListedQuestion]:
    """The questions of a batch, in order."""
    return questions_from_text(context.objects.get_text(tenant=context.tenant, key=batch.lines_key))


def without_latency(spends: Sequence[Spend], registry: Registry) -> tuple[Spend, ...]:
    """Calls that batches answered, with their savings and without their time.

    The time of a replay means nothing, and the same call must be equal however often it is replayed.
    """
    return tuple(spend.model_copy(update={"latency_ms": 0.0}) for spend in with_savings(spends, registry))


def kept(replies: Mapping[str, BatchReply]) -> str:
    """The replies of a batch as text, one JSON line each."""
    return "".join(reply.model_dump_json(exclude_none=True) + "\n" for reply in replies.values())


def replies_from_text(text: str) -> dict[str, BatchReply]:
    """The replies in a text that `kept` made, keyed by the ids of their lines."""
    replies = (BatchReply.model_validate_json(line) for line in _lines(text))
    return {reply.line_id: reply for reply in replies}


def addressed_replies_to_text(replies: Mapping[str, BatchReply]) -> str:
    """The replies of a batch for one record as text, each with the address of its question, one JSON line each."""
    return "".join(
        json.dumps({"address": address, "reply": reply.model_dump(mode="json", exclude_none=True)}) + "\n"
        for address, reply in replies.items()
    )


def addressed_replies_from_text(text: str) -> dict[str, BatchReply]:
    """The replies in a text that `addressed_replies_to_text` made, keyed by their addresses."""
    lines = (_object(line) for line in _lines(text))
    return {line["address"]: BatchReply.model_validate(line["reply"]) for line in lines}


def _lines(text: str) -> list[str]:
    """The lines of a text. A reply may hold other characters that Python takes for the end of a line."""
    return text.split("\n")[:-1]


def _object(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found
