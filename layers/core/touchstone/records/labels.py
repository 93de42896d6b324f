"""The labels that people give to judged things: one label for each thing, which counts for the card of its judge.

A label keeps the verdict that it was given to, so that its counts follow from the label alone. The label and the
difference that it makes to the counters are written in one transaction, on condition that nobody labelled the same
thing in between. If several people label one thing, the label keeps what each of them said, and its value is what most
of them said.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from touchstone.aws import ConditionFailedError, Table, jitter, read_many
from touchstone.errors import ConflictError, StoreError
from touchstone.records.counters import Increment, action_of, changes, counts_pk, label_counts, rate_sks, shard_of
from touchstone.records.judge_counts import counts_of, judge_sk
from touchstone.records.keys import Key, of_tenant, part, sortable
from touchstone.records.lists import Page, all_of, newest
from touchstone.records.table import Action, Item, OfTable, partition, read, transact
from touchstone.statistics.tallies import CardTally, JudgedVote, JudgeKey, RatedAs, Sample, label_tally, people_tally
from touchstone.strict import Strict

MAX_PEOPLE = 20
"""The most people whose labels of one thing are kept: more people than any ceiling is measured with."""
MOST_LOOKED_AT = 1_000
"""How many labels are searched for labels that disagree with a judge: ten reads of the list."""
_LOOKED_AT_ONCE, _ENOUGH = 100, 50
MAX_ITEM_CHARS = 136
"""The longest name of a thing within its record: a question's id, with a choice's number behind it."""
LABELS = "LABELS#"
"""The prefix of the sort keys of the counts of labels; the kind follows."""
_TRIES = 12
"""How often a write is tried. Few people label the same thing at once; more collisions than this mean a fault."""
_WHAT = "store the label"


class PersonsWord(Strict):
    """What one person said of a thing. `by` is the id of the person's token."""

    by: str
    label: str
    at: datetime


class Label(Strict):
    """The label of a judged thing: which thing it is, the label, and the verdict that the label was given to.

    `record_id` is the record that holds the thing, `item` the thing's name in it. `verdict` is the judge's, None if it
    gave none. `confidence` (0-1) is how sure the judge was, None if it did not say. `judge` is None if no judge was
    asked. `label` is what most people said; on a tie, what was said last. `labelled_by` is the id of the token of the
    person who labelled last. `people` is what each person said, in time order; empty if only one person did. `sample`
    is how the thing came to be labelled, None for an earlier release's label. `votes` are the verdicts of judges that
    were not sure enough to decide. `rated_as` tells whose answer the thing is, None if it is nobody's. Times are UTC.
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
    sample: Sample | None = None
    people: tuple[PersonsWord, ...] = ()
    votes: tuple[JudgedVote, ...] = ()
    rated_as: RatedAs | None = None

    @property
    def disputed(self) -> bool:
        """Whether a judge disagrees with the label: the judge whose verdict stands, or one that was not sure enough."""
        said = [*([self.verdict] if self.verdict is not None else []), *(vote.verdict for vote in self.votes)]
        return any(verdict != self.label for verdict in said)

    @property
    def words(self) -> tuple[PersonsWord, ...]:
        """What each person said, also if it was only one person."""
        return self.people or (PersonsWord(by=self.labelled_by, label=self.label, at=self.labelled_at),)


class Labels(OfTable):
    """The labels of all tenants. All methods raise `StoreError` if the store fails, and are safe to repeat."""

    def put(self, label: Label) -> Label:
        """Keep a person's label of a thing in place of the person's earlier one. Return the thing's label as stored.

        If the same person gives the same label again, the first one stays, with its time. A thing stays in the sample
        in which it was labelled first. Raises `ConflictError` if more than `MAX_PEOPLE` people label one thing.
        """

        def after(before: Label | None) -> Label:
            return _said_too(before, label)

        key = _key(label.tenant, label.kind, label.record_id, label.item)
        return self._change(key, after) or label

    def remove(self, *, tenant: str, kind: str, record_id: str, item: str) -> bool:
        """Remove a label and what it counted. Return whether there was one."""
        removed = False

        def after(before: Label | None) -> None:
            nonlocal removed
            removed = removed or before is not None

        self._change(_key(tenant, kind, record_id, item), after)
        return removed

    def of_record(self, *, tenant: str, kind: str, record_id: str) -> dict[str, Label]:
        """The labels of a record's things, by the thing's name; strongly consistent."""
        items = partition(self._table, "the labels", labels_pk(tenant, kind, record_id))
        return {label.item: label for label in map(_label, items)}

    def of_things(self, *, tenant: str, kind: str, things: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Label]:
        """The labels of things, by their record's id and their name in it: one read for each hundred things.

        Strongly consistent.
        """
        keys = [_key(tenant, kind, record_id, item) for record_id, item in things]
        found = map(_label, read_many(self._table, keys, "the labels", pause=self._pause))
        return {(label.record_id, label.item): label for label in found}

    def disagreements(
        self, *, tenant: str, cursor: str | None = None, of: Callable[[Label], bool] = lambda _: True
    ) -> tuple[Page[Label], int]:
        """Labels that disagree with a judge and are `of` something, newest first; and how many labels were looked at.

        At most `MOST_LOOKED_AT` labels are looked at, so that a page may have few or none and the next page more.
        Raises `InputError` for a cursor of another list.
        """
        found: list[Label] = []
        looked_at = 0
        while True:
            page = self.page(tenant=tenant, limit=_LOOKED_AT_ONCE, cursor=cursor)
            found += [label for label in page.items if label.disputed and of(label)]
            looked_at += len(page.items)
            cursor = page.cursor
            if cursor is None or len(found) >= _ENOUGH or looked_at >= MOST_LOOKED_AT:
                return Page(items=tuple(found), cursor=cursor), looked_at

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[Label]:
        """A tenant's labels, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = _scope(tenant)
        items, after = newest(self._table, "the labels", scope=scope, limit=limit, cursor=cursor)
        return Page(items=tuple(map(_label, items)), cursor=after)

    def _change(self, key: Key, step: Callable[[Label | None], Label | None]) -> Label | None:
        """Replace a label by the result of `step`, together with the change of its counts. None stands for no label."""
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


