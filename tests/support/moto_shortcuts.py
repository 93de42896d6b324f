"""Shortcuts through moto's DynamoDB, for tests that make tens of thousands of calls.

Calls for items, and to make a table, are answered by moto's handler itself instead of by way of HTTP: what lies between
it and boto3 (signing, matching addresses, writing and reading everything twice over) is most of a call's time. boto3
still writes and checks the request and reads the reply; the item, the condition and the refusal are moto's. What else
is called goes moto's way.

Moto stands between boto3 and the network, and for each test it makes thousands of patterns that would stand before
`requests` too, which nothing here uses: they are left out.

To be able to undo a transaction moto copies the whole table, once for each action. Items that are replaced instead of
changed in their place need no copies, so here the table is copied without them.
"""

import copy
from collections import defaultdict
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.handlers import BUILTIN_HANDLERS, REGISTER_LAST
from botocore.model import OperationModel
from botocore.parsers import JSONParser as ReplyParser
from moto.core.models import DEFAULT_ACCOUNT_ID, RESPONSES_METHODS, botocore_stubber
from moto.core.parse import JSONParser as RequestParser
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoHandler
from werkzeug.exceptions import HTTPException

OPERATIONS = {
    "CreateTable": DynamoHandler.create_table,
    "BatchGetItem": DynamoHandler.batch_get_item,
    "DeleteItem": DynamoHandler.delete_item,
    "GetItem": DynamoHandler.get_item,
    "PutItem": DynamoHandler.put_item,
    "Query": DynamoHandler.query,
    "Scan": DynamoHandler.scan,
    "TransactWriteItems": DynamoHandler.transact_write_items,
    "UpdateItem": DynamoHandler.update_item,
    "UpdateTimeToLive": DynamoHandler.update_time_to_live,
}
OK = 200
REQUESTS: Any = RequestParser
REPLIES: Any = ReplyParser()
UPDATE_ITEM = DynamoDBBackend.update_item


def take() -> None:
    """Take them in this process, for clients that are made from now on; what a test hangs on an event comes first."""
    if DynamoDBBackend.update_item is UPDATE_ITEM:
        RESPONSES_METHODS.clear()
        BUILTIN_HANDLERS.append(("before-call.dynamodb", _answer, REGISTER_LAST))
        setattr(Table, "__deepcopy__", _without_items)  # noqa: B010 - the class has none of its own
        setattr(DynamoDBBackend, "update_item", _replace_item)  # noqa: B010


def _answer(
    *, model: OperationModel, params: dict[str, Any], context: dict[str, Any], **_: Any
) -> tuple[AWSResponse, Any] | None:
    """The reply to a call as the event `before-call` takes it, None where HTTP is to be used."""
    operation = OPERATIONS.get(model.name)
    if operation is None or not botocore_stubber.enabled:
        return None
    handler = DynamoHandler()
    handler.region, handler.current_account = context["client_region"], DEFAULT_ACCOUNT_ID
    handler.body = REQUESTS(model).parse(params)
    try:
        status, body = OK, dynamo_json_dump(operation(handler).result)
    except HTTPException as refusal:
        status, body = refusal.code or 400, str(refusal.description)
    return AWSResponse(params["url"], status, HTTPHeaders(), None), _read(model, status, body)


def _read(model: OperationModel, status: int, body: str) -> Any:
    """A reply as boto3 reads it; a refusal with what is said beside its code and words."""
    reply = {"status_code": status, "headers": HTTPHeaders(), "body": body.encode()}
    found = REPLIES.parse(reply, model.output_shape)
    if status == OK:
        return found
    shape: Any = model.service_model.shape_for_error_code(found["Error"]["Code"])
    return found | ({} if shape is None else REPLIES.parse(reply, shape))


def _without_items(table: Table, _memo: dict[int, Any]) -> Table:
    """A table with the same items, of which it may hold others later on."""
    twin = copy.copy(table)
    twin.items = defaultdict(dict)
    for key, found in table.items.items():
        twin.items[key] = found if isinstance(found, Item) else found.copy()
    return twin


def _replace_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *others: Any, **named: Any) -> Item:
    """Update a copy of the item, which takes its place."""
    table = backend.get_table(table_name)
    item: Any = table.get_item(*backend.get_keys_value(table, key))
    if item is not None and item.range_key is not None:
        table.items[item.hash_key][item.range_key] = copy.deepcopy(item)
    elif item is not None:
        table.items[item.hash_key] = copy.deepcopy(item)
    return UPDATE_ITEM(backend, table_name, key, *others, **named)
