"""Jobs as they are stored: each kind says what its own is, and one store creates, reads, lists and changes them all."""

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, Self

from touchstone.clock import Clock, system_clock
from touchstone.records.artifacts import Artifacts
from touchstone.records.cursors import MAX_PAGE
from touchstone.records.keys import key_of, of_tenant, reference_of, sortable, unfinished_pk, unfinished_pks
from touchstone.records.list_query import ListQuery
from touchstone.records.lists import due_until
from touchstone.records.looking import FoundPage, Line, Looking
from touchstone.records.request_keys import KEPT
from touchstone.records.table import Action, Item, read_many
from touchstone.records.versioned import RecordKind, Storable, Versioned
from touchstone.references import JobKind, Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


EVERYTHING = ListQuery()
"""All records of a list, newest first."""


class JobRecord(Storable, Protocol):
    """A record of a job."""

    @property
    def ref(self) -> Reference:
        """The reference to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job[R: JobRecord, S: Line]:
    """What tells one kind of job from the others in the table.

    `plural` names its records in sentences and in the key of their list. `asked` is what a record began as: the same
    for a repeated request. `summary` makes the line of a list, and `line` is its class, both None for a kind without a
    list of a tenant's. `due` is when the next step of a record is due, None once it needs none: the sweep looks for
    what is long past that. `also` are further attributes of the item, and `follows` the writes that a change brings
    with it (`RecordKind`). `dated` keeps in a record when it changed, where it says so.
    """

    kind: JobKind
    plural: str
    model: type[R]
    asked: Callable[[R], str]
    due: Callable[[R], datetime | None]
    line: type[S] | None = None
    summary: Callable[[R], S] | None = None
    also: Callable[[R], Item] = lambda _: {}
    follows: Callable[[R | None, R], Sequence[Action]] = lambda _before, _after: ()
    dated: Callable[[R, datetime], R] = lambda record, _now: record

    @property
    def scope(self) -> str:
        """The word in the key of a tenant's list."""
        return self.plural.upper()

    @property
    def unfinished(self) -> str:
        """The list, in the `deferred` index, of all tenants' records with a step ahead. It has several partitions."""
        return f"{self.kind.upper()}#unfinished"

    def stored(self, clock: Clock = system_clock) -> RecordKind[R]:
        """How its records are stored."""
        return RecordKind(
            name=self.kind,
            model=self.model,
            key=lambda record: key_of(record.ref),
            asked=self.asked,
            derived=self._derived,
            follows=self.follows,
            dated=lambda record: self.dated(record, clock()),
        )

    def _derived(self, record: R) -> Item:
        item: Item = dict(self.also(record))
        if self.summary is not None:
            summary = self.summary(record).model_dump_json()
            item |= {"gsi1pk": of_tenant(record.tenant, self.scope), "gsi1sk": record.id, "summary": summary}
        due = self.due(record)
        if due is None:
            return item
        return item | {"gsi2pk": unfinished_pk(self.unfinished, record.id), "gsi2sk": f"{sortable(due)}#{record.id}"}


