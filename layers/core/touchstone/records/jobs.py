"""Jobs as they are stored: each kind describes its records; one store creates, reads, lists and changes them."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol, Self

from touchstone.aws import read_many
from touchstone.clock import Clock, system_clock
from touchstone.records.keys import key_of, of_tenant, reference_of, sortable, unfinished_pk, unfinished_pks
from touchstone.records.list_query import ListQuery
from touchstone.records.lists import MAX_PAGE, due_until
from touchstone.records.looking import FoundPage, Line, Looking
from touchstone.records.request_keys import KEPT
from touchstone.records.table import Action, Item, OfKind
from touchstone.records.versioned import RecordKind, Storable, Versioned
from touchstone.references import JobKind, Reference

EVERYTHING = ListQuery()
"""All records of a list, newest first."""


class JobRecord(Storable, Protocol):
    """A record of a job."""

    @property
    def ref(self) -> Reference:
        """The reference to this record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job[R: JobRecord, S: Line]:
    """How one kind of job is stored, so far as it differs from the other kinds.

    `plural` names its records in sentences and in the key of their list. `asked` is the request that a record began as:
    the same text for a repeated request. `summary` makes a record's line in a list, and `line` is the line's class;
    both are None for a kind without lists of a tenant. `due` is when the next step of a record is due, None once it
    needs none: the sweep looks for records that are long past that moment. `more_attributes` are further attributes of
    the item, and `counter_writes` the writes that a change brings with it (`RecordKind`). `touched` writes the moment
    of a change into the record, for a kind that keeps it.
    """

    kind: JobKind
    plural: str
    model: type[R]
    asked: Callable[[R], str]
    due: Callable[[R], datetime | None]
    line: type[S] | None = None
    summary: Callable[[R], S] | None = None
    more_attributes: Callable[[R], Item] = lambda _: {}
    counter_writes: Callable[[R | None, R], Sequence[Action]] = lambda _before, _after: ()
    touched: Callable[[R, datetime], R] = lambda record, _now: record

    @property
    def scope(self) -> str:
        """The word in the key of a tenant's list."""
        return self.plural.upper()

    @property
    def unfinished(self) -> str:
        """The name of the list, in the `deferred` index, of all tenants' records with a step ahead.

        The list has several partitions.
        """
        return f"{self.kind.upper()}#unfinished"

    def stored(self, clock: Clock = system_clock) -> RecordKind[R]:
        """How the records of this kind are stored."""
        return RecordKind(
            name=self.kind,
            model=self.model,
            key=lambda record: key_of(record.ref),
            asked=self.asked,
            derived=self._derived,
            counter_writes=self.counter_writes,
            touched=lambda record: self.touched(record, clock()),
        )

    def _derived(self, record: R) -> Item:
        item: Item = dict(self.more_attributes(record))
        if self.summary is not None:
            summary = self.summary(record).model_dump_json()
            item |= {"gsi1pk": of_tenant(record.tenant, self.scope), "gsi1sk": record.id, "summary": summary}
        due = self.due(record)
        if due is None:
            return item
        return item | {"gsi2pk": unfinished_pk(self.unfinished, record.id), "gsi2sk": f"{sortable(due)}#{record.id}"}


