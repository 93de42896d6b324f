"""What people say of things that were judged: one label a thing, which counts for the card of its judge.

A label keeps the verdict that it was given to, so that what it counts follows from it alone. It and the difference that
it makes to the counters are one transaction, on condition that nobody labelled the same thing in between.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from touchstone.errors import StoreError
from touchstone.records.counters import Increment, action_of, changes, counts_pk, shard_of
from touchstone.records.cursors import Page
from touchstone.records.judge_counts import counts_of, judge_sk
from touchstone.records.keys import Key, of_tenant, part, sortable
from touchstone.records.lists import all_of, newest
from touchstone.records.table import Action, ConditionFailedError, Item, jitter, query, read, transact
from touchstone.statistics.tallies import JudgeKey, label_tally
from touchstone.strict import Strict

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

MAX_ITEM_CHARS = 136
"""Longest name of a thing within its record: a question's id, and a choice's number after it."""
LABELS = "LABELS#"
"""How the sort keys of the counts of labels begin, before their kinds."""
_TRIES = 12
"""People who label the same thing at once are few; more collisions than this mean something is wrong."""
_WHAT = "store the label"


class Label(Strict):
    """What somebody said of a thing that was judged: which thing, its label, and the verdict that it was given to.

    `record_id` is the record that holds it, `item` its name there. `verdict` is the judge's, None where it gave none;
    `confidence` (0-1) how sure it was, None where it did not say; `judge` None where nobody was asked. `labelled_by` is
    the id of the token. Times are UTC.
    """

    tenant: str
    kind: str
    record_id: str
    item: Annotated[str, Field(min_length=1, max_length=MAX_ITEM_CHARS)]
    label: str
    verdict: str | None
    confidence: Annotated[float, Field(ge=0.0, le=1.0)] | None
    judge: JudgeKey | None
    labelled_by: str
    labelled_at: datetime


class Labels:
    """The labels of all tenants. Every method raises `StoreError` where the store fails; all are safe to repeat."""

    def __init__(self, table: "Table", *, pause: Callable[[float], None] = time.sleep) -> None:
        self._table = table
        self._pause = pause

    def put(self, label: Label) -> Label:
        """Keep a label in place of an earlier one of the same thing; the label as it is stored then.

        The same label by the same person again is the first one, with its time.
        """

        def after(before: Label | None) -> Label:
            if before is not None and before.model_copy(update={"labelled_at": label.labelled_at}) == label:
                return before
            return label

        key = _key(label.tenant, label.kind, label.record_id, label.item)
        return self._change(key, after) or label

    def remove(self, *, tenant: str, kind: str, record_id: str, item: str) -> bool:
        """Take a label back, with what it counted; whether there was one."""
        removed = False

        def after(before: Label | None) -> None:
            nonlocal removed
            removed = removed or before is not None

        self._change(_key(tenant, kind, record_id, item), after)
        return removed

    def of_record(self, *, tenant: str, kind: str, record_id: str) -> dict[str, Label]:
        """The labels of a record's things, by the thing's name. Strongly consistent."""
        items = query(
            self._table,
            "the labels",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": _pk(tenant, kind, record_id)},
            ConsistentRead=True,
        )
        return {label.item: label for label in map(_label, items)}

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[Label]:
        """A tenant's labels, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = _scope(tenant)
        items, after = newest(self._table, "the labels", scope=scope, limit=limit, cursor=cursor)
        return Page(items=tuple(map(_label, items)), cursor=after)

    def _change(self, key: Key, step: Callable[[Label | None], Label | None]) -> Label | None:
        """Put in place of a label what `step` makes of it (None: there was, or is to be, none), with what follows."""
        for attempt in range(_TRIES):
            item = read(self._table, key, "the label")
            before = None if item is None else _label(item)
            after = step(before)
            if after is before:
                return before
            counted = changes(
                () if before is None else counted_for(before), () if after is None else counted_for(after)
            )
            try:
                transact(self._table, [_write(key, item, after), *map(action_of, counted)], _WHAT, pause=self._pause)
            except ConditionFailedError:
                self._pause(jitter(attempt))
            else:
                return after
        raise StoreError("The label was changed by others each time; it is safe to repeat.")


def labels_of(table: "Table", tenant: str) -> Iterator[Label]:
    """All labels of a tenant, each read anew: the index that lists them may lag behind."""
    for item in all_of(table, "the labels", scope=_scope(tenant)):
        stored = read(table, {"pk": item["pk"], "sk": item["sk"]}, "the label")
        if stored is not None:
            yield _label(stored)


def counted_for(label: Label) -> Sequence[Increment]:
    """What a label counts: for its kind, and for the card of its judge where there is one."""
    pk = counts_pk(label.tenant, shard_of(f"{label.record_id}#{label.item}"))
    counted = [Increment(pk=pk, sk=f"{LABELS}{part(label.kind)}", add={"labels": 1})]
    if label.judge is not None:
        tally = label_tally(label.verdict, label.label, label.confidence)
        counted.append(Increment(pk=pk, sk=judge_sk(label.judge), add=counts_of(tally)))
    return counted


def _write(key: Key, before: Item | None, after: Label | None) -> Action:
    """The write that puts `after` in place of the item that was read, on condition that it is still that one."""
    condition: Item = {"ConditionExpression": "attribute_not_exists(pk)"}
    if before is not None:
        condition = {
            "ConditionExpression": "revision = :before",
            "ExpressionAttributeValues": {":before": before["revision"]},
        }
    if after is None:
        return {"Delete": {"Key": key, **condition}}
    return {"Put": {"Item": item_of(after), **condition}}


def item_of(label: Label) -> Item:
    """A label as an item of the table."""
    position = (sortable(label.labelled_at), part(label.kind), part(label.record_id), part(label.item))
    return {
        **_key(label.tenant, label.kind, label.record_id, label.item),
        "revision": str(uuid.uuid4()),
        "gsi1pk": _scope(label.tenant),
        "gsi1sk": "#".join(position),
        "summary": label.model_dump_json(),
    }


def _label(item: Item) -> Label:
    return Label.model_validate_json(str(item["summary"]))


def _pk(tenant: str, kind: str, record_id: str) -> str:
    return of_tenant(tenant, "LABEL", part(kind), part(record_id))


def _key(tenant: str, kind: str, record_id: str, item: str) -> Key:
    return {"pk": _pk(tenant, kind, record_id), "sk": part(item)}


def _scope(tenant: str) -> str:
    return of_tenant(tenant, "LABELS")
