"""Shortcuts through moto's DynamoDB, for tests that make tens of thousands of calls.

Calls for items, and to make a table, are answered by moto's handler itself instead of by way of HTTP: what lies between
it and boto3 (signing, matching addresses, writing and reading everything twice over) is most of a call's time. boto3
still checks the request; the item, the condition and the refusal are moto's. Request and reply are carried over as
JSON, without a walk through their shapes, which would change nothing of them: boto3 and moto take it only for what has
bytes or moments in it, and for refusals. What else is called goes moto's way.

Moto stands between boto3 and the network, and for each test it makes thousands of patterns that would stand before
`requests` too, which nothing here uses: they are left out.

To be able to undo a transaction moto copies the whole table, once for each action. Items that are replaced instead of
changed in their place need no copies, and here the table is copied once, with the partitions that are written.

For a query moto sorts all items of the table, whatever it asks for: here those alone that it may find, unsorted, as
they are sorted afterwards in any case. The size of an item, its copy and what is told of it are made by one walk
through it, where moto copies each part of it before looking at the part. The words of a condition are found once a
process. boto3 looks for values of DynamoDB's types only in shapes that hold one. It copies what a request was given
without looking for circles, and checks values of the plain types by a shorter way.

An expression of an update is parsed once a process, and its tree is copied without looking for circles. Moto parses it
anew for each of two looks. It walks through the tree ten times, and at each node asks abstract classes whether the node
is one of theirs: here they are asked once for each class of nodes. What is counted of all clauses is counted at the
root, of whose clauses those of the nodes below it are a part.

What a request would say of the machine is left out, where it would go is worked out for requests that go somewhere, and
which handler a service has for which address once a process.
"""

import copy
import json
from base64 import b64decode
from collections import defaultdict, deque
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from boto3.dynamodb import transform
from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.transform import ParameterTransformer
from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from botocore.exceptions import ParamValidationError
from botocore.handlers import BUILTIN_HANDLERS, REGISTER_LAST
from botocore.model import OperationModel, StructureShape
from botocore.parsers import JSONParser as ReplyParser
from botocore.useragent import UserAgentString
from botocore.validate import ParamValidator
from moto.core.base_backend import BaseBackend
from moto.core.models import DEFAULT_ACCOUNT_ID, RESPONSES_METHODS, botocore_stubber
from moto.core.parse import JSONParser as RequestParser
from moto.dynamodb import responses
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models import DynamoDBBackend, utilities
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import bytesize, dynamo_json_dump
from moto.dynamodb.parsing.ast_nodes import (  # type: ignore[attr-defined] # has no types
    DepthFirstTraverser,
    Expression,
    Node,
    UpdateExpressionFunction,
)
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined] # has no types
from moto.dynamodb.parsing.validators import ActionCountValidator, OverlappingPathsValidator
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
OF_ITEMS = OPERATIONS.keys() - {"CreateTable", "UpdateTimeToLive"}
OK = 200
REQUESTS: Any = RequestParser
REPLIES: Any = ReplyParser()
UPDATE_ITEM = DynamoDBBackend.update_item
TRANSACT = DynamoDBBackend.transact_write_items
QUERY = Table.query
QUERIED_INDEX = 6
"""The place of the index's name in what a query is given behind the key."""
CAST: Any = vars(DynamoType)["cast_value"].fget
SIZE: Any = vars(DynamoType)["size"]
LEX: Any = vars(ConditionExpressionParser)["_lex_condition_expression"]
PLAIN = utilities.dynamo_to_dict
TEXT, LIST, MAP, BINARY = "S", "L", "M", ("B", "BS")
VALUE_SHAPE = "AttributeValue"
"""The name that a value of an item has in the description of DynamoDB."""
COUNTING = (ActionCountValidator, OverlappingPathsValidator)
"""What looks at all clauses of an expression at once."""
CLIENT: Any = BaseClient
ENDPOINT = CLIENT._resolve_endpoint_ruleset
REQUEST = CLIENT._convert_to_request_dict
TRANSFORM: Any = vars(ParameterTransformer)["_transform_parameters"]
VALIDATE: Any = vars(ParamValidator)["_validate"]
MADE_RICHER = ('"B": ', '"BS": ')
"""What marks, in the JSON of a reply, a value that boto3 reads as something else than what JSON has."""
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
            (DynamoType, "size", _size),
            (DynamoType, "__deepcopy__", _copied_value),
            (DynamoType, "to_regular_json", _regular),
            (Item, "__deepcopy__", _copied_item),
            (responses, "dynamo_to_dict", _plain),
            (ConditionExpressionParser, "_lex_condition_expression", _lexed),
            (CLIENT, "_resolve_endpoint_ruleset", _endpoint),
            (CLIENT, "_convert_to_request_dict", _request),
            (ParameterTransformer, "_transform_parameters", _transform),
            (transform, "copy_dynamodb_params", lambda params, **_: _copied_parameters(params)),
            (ParamValidator, "_validate", _validate),
            (UpdateExpressionParser, "make", staticmethod(cache(UpdateExpressionParser.make))),
            (Node, "__deepcopy__", _copied_node),
            (DepthFirstTraverser, "traverse_node_recursively", _traversed),
            (Node, "find_clauses", _found_clauses),
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