def _said_too(before: Label | None, label: Label) -> Label:
    """A thing's label after one more person labelled it, or the same person labelled it again."""
    earlier = () if before is None else before.words
    mine = next((one for one in earlier if one.by == label.labelled_by), None)
    if before is not None and mine is not None and mine.label == label.label:
        told = {"label", "labelled_by", "labelled_at", "people", "sample"}
        same = before.model_dump(exclude=told) == label.model_dump(exclude=told)
        if same and (before.sample is not None or label.sample is None):
            return before
    word = PersonsWord(by=label.labelled_by, label=label.label, at=label.labelled_at)
    people = (*(one for one in earlier if one.by != label.labelled_by), word)
    if len(people) > MAX_PEOPLE:
        raise ConflictError(f"{MAX_PEOPLE} people have labelled this already; their word is enough.")
    given = [one.label for one in people]
    most = max(reversed(given), key=given.count)
    sample = (before and before.sample) or label.sample
    several = people if len(people) > 1 else ()
    return label.model_copy(update={"label": most, "people": several, "sample": sample})


def labels_of(table: Table, tenant: str) -> Iterator[Label]:
    """All labels of a tenant. Each is read from the table, since the index that lists them may lag behind."""
    for item in all_of(table, "the labels", scope=_scope(tenant)):
        stored = read(table, {"pk": item["pk"], "sk": item["sk"]}, "the label")
        if stored is not None:
            yield _label(stored)


def counted_for(label: Label) -> Sequence[Increment]:
    """The increments of a label: for its kind, for its judges' cards, and for the rates that its verdict counts for."""
    pk = counts_pk(label.tenant, shard_of(f"{label.record_id}#{label.item}"))
    counted = [Increment(pk=pk, sk=f"{LABELS}{part(label.kind)}", add={"labels": 1})]
    for judge, tally in tallies_of(label).items():
        counted.append(Increment(pk=pk, sk=judge_sk(judge), add=counts_of(tally)))
    if label.rated_as is not None and label.verdict is not None:
        add = label_counts(label.verdict, label.label, at_random=label.sample == "random")
        counted += [Increment(pk=pk, sk=sk, add=add) for sk in rate_sks(label.rated_as)]
    return counted


def tallies_of(label: Label) -> dict[JudgeKey, CardTally]:
    """What a label adds to judges' tallies: the judge whose verdict stands, and those that were not sure enough."""
    found: dict[JudgeKey, CardTally] = {}
    if label.judge is not None:
        found[label.judge] = label_tally(
            label.verdict, label.label, label.confidence, sample=label.sample
        ) + people_tally([one.label for one in label.words])
    for vote in label.votes:
        tally = label_tally(vote.verdict, label.label, vote.confidence, sample=label.sample)
        found[vote.judge] = found.get(vote.judge, CardTally()) + tally
    return found


def _write(key: Key, before: Item | None, after: Label | None) -> Action:
    """The write that puts `after` in place of the item that was read, if that item is still unchanged."""
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


def labels_pk(tenant: str, kind: str, record_id: str) -> str:
    """The partition of the labels of a record's things of one kind."""
    return of_tenant(tenant, "LABEL", part(kind), part(record_id))


def _key(tenant: str, kind: str, record_id: str, item: str) -> Key:
    return {"pk": labels_pk(tenant, kind, record_id), "sk": part(item)}


def _scope(tenant: str) -> str:
    return of_tenant(tenant, "LABELS")