class JobStore[R: JobRecord, S: Line]:
    """The records of one kind of job, of all tenants.

    Every method raises `NotFoundError` for what its tenant does not have, and `StoreError` where the store fails; all
    are safe to repeat, and a repeat returns the record as it is stored by then.
    """

    def __init__(
        self,
        job: Job[R, S],
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.job = job
        self._table = table
        self._artifacts = artifacts
        self._pause = pause
        self._records = Versioned(job.stored(clock), table, artifacts, pause=pause)
        self._clock = clock

    def drafting(self, draft: R) -> Self:
        """This store with a new record that is stored by the first change to it, and until then read as it is.

        A record that is stored under its id already is read instead. Raises `ConflictError` where a method meets one of
        another request.
        """
        drafting = copy(self)
        drafting._records = self._records.drafting(draft)  # noqa: SLF001 - its own
        return drafting

    def create(self, record: R) -> R:
        """Store a new record; a repeat returns the stored one, however far it has come.

        Raises `ConflictError` where the id belongs to another request.
        """
        return self._records.insert(record)

    def find(self, which: Reference) -> R | None:
        """The record, None where there is none."""
        stored = self._records.find(which.tenant, key_of(which))
        return None if stored is None else stored.record

    def get(self, which: Reference) -> R:
        """The record, strongly consistent."""
        return self._records.read(which.tenant, key_of(which)).record

    def find_many(self, *, tenant: str, which: Sequence[Reference]) -> dict[Reference, R]:
        """The records that there are of a tenant's references, strongly consistent: a hundred by each read."""
        found = self._records.find_many(tenant, [key_of(each) for each in which])
        return {each.record.ref: each.record for each in found}

    def page(
        self,
        *,
        tenant: str,
        limit: int = 50,
        cursor: str | None = None,
        query: ListQuery = EVERYTHING,
        most: int = MAX_PAGE,
    ) -> FoundPage[S]:
        """A tenant's records that `query` means, a line each, newest first unless it says otherwise.

        Raises `InputError` for a cursor of another list or of other filters, and for a limit outside 1 to `most`.
        """
        line = self.job.line
        if line is None:
            raise TypeError(f"{self.job.plural.capitalize()} have no list of a tenant's.")
        return Looking(
            table=self._table,
            what=f"the {self.job.plural}",
            scope=of_tenant(tenant, self.job.scope),
            line=line,
            query=query,
            between=self.between(tenant, query),
            look_into=lambda lines: self.looked_into(tenant, query, lines),
        ).page(limit=limit, cursor=cursor, most=most)

    def looked_into(self, tenant: str, query: ListQuery, lines: Sequence[S]) -> dict[str, S]:
        """Those of lines whose records `query` means, by id, each as it is made now."""
        keys = [key_of(Reference(tenant, self.job.kind, line.id)) for line in lines]
        found = {}
        for item in read_many(self._table, keys, f"the {self.job.plural}", pause=self._pause):
            record = self._records.of_item(tenant, item).record
            line = self.job.summary(record) if self.job.summary is not None else None
            if line is not None and query.meant(line, record):
                found[record.id] = line
        return found

    def between(self, tenant: str, query: ListQuery) -> tuple[str, str]:  # noqa: ARG002 - for those that read for it
        """The first and the last id that can be meant: an id may be as old as its sender's key, or as its batch."""
        return query.ids(oldest=query.begin - KEPT)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[Reference, ...]:
        """Records of all tenants whose next step was due longer ago than `older_than`, oldest first.

        Read from an index: one that went on a moment ago may still be among them.
        """
        return self.listed(*unfinished_pks(self.job.unfinished), older_than=older_than, limit=limit)

    def listed(self, *lists: str, older_than: timedelta, limit: int) -> tuple[Reference, ...]:
        """As `unfinished`, of other partitions of the same index."""
        moment = self._clock() - older_than
        found = due_until(self._table, f"unfinished {self.job.plural}", lists=lists, moment=moment, limit=limit)
        return tuple(reference_of(self.job.kind, item) for item in found)

    def change(
        self, which: Reference, step: Callable[[R], R], *, beside: Callable[[R], Sequence[Action]] | None = None
    ) -> R:
        """Apply `step`, a pure change that returns the very same object where nothing is to do; the record as stored.

        `beside` gives further writes of the same transaction, from the record as it will be. Raises what `step` raises,
        and `InputError` where the result is no valid record.
        """
        return self._records.change(which.tenant, key_of(which), step, beside=beside)

    def begin(self, which: Reference, step: Callable[[R], R]) -> tuple[R, bool]:
        """Apply a step by which somebody takes a record's work, and whether it is theirs: of many at once, one's."""
        return self._records.begin(which.tenant, key_of(which), step)
