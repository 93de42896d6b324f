"""Requests by message: each is done once, however often it is delivered. If one fails, the others go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from functions import idempotency
from functions.composition.contexts import of_answers
from functions.composition.stores import tenants
from functions.composition.work import bulk_evaluations, intake, run
from functions.observability import count_verdict, log_fault, logger, publishing
from touchstone.clock import Deadline
from touchstone.errors import TouchstoneError

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from touchstone.operations.answers.messages import Message

RESERVE_SECONDS = 20.0
"""The part of the function's time that is kept free for storing the results."""


def take_record(record: SQSRecord, lambda_context: LambdaContext) -> dict[str, Any]:
    """Do one message. An error sends the message back to the queue; after five tries it goes to the dead letters."""
    from touchstone.operations.answers.messages import parse_message

    logger.clear_state()  # a message that cannot be read names no tenant
    try:
        message = parse_message(record.body)
        logger.append_keys(tenant=message.tenant, correlation_id=message.id)
        return _done_once(
            message, Deadline.after(lambda_context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS)
        )
    except TouchstoneError as error:
        logger.warning("A message could not be taken", reason=error.reason, message_id=record.message_id)
        raise
    except Exception as error:
        log_fault("A message failed unexpectedly", error)
        raise


def _done_once(message: Message, deadline: Deadline) -> dict[str, Any]:
    """Raises `KeyReusedError` if another message had this id: only the sender knows which of the two was meant."""
    content = message.model_dump(mode="json")
    return idempotency.done_once(
        lambda: _taken(message, deadline), tenant=message.tenant, key=message.id, called="id", content=content
    )


def _taken(message: Message, deadline: Deadline) -> dict[str, Any]:
    from touchstone.answers.model import ENDED
    from touchstone.operations.answers.messages import take

    taken = take(
        message,
        tenants=tenants(),
        context=of_answers(message.tenant, patient=True),
        intake=intake(message.tenant, bulk=True),
        deadline=deadline,
    )
    record = run(taken)
    if record.stage in ENDED:
        count_verdict(record)
    return {"answer_id": record.id}


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Take a batch of messages. Return the ids of those that SQS is to deliver again."""
    idempotency.begin(context)
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        return process_partial_response(
            event=dict(event), record_handler=take_record, processor=processor, context=context
        )
    finally:
        bulk_evaluations().start()
