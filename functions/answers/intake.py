"""Requests by message: each is done once however often it is delivered, and one that fails fails alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from functions.composition.stores import idempotency
from functions.composition.work import bulk_evaluations, desk, reception, run
from functions.observability import count_verdict, log_fault, logger, publishing
from touchstone.answers.model import ENDED
from touchstone.errors import InProgressError, KeyReusedError, StoreError, TouchstoneError
from touchstone.operations.messages import Message, parse_message, take

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

KEEP_SECONDS = 15 * 24 * 3600
"""Longer than a message can live in the queue (14 days), so that no redelivery outlives the memory of its first run."""


def take_record(record: SQSRecord) -> dict[str, str]:
    """Do one message. What it raises sends the message back, and after five times to the dead letters."""
    try:
        message = parse_message(record.body)
        logger.append_keys(tenant=message.tenant, correlation_id=message.id)
        return _done_once(message, record.body)
    except TouchstoneError as error:
        logger.warning("A message could not be taken", reason=error.reason, message_id=record.message_id)
        raise
    except Exception as error:
        log_fault("A message failed unexpectedly", error)
        raise


def _done_once(message: Message, body: str) -> dict[str, str]:
    """Raises `KeyReusedError` for the id of another message: only its sender knows which of the two was meant."""
    from aws_lambda_powertools.utilities.idempotency import exceptions

    remembered = {"owner": [message.tenant, message.id], "content": message.model_dump(mode="json"), "body": body}
    try:
        done: dict[str, str] = _once()(message=remembered)
    except exceptions.IdempotencyAlreadyInProgressError:
        raise InProgressError("The first delivery of this message is still being worked on.") from None
    except exceptions.IdempotencyValidationError:
        raise KeyReusedError("Another message was sent with this id; send this one with an id of its own.") from None
    except exceptions.IdempotencyPersistenceLayerError:
        raise StoreError("The message could not be remembered; it is delivered again.") from None
    return done


@cache
def _once() -> Any:
    from aws_lambda_powertools.utilities.idempotency import idempotent_function

    store, config = _store()

    @idempotent_function(data_keyword_argument="message", persistence_store=store, config=config)
    def work(*, message: dict[str, Any]) -> dict[str, str]:
        parsed = parse_message(message["body"])
        record = run(take(parsed, desk=desk(parsed.tenant), reception=reception(parsed.tenant, bulk=True)))
        if record.stage in ENDED:
            count_verdict(record)
        return {"answer_id": record.id}

    return work


@cache
def _store() -> Any:
    return idempotency(event_key_jmespath="owner", payload_validation_jmespath="content", keep_seconds=KEEP_SECONDS)


@publishing
def handler(event: Mapping[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Take a batch of messages, and name those that are to be delivered again."""
    _store()[1].register_lambda_context(context)
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        return process_partial_response(
            event=dict(event), record_handler=take_record, processor=processor, context=context
        )
    finally:
        bulk_evaluations().start()