def _request(
    client: Any, *, api_params: dict[str, Any], operation_model: OperationModel, endpoint_url: str, **named: Any
) -> dict[str, Any]:
    """A request as it is sent: for `_answer` its parameters as JSON, once boto3 has checked them."""
    try:
        body = json.dumps(api_params) if _answered(client, operation_model) else ""
    except TypeError:  # it has bytes in it, or what boto3 refuses
        body = ""
    if not body:
        given = {"api_params": api_params, "operation_model": operation_model, "endpoint_url": endpoint_url}
        request: dict[str, Any] = REQUEST(client, **given, **named)
        return request
    report = client._serializer._param_validator.validate(api_params, operation_model.input_shape)
    if report.has_errors():
        raise ParamValidationError(report=report.generate_report())
    return {"url": endpoint_url, "headers": {}, "context": named["context"], "body": body}


def _transform(transformer: Any, model: Any, params: Any, transformation: Any, target_shape: str) -> None:
    """Transform what a shape holds, where it may hold the one that is looked for."""
    if target_shape in _held(model.name, model):
        TRANSFORM(transformer, model, params, transformation, target_shape)


def _held(name: str, model: Any) -> frozenset[str]:
    """The names of the shapes that a shape of DynamoDB's is made of."""
    if name not in _holds:
        ahead, seen = [model], dict[str, Any]()
        while ahead:
            shape = ahead.pop()
            inner: list[Any] = []
            if shape.type_name == "structure":
                inner = [*shape.members.values()]
            elif shape.type_name in ("map", "list"):
                inner = [shape.value if shape.type_name == "map" else shape.member]
            ahead += [one for one in inner if one.name not in seen]
            seen |= {one.name: one for one in inner}
        _holds[name] = frozenset(seen)
    return _holds[name]


_holds: dict[str, frozenset[str]] = {}


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
    body = params["body"]
    handler.body = json.loads(body) if isinstance(body, str) else REQUESTS(model).parse(params)
    try:
        status, body = OK, dynamo_json_dump(operation(handler).result)
    except HTTPException as refusal:
        status, body = refusal.code or 400, str(refusal.description)
    return AWSResponse(params["url"], status, HTTPHeaders(), None), _read(model, status, body)


def _read(model: OperationModel, status: int, body: str) -> Any:
    """A reply as boto3 reads it; a refusal with what is said beside its code and words."""
    if status == OK and model.name in OF_ITEMS and not any(mark in body for mark in MADE_RICHER):
        told, shape = json.loads(body), cast("StructureShape", model.output_shape)
        found = {name: told[name] for name in shape.members if told.get(name) is not None}
        return found | {"ResponseMetadata": {"HTTPStatusCode": OK, "HTTPHeaders": {}}}
    reply = {"status_code": status, "headers": HTTPHeaders(), "body": body.encode()}
    found = REPLIES.parse(reply, model.output_shape)
    if status == OK:
        return found
    refused: Any = model.service_model.shape_for_error_code(found["Error"]["Code"])
    return found | ({} if refused is None else REPLIES.parse(reply, refused))


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


def _traversed(traverser: Any, node: Any, place: int = -1) -> Any:
    """A tree in which a traverser has put what it makes of the nodes that it processes, from the leaves up."""
    if not _is_a(type(node), Node) or (type(traverser) in COUNTING and node.parent is not None):
        return node
    kind = type(traverser)
    parent, looks_ahead = node.parent, kind.pre_processing_of_child is not DepthFirstTraverser.pre_processing_of_child
    for at, child in enumerate(node.children or ()):
        if looks_ahead:
            traverser.pre_processing_of_child(node, at)
        _traversed(traverser, child, at)
    if (kind, type(node)) not in _processors:
        found = (made for cls, made in traverser._processing_map().items() if isinstance(node, cls))
        _processors[kind, type(node)] = next((made.__func__ for made in found), None)
    if (process := _processors[kind, type(node)]) is not None:
        node = process(traverser, node)
        node.parent = parent
        if parent:
            parent.children[place] = node
    return node


_processors: dict[tuple[type, type[Node]], Any] = {}
"""What a class of traversers does with a class of nodes, None: nothing."""


