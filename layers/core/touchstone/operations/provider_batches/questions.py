"""Questions as batches have them: asked by the code that asks at once, answered by replies."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from touchstone.errors import ConflictError, MisconfiguredError, NotFoundError, SettingsError
from touchstone.judges.batches import BatchReply, as_line
from touchstone.judges.batches.texts import size_of
from touchstone.judges.questions import highest_cost_usd
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.operations.batches.lines import WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.replaying import WaitingQuestion, prices_of_batches, with_savings

SAMPLE_ID = "0" * 26
"""As long as the id of a line will be."""
OUT_OF_REACH = (NotFoundError, ConflictError, ValidationError)
"""What is raised for a record that is gone, was taken elsewhere, or cannot be read: it must stop no other one."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledQuestion:
    """What came of one question. `spends` are the calls that it took; `unknown`: it may have cost what nobody told."""

    answered: bool
    spends: tuple[Spend, ...] = ()
    unknown: bool = False


async def as_wanted(context: BatchingContext, one: WaitingQuestion, *, shared: bool) -> WantedQuestion | None:
    """A question as a line tells of it; None where no batch takes it, or nobody knows what it costs."""
    try:
        batches = context.apis.batches(one.provider)
        if batches is None:
            return None
        await context.apis.load(one.provider)
    except (MisconfiguredError, SettingsError):
        return None
    model = prices_of_batches(context.apis.registry).find(one.provider, one.model)
    question = as_line(one.question, SAMPLE_ID)
    most = highest_cost_usd(model, question, on=context.clock().date())
    if most is None:
        return None
    size = size_of(batches.line(one.model, question))
    return WantedQuestion(
        provider=one.provider, model=one.model, address=one.address, most_usd=most, size=size, shared=shared
    )


def passed_over(answer_id: str, error: Exception) -> None:
    """Note a record that is out of reach; one that is gone or was taken elsewhere is nothing to look after."""
    if isinstance(error, ValidationError):
        # The type only: a validation quotes the record.
        logger.error("The record %s cannot be read and is passed over: %s", answer_id, type(error).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuestion:
    """A question of a batch: the record that it is about, and which one it is of several; None: there is but one."""

    answer_id: str
    address: str | None = None


type RepliedQuestion = tuple[ListedQuestion, BatchReply | None]
"""A question, and what a batch brought for it; None: nothing at all."""


def was_answered(reply: BatchReply | None) -> bool:
    """Whether a batch brought a response for a question, which is paid for whatever it says."""
    return reply is not None and reply.missed is None and reply.status == HTTPStatus.OK


def settled_by(reply: BatchReply | None, paid: Sequence[Spend]) -> SettledQuestion:
    """What came of one of several questions of a record, all of whose calls are `paid`."""
    spends = () if reply is None else tuple(spend for spend in paid if spend.line_id == reply.line_id)
    return SettledQuestion(
        answered=any(spend.failure is None for spend in spends),
        spends=spends,
        unknown=was_answered(reply) and not spends,
    )


def listed(questions: Sequence[ListedQuestion]) -> str:
    """The questions of a batch as its list holds them, a line each."""
    return "".join(
        json.dumps({name: value for name, value in asdict(one).items() if value is not None}) + "\n"
        for one in questions
    )


def read_list(text: str) -> list[ListedQuestion]:
    """The questions in a list."""
    return [ListedQuestion(**_object(line)) for line in text.splitlines()]


def timeless(spends: Sequence[Spend], registry: Registry) -> tuple[Spend, ...]:
    """Calls that batches answered, with what that saved.

    How long the replay took says nothing, and the same call must be the same however often it is replayed.
    """
    return tuple(spend.model_copy(update={"latency_ms": 0.0}) for spend in with_savings(spends, registry))


def kept(replies: Mapping[str, BatchReply]) -> str:
    """What a batch brought, as it is kept."""
    return "".join(reply.model_dump_json(exclude_none=True) + "\n" for reply in replies.values())


def read_kept(text: str) -> dict[str, BatchReply]:
    """What a batch brought, by the ids of its lines."""
    replies = (BatchReply.model_validate_json(line) for line in text.splitlines())
    return {reply.line_id: reply for reply in replies}


def kept_by_address(replies: Mapping[str, BatchReply]) -> str:
    """What a batch brought for one record, by the addresses of its questions, as it is kept."""
    return "".join(
        json.dumps({"address": address, "reply": reply.model_dump(mode="json", exclude_none=True)}) + "\n"
        for address, reply in replies.items()
    )


def read_by_address(text: str) -> dict[str, BatchReply]:
    """What was kept so."""
    lines = (_object(line) for line in text.splitlines())
    return {line["address"]: BatchReply.model_validate(line["reply"]) for line in lines}


def _object(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found