class JobStore[R: JobRecord, S: Line](OfKind[Job[R, S]]):
    """The records of one kind of job, of all tenants.

    Every method raises `NotFoundError` for a record that its tenant does not have, and `StoreError` if the store fails.
    All methods are safe to repeat, and a repeat returns the record as it is stored then.
    """

    @cached_property
    def _records(self) -> Versioned[R]:
        return Versioned(self.how.stored(self._clock), self._table, self._artifacts, pause=self._pause)

    def drafting(self, draft: R) -> Self:
        """This store with a draft: a new record that is read as it is and stored by the first change to it.

        If a record is stored under the draft's id already, that one is read instead. A method raises `ConflictError` if
        the stored record belongs to another request.
        """
        drafting = copy(self)
        drafting._records = self._records.drafting(draft)  # noqa: SLF001 - its own
        return drafting

    def _beside[O: JobRecord](self, job: Job[O, Any]) -> Versioned[O]:
        """The records of another kind of job in the same table, for a change that is made together with one here."""
        return Versioned(job.stored(self._clock), self._table, self._artifacts, pause=self._pause)

    def preloaded(self, which: Sequence[Reference]) -> Self:
        """This store, with some records of one tenant read now and not again before they are written.

        A hundred records are read at once. If somebody else changes such a record meanwhile, the condition of the write
        fails.
        """
        preloaded = copy(self)
        if which:
            preloaded._records = self._records.preloaded(which[0].tenant, [key_of(each) for each in which])  # noqa: SLF001 - its own
        return preloaded

    def create(self, record: R) -> R:
        """Store a new record; a repeat returns the stored record in its present state.

        Raises `ConflictError` if the id belongs to another request.
        """
        return self._records.insert(record)

    def find(self, which: Reference) -> R | None:
        """The record, None if there is none."""
        stored = self._records.find(which.tenant, key_of(which))
        return None if stored is None else stored.record

    def get(self, which: Reference) -> R:
        """The record, strongly consistent."""
        return self._records.read(which.tenant, key_of(which)).record

    def find_many(self, *, tenant: str, which: Sequence[Reference]) -> dict[Reference, R]:
        """The existing records of a tenant's references, strongly consistent: one read for each hundred."""
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
        """A tenant's records that `query` means, one line each, newest first unless the query says otherwise.

        Raises `InputError` for a cursor of another list or of other filters, and for a limit outside 1 to `most`.
        """
        line = self.how.line
        if line is None:
            raise TypeError(f"{self.how.plural.capitalize()} have no list of a tenant's.")
        return Looking(
            table=self._table,
            what=f"the {self.how.plural}",
            scope=of_tenant(tenant, self.how.scope),
            line=line,
            query=query,
            between=self.between(tenant, query),
            match_records=lambda lines: self.matching_records(tenant, query, lines),
            reads_of=lambda line: self.reads_of(query, line),
        ).page(limit=limit, cursor=cursor, most=most)

    def matching_records(self, tenant: str, query: ListQuery, lines: Sequence[S]) -> dict[str, S]:
        """The lines whose records `query` means, by id. Each line is made again from its record."""
        keys = [key_of(Reference(tenant, self.how.kind, line.id)) for line in lines]
        found = {}
        for item in read_many(self._table, keys, f"the {self.how.plural}", pause=self._pause):
            record = self._records.of_item(tenant, item).record
            line = self.how.summary(record) if self.how.summary is not None else None
            if line is not None and query.matches(line, self.searched(query, record)):
                found[record.id] = line
        return found

    def reads_of(self, query: ListQuery, line: S) -> int:  # noqa: ARG002 - for those that read more
        """How many reads it takes to look into a line (`MOST_LOOKED_INTO`)."""
        return 1

    def searched(self, query: ListQuery, record: R) -> Any:  # noqa: ARG002 - for those whose texts lie elsewhere
        """The source of the texts of a search (`Findable.texts`): the record, or texts that lie elsewhere."""
        return record

    def between(self, tenant: str, query: ListQuery) -> tuple[str, str]:  # noqa: ARG002 - for those that read for it
        """The first and the last id that the query can mean.

        An id may be as old as its sender's key, or as its batch.
        """
        return query.ids(oldest=query.begin - KEPT)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[Reference, ...]:
        """The records of all tenants whose next step was due longer ago than `older_than`, oldest first.

        They are read from an index: a record that went on a moment ago may still be among them.
        """
        return self.listed(*unfinished_pks(self.how.unfinished), older_than=older_than, limit=limit)

    def listed(self, *lists: str, older_than: timedelta, limit: int) -> tuple[Reference, ...]:
        """As `unfinished`, for other partitions of the same index."""
        moment = self._clock() - older_than
        found = due_until(self._table, f"unfinished {self.how.plural}", lists=lists, moment=moment, limit=limit)
        return tuple(reference_of(self.how.kind, item) for item in found)

    def change(
        self, which: Reference, step: Callable[[R], R], *, also_write: Callable[[R], Sequence[Action]] | None = None
    ) -> R:
        """Apply `step`, a pure change that returns the very same object if nothing is to do. Return the stored record.

        `also_write` returns further writes of the same transaction, from the record as it will be. Raises what `step`
        raises, and `InputError` if the result is no valid record.
        """
        return self._records.change(which.tenant, key_of(which), step, also_write=also_write)

    def begin(self, which: Reference, step: Callable[[R], R]) -> tuple[R, bool]:
        """Apply a step that takes a record's work. The flag says whether this caller got it: of many exactly one."""
        return self._records.begin(which.tenant, key_of(which), step)