def _found_clauses(node: Any, kinds: list[type[Node]]) -> list[Node]:
    """The nodes of these kinds that are reached through expressions and functions alone."""
    found: list[Node] = []
    for child in node.children or ():
        if type(child) in kinds:
            found.append(child)
        elif _is_a(type(child), Expression) or _is_a(type(child), UpdateExpressionFunction):
            found += _found_clauses(child, kinds)
    return found


_is_a: Any = cache(issubclass)


def _cast(value: DynamoType) -> Any:
    """What is compared of a value: of a text, which all keys are, the text."""
    return value.value if value.type == TEXT else CAST(value)


def _size(value: DynamoType) -> int:
    """How large a value is, of whose parts none is copied first."""
    kind, held = value.type, value.value
    if kind == TEXT:
        return len(held.encode())
    if kind == MAP:
        return sum([bytesize(name) + _size(one) for name, one in held.items()])
    if kind == LIST:
        return sum(map(_size, held))
    size: int = SIZE(value)
    return size


def _plain(made: Any) -> Any:
    """What a reply holds, as plain values."""
    kind = type(made)
    if kind is DynamoType and made.type not in BINARY:
        return {made.type: _plain(made.value)}
    if kind is dict:
        return {name: _plain(one) for name, one in made.items()}
    if kind is list:
        return [*map(_plain, made)]
    return made if kind in (str, int, bool) else PLAIN(made)


def _regular(value: DynamoType) -> dict[str, Any]:
    """A value as it stands in a reply; moto copies all of it at each of its levels."""
    held = value.value
    if value.type == TEXT:
        return {TEXT: held}
    if isinstance(held, dict):
        held = {name: _regular_part(one) for name, one in held.items()}
    elif isinstance(held, list):
        held = [*map(_regular_part, held)]
    elif value.is_binary() and isinstance(held, str):
        held = b64decode(held)
    return {value.type: held}


def _regular_part(part: Any) -> Any:
    return _regular(part) if isinstance(part, DynamoType) else copy.deepcopy(part)


def _copied_parameters(value: Any) -> Any:
    """What a request was given, copied: no part of it holds itself, and nobody changes a condition."""
    kind = type(value)
    if kind is dict:
        return {name: _copied_parameters(one) for name, one in value.items()}
    if kind is list:
        return [*map(_copied_parameters, value)]
    return value if kind in (str, int, bool) or isinstance(value, ConditionBase) else copy.deepcopy(value)


def _validate(validator: Any, params: Any, shape: Any, errors: Any, name: str) -> None:
    """Check a part of a request; a plain value of an item is seen to be one by a shorter way."""
    if not (shape.name == VALUE_SHAPE and _is_plain(params)):
        VALIDATE(validator, params, shape, errors, name)


def _is_plain(value: Any) -> bool:
    """Whether this is certainly a value of an item, of texts, numbers, booleans, nulls, lists and maps."""
    if type(value) is not dict or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    if kind in (TEXT, "N"):
        return type(held) is str
    if kind == MAP:
        return type(held) is dict and all(type(name) is str and _is_plain(one) for name, one in held.items())
    if kind == LIST:
        return type(held) is list and all(map(_is_plain, held))
    return kind in ("BOOL", "NULL") and type(held) is bool


def _copied_item(item: Item, _memo: dict[int, Any]) -> Item:
    """An item like this one, which was not too large."""
    twin: Any = object.__new__(Item)
    twin.hash_key, twin.range_key, twin.attrs = item.hash_key, item.range_key, LimitedSizeDict()
    dict.update(twin.attrs, {name: _copied_value(held) for name, held in item.attrs.items()})
    return twin  # type: ignore[no-any-return] # made without its constructor


def _copied_value(value: DynamoType, _memo: dict[int, Any] | None = None) -> DynamoType:
    """A value like this one; none holds itself."""
    twin, held = object.__new__(DynamoType), value.value
    if value.type == MAP:
        held = {name: _copied_value(one) for name, one in held.items()}
    elif value.type == LIST:
        held = [*map(_copied_value, held)]
    elif value.is_set():
        held = [*held]
    twin.type, twin.value = value.type, held
    return twin


def _lexed(parser: ConditionExpressionParser) -> deque[Any]:
    """The nodes of a condition, which are read once a process: its names and values are put in afterwards."""
    expression = str(parser.condition_expression)
    if expression not in _lexes:
        _lexes[expression] = (*LEX(parser),)
    return deque(_lexes[expression])


_lexes: dict[str, tuple[Any, ...]] = {}


def _replace_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *others: Any, **named: Any) -> Item:
    """Update a copy of the item, which takes its place."""
    table = backend.get_table(table_name)
    item: Any = table.get_item(*backend.get_keys_value(table, key))
    if item is not None and item.range_key is not None:
        table.items[item.hash_key][item.range_key] = copy.deepcopy(item)
    elif item is not None:
        table.items[item.hash_key] = copy.deepcopy(item)
    return UPDATE_ITEM(backend, table_name, key, *others, **named)
