"""Requests by message: what one must look like, and how it is done.

A message names its tenant, since only the account's own principals may send to the queue; one that names a tenant that
does not exist is refused. Its `id` is the sender's business key: the same message again, whatever carried it, meets the
same answer, and another message with that id is refused.

A verification that nobody decided, for a reason that may pass, is not done: its answer waits, and the sweep has it
tried again by a message of its own (`AgainMessage`), for `WAITS_FOR` at most.
"""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from touchstone.answers.model import ENDED, AnswerRecord, SolveRequest, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.errors import InputError
from touchstone.operations.again import WAITS_FOR, AgainMessage, Key
from touchstone.operations.desk import Desk
from touchstone.operations.json_text import loads
from touchstone.operations.reception import Reception
from touchstone.operations.steps import verify_own_answer
from touchstone.records import Tenants
from touchstone.strict import Strict, fault_words


class VerifyMessage(Strict):
    """An answer to verify."""

    kind: Literal["verify"]
    tenant: str
    id: Key
    request: VerifyRequest


class SolveMessage(Strict):
    """A problem to solve."""

    kind: Literal["solve"]
    tenant: str
    id: Key
    request: SolveRequest


class EvaluateMessage(Strict):
    """A finished answer to evaluate deeply."""

    kind: Literal["evaluate"]
    tenant: str
    id: Key
    answer_id: str


type Message = VerifyMessage | SolveMessage | EvaluateMessage | AgainMessage

KINDS = frozenset({"verify", "solve", "evaluate", "again"})
"""Pydantic names the kind of a message among the places of a fault."""
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="kind")])


def parse_message(body: str) -> Message:
    """Parse a message. Raises `InputError`, without repeating what the message says."""
    fields = loads(body)
    try:
        return _MESSAGE.validate_python(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"] if part not in KINDS)
        raise InputError(f"The message cannot be taken: {fault_words(fault)}.", where=where or None) from None


async def take(message: Message, *, tenants: Tenants, desk: Desk, reception: Reception) -> AnswerRecord:
    """Do what a message asks for; a repeat meets the record of its first delivery, however far that came.

    Raises `NotFoundError` where there is no such tenant, and for an answer that the tenant does not have.
    """
    tenants.get(message.tenant)
    match message:
        case EvaluateMessage():
            return reception.evaluate(message.answer_id)
        case SolveMessage():
            return reception.solve(message.request, key=message.id)
        case VerifyMessage():
            answer_id = reception.keys.id_for(tenant=message.tenant, key=message.id)
            record = desk.answers.create(
                new_record(message.request, tenant=message.tenant, answer_id=answer_id, now=desk.clock())
            )
            return await _verified(record, desk, reception)
        case AgainMessage():
            record = desk.answers.get(tenant=message.tenant, answer_id=message.answer_id)
            return record if record.waiting is None else await _verified(record, desk, reception)


async def _verified(record: AnswerRecord, desk: Desk, reception: Reception) -> AnswerRecord:
    """The answer after a try to verify it, where it has no end and does not wait for a later one."""
    now = desk.clock()
    held = record.waiting is not None and record.waiting.until > now
    if record.stage not in ENDED and not held:
        left_for = timedelta(0) if now - record.created_at < WAITS_FOR else None
        record = await verify_own_answer(desk, record.id, left_for=left_for)
    if record.evaluation.state == "waiting":
        record = reception.start_evaluation(record)
    return record
