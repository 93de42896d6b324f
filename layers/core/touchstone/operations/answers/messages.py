"""Requests by message: their form, and how each is done.

A message names its tenant, because only the account's own principals may send to the queue; a message with an unknown
tenant is refused. Its `id` is the sender's business key: the same message again, however it was delivered, meets the
same answer, and another message with that id is refused.

If nobody decided a verification or solved a problem for a passing reason, it is not done: its answer waits, and the
sweep has it tried again through another message (`AgainMessage`), for `WAITS_FOR` at most.
"""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from touchstone.answers.model import ENDED, AnswerRecord, SolveRequest, VerifyRequest
from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.json_text import loads
from touchstone.operations.answers.again import DELIVERED_FOR, WAITS_FOR, AgainMessage, Key
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.intake import AnswerIntake
from touchstone.operations.answers.steps import work_whole
from touchstone.records import Tenants
from touchstone.references import Reference
from touchstone.strict import Strict, fault_sentence, first_fault
from touchstone.text import shortened


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

MAX_FAULT_CHARS = 200
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="kind")])


def parse_message(body: str) -> Message:
    """Parse a message. Raises `InputError`, which quotes nothing of the message but an unknown kind."""
    fields = loads(body)
    try:
        return _MESSAGE.validate_python(fields)
    except ValidationError as error:
        fault = first_fault(error, fields)
        where = ".".join(map(str, fault["loc"]))
        raise InputError(
            f"The message cannot be taken: {shortened(fault_sentence(fault, where), MAX_FAULT_CHARS)}.",
            where=where or None,
        ) from None


async def take(
    message: Message,
    *,
    tenants: Tenants,
    context: AnswerContext,
    intake: AnswerIntake,
    deadline: Deadline | None = None,
) -> AnswerRecord:
    """Do what a message asks for. A repeat meets the record of its first delivery, however far that came.

    What is not solved by the deadline waits for another try, which continues from there. A verification has its own
    time limit. Raises `NotFoundError` for an unknown tenant, and for an answer that the tenant does not have.
    """
    tenants.get(message.tenant)
    match message:
        case EvaluateMessage():
            return intake.evaluate(message.answer_id)
        case VerifyMessage() | SolveMessage():
            answer_id = intake.keys.id_for(tenant=message.tenant, key=message.id)
            record = intake.accept(message.request, answer_id, abandoned_after=DELIVERED_FOR)
        case AgainMessage():
            record = context.answers.get(Reference(message.tenant, "answer", message.answer_id))
            if record.waiting is None:
                return record
    return await _tried(record, context, intake, deadline)


async def _tried(
    record: AnswerRecord, context: AnswerContext, intake: AnswerIntake, deadline: Deadline | None
) -> AnswerRecord:
    """The answer after a try. No try is made if the answer has ended or waits for a later time."""
    now = context.clock()
    held = record.waiting is not None and record.waiting.until > now
    if record.stage not in ENDED and not held:
        abandoned_after = timedelta(0) if now - record.created_at < WAITS_FOR else None
        record = await work_whole(
            context, record, deadline=deadline if record.kind == "solve" else None, abandoned_after=abandoned_after
        )
    if record.evaluation.state == "waiting":
        record = intake.start_evaluation(record)
    return record
