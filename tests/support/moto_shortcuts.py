"""Shortcuts through moto's DynamoDB, for tests that make tens of thousands of calls.

Calls for items, and to make a table, are answered by moto's handler itself instead of by way of HTTP: what lies between
it and boto3 (signing, matching addresses, writing and reading everything twice over) is most of a call's time. boto3
still writes and checks the request and reads the reply; the item, the condition and the refusal are moto's. What else
is called goes moto's way.

Moto stands between boto3 and the network, and for each test it makes thousands of patterns that would stand before
`requests` too, which nothing here uses: they are left out.

To be able to undo a transaction moto copies the whole table, once for each action. Items that are replaced instead of
changed in their place need no copies, and here the table is copied once, with the partitions that are written.

For a query moto sorts all items of the table, whatever it asks for: here those alone that it may find, unsorted, as
they are sorted afterwards in any case.

An expression of an update is parsed once a process, and its tree is copied without looking for circles. Moto parses it
anew for each of two looks, and asks a class anew for each node what it is to look at.

What a request would say of the machine is left out, where it would go is worked out for requests that go somewhere, and
which handler a service has for which address once a process.
"""

import copy
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from botocore.handlers import BUILTIN_HANDLERS, REGISTER_LAST
from botocore.model import OperationModel
from botocore.parsers import JSONParser as ReplyParser
from botocore.useragent import UserAgentString
from moto.core.base_backend import BaseBackend
from moto.core.models import DEFAULT_ACCOUNT_ID, RESPONSES_METHODS, botocore_stubber
from moto.core.parse import JSONParser as RequestParser
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node  # type: ignore[attr-defined] # has no types
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined] # has no types
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
TRANSACT = DynamoDBBackend.transact_write_items
QUERY = Table.query
QUERIED_INDEX = 6
"""The place of the index's name in what a query is given behind the key."""
CAST: Any = vars(DynamoType)["cast_value"].fget
TEXT = "S"
CLIENT: Any = BaseClient
ENDPOINT = CLIENT._resolve_endpoint_ruleset
ADDRESSES: Any = vars(BaseBackend)["urls"].fget


def take() -> None:
    """Take them in this process, for clients that are made from now on; what a test hangs on an event comes first."""
    if DynamoDBBackend.update_item is UPDATE_ITEM:
        RESPONSES_METHODS.clear()
        BUILTIN_HANDLERS.append(("before-call.dynamodb", _answer, REGISTER_LAST))
        for holder, name, ours in (
            (Table, "__deepcopy__", _copied),  # the class has none of its own
            (Table, "query", _query),
            (DynamoDBBackend, "update_item", _replace_item),
            (DynamoDBBackend, "transact_write_items", _transact),
            (DynamoType, "cast_value", property(_cast)),
            (CLIENT, "_resolve_endpoint_ruleset", _endpoint),
            (UpdateExpressionParser, "make", staticmethod(cache(UpdateExpressionParser.make))),
            (Node, "__deepcopy__", _copied_node),
            (DepthFirstTraverser, "nodes_to_be_processed", _looked_at),
            (UserAgentString, "to_string", lambda _: "tests"),
            (BaseBackend, "urls", property(lambda backend: _addresses(backend.__class__))),
        ):
            setattr(holder, name, ours)


def _answered(client: Any, model: OperationModel) -> bool:
    """Whether a client's call is answered here."""
    of_tables = client.meta.service_model.service_name == "dynamodb"
    return of_tables and model.name in OPERATIONS and botocore_stubber.enabled


def _endpoint(client: Any, operation_model: OperationModel, *given: Any, **named: Any) -> Any:
    """Where a request goes to, which headers it has, and what else is known of the place."""
    if _answered(client, operation_model):
        return client.meta.endpoint_url, {}, {}
    return ENDPOINT(client, operation_model, *given, **named)


@cache
def _addresses(service: type[BaseBackend]) -> dict[str, Any]:
    """The handlers of a service by their addresses, which do not depend on what it holds."""
    addresses: dict[str, Any] = ADDRESSES(service.__new__(service))
    return addresses


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


def _query(table: Table, hash_key: Any, *given: Any, **named: Any) -> Any:
    """Ask a table of which all items are those that may be found."""
    twin, index_name = copy.copy(table), given[QUERIED_INDEX]
    if table.range_key_attr is not None:
        found = _indexed(table, **named) if index_name else [*table.items.get(hash_key, {}).values()]
        setattr(twin, "all_items", lambda: found)  # noqa: B010 - a method
    return QUERY(twin, hash_key, *given, **named)


def _indexed(table: Table, *, hash_key_conditions: Any, **_: Any) -> list[Item]:
    """The items that have an index's key; only texts are told from each other as they are written."""
    ((name, asked), *_) = hash_key_conditions
    items = (item for partition in table.items.values() for item in partition.values())
    of_index = [item for item in items if name in item.attrs]
    return of_index if asked.type != TEXT else [item for item in of_index if item.attrs[name].value == asked.value]


def _transact(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    """Transact with one copy of a table, in which the partitions that may be written are copies too."""
    keys: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for action in transact_items:
        for body in action.values():
            keys[body["TableName"]].append(body.get("Key") or body["Item"])
    tables = [table for name, table in backend.tables.items() if name in keys]
    for table in tables:
        written = {DynamoType(key[table.hash_key_attr]) for key in keys[table.name] if table.hash_key_attr in key}
        setattr(table, "before", _without_items(table, written))  # noqa: B010 - for `_copied`
    try:
        TRANSACT(backend, transact_items)
    finally:
        for table in tables:
            vars(table).pop("before")


def _copied(table: Table, _memo: dict[int, Any]) -> Table:
    """A table as it was before the transaction, if one is at work."""
    before: Table | None = vars(table).get("before")
    return before or _without_items(table, table.items)


def _without_items(table: Table, partitions: Iterable[Any]) -> Table:
    """A table with the same items, of which it may hold others later on in some partitions."""
    twin = copy.copy(table)
    twin.items = defaultdict(dict, table.items)
    for key in partitions:
        if key in table.items:
            found = table.items[key]
            twin.items[key] = found if isinstance(found, Item) else found.copy()
    return twin


def _copied_node(node: Any, memo: dict[int, Any]) -> Any:
    """A tree of an expression as it was parsed, in which nothing but nodes is changed afterwards."""
    twin = object.__new__(type(node))
    vars(twin).update(vars(node))
    if node.children is not None:
        twin.children = [_copied_node(one, memo) if isinstance(one, Node) else one for one in node.children]
        for one in twin.children:
            if isinstance(one, Node):
                one.set_parent(twin)
    return twin


def _looked_at(traverser: Any) -> tuple[type[Node], ...]:
    """The kinds of nodes that a traverser changes, which are the same for all of its class."""
    kind = type(traverser)
    if kind not in _changed:
        _changed[kind] = tuple(traverser._processing_map())
    return _changed[kind]


_changed: dict[type, tuple[type[Node], ...]] = {}


def _cast(value: DynamoType) -> Any:
    """What is compared of a value: of a text, which all keys are, the text."""
    return value.value if value.type == TEXT else CAST(value)


def _replace_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *others: Any, **named: Any) -> Item:
    """Update a copy of the item, which takes its place."""
    table = backend.get_table(table_name)
    item: Any = table.get_item(*backend.get_keys_value(table, key))
    if item is not None and item.range_key is not None:
        table.items[item.hash_key][item.range_key] = copy.deepcopy(item)
    elif item is not None:
        table.items[item.hash_key] = copy.deepcopy(item)
    return UPDATE_ITEM(backend, table_name, key, *others, **named)
