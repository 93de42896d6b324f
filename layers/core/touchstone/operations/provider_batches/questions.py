"""The questions of deep evaluations as batches have them: asked by the code that asks at once, answered by replies."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from touchstone.answers.evaluation import Evaluated
from touchstone.answers.model import AnswerRecord
from touchstone.errors import ConflictError, JudgeError, LimitError, NotFoundError
from touchstone.judges.batches import BatchReply
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.evaluating import asked_of
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.replaying import CheapLine, ReplayJudges, WaitingQuestion, prices_of_batches, with_savings

PURPOSE = "evaluate"
OUT_OF_REACH = (NotFoundError, ConflictError, ValidationError)
"""What is raised for a record that is gone, was taken elsewhere, or cannot be read: it must stop no other one."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of asking by what a batch brought. `wanted` is the question that only a batch can answer, if any.

    `spends` are the calls that were paid for, at the price of a batch, with what that saved.
    """

    result: Evaluated | JudgeError | LimitError
    wanted: WaitingQuestion | None
    spends: tuple[Spend, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledQuestion:
    """What came of one question. `spends` are the calls that it took; `unknown`: it may have cost what nobody told."""

    answered: bool
    spends: tuple[Spend, ...] = ()
    unknown: bool = False


class _OfAnyQuestion(Mapping[str, Sequence[BatchReply]]):
    """The replies to whatever is asked: a line of a batch is one question."""

    def __init__(self, replies: Sequence[BatchReply]) -> None:
        self._replies = replies

    def __getitem__(self, address: str) -> Sequence[BatchReply]:
        return self._replies

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return len(self._replies)

    def __contains__(self, address: object) -> bool:
        return bool(self._replies)


async def replayed(
    context: BatchingContext, record: AnswerRecord, provider: str, reply: BatchReply | None = None
) -> Replayed:
    """Ask a provider about a record, with the reply that a batch brought for it; None: nothing was brought yet."""
    work = CheapLine({} if reply is None else _OfAnyQuestion([reply]))
    registry = context.apis.registry
    judges = ReplayJudges(
        context.apis,
        work,
        prices=prices_of_batches(registry),
        cache=context.cache,
        brought_by=None if reply is None else provider,
    )
    try:
        judge = judges.get(provider, "evaluate", purpose="backlog")
        result = await asked_of(judge, record, clock=context.clock)
    finally:
        await judges.aclose()
    spends = result.spends if isinstance(result, Evaluated) else spends_of_failure(result, PURPOSE)
    wanted = work.wanted[0] if reply is None and work.wanted else None
    return Replayed(result=result, wanted=wanted, spends=timeless(spends, registry))


def passed_over(answer_id: str, error: Exception) -> None:
    """Note a record that is out of reach; one that is gone or was taken elsewhere is nothing to look after."""
    if isinstance(error, ValidationError):
        # The type only: a validation quotes the record.
        logger.error("The record %s cannot be read and is passed over: %s", answer_id, type(error).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuestion:
    """A question of a batch: the answer that it is about, and which one it is of several; None: there is but one."""

    answer_id: str
    address: str | None = None


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


def _object(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    return found
