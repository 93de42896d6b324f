"""All items of a tenant in the table, found by partitions and indexes: the table is never scanned.

Every item that is kept for a tenant lies in one of three places, so that it can be handed out and removed: in a
partition that every tenant has, in the partition of an item that the index by time lists, or among the items that the
index by time lists by their keys because nothing else leads to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from touchstone.aws import Table, store_faults
from touchstone.records.counters import MOST_COUNT_SHARDS
from touchstone.records.keys import (
    CASE,
    CHALLENGES,
    CHOICE,
    COMPARISON,
    LISTED_SHARDS,
    OUTBOX,
    PAIR,
    RECORD,
    SUBMISSIONS,
    Key,
    listed_pk,
    of_tenant,
)
from touchstone.records.lists import all_of
from touchstone.records.table import Item, partition

SPENDING_PARTS = 32
"""The most items that hold what a busy tenant spends on one day; `budgets` decides when there are several."""
OWN = (
    ("SUGGESTIONS",),
    ("APPROACHES",),
    ("ROUTING",),
    ("THRESHOLDS",),
    ("SPEND",),
    *(("SPEND", str(part)) for part in range(1, SPENDING_PARTS)),
    *(("COUNTS", str(shard)) for shard in range(MOST_COUNT_SHARDS)),
)
"""The partitions that every tenant has, beside the partition of its profile and tokens."""
LISTINGS = (
    "ANSWERS",
    "BATCHES",
    "PROVIDER_BATCHES",
    "TASKS",
    "MEASUREMENTS",
    "QUIZZES",
    "CURRICULA",
    "LEARNERS",
    "EXPERIMENTS",
    "AUDITS",
    "LABELS",
    "SHARES",
)
"""The lists in the index by time whose items have partitions of their own. One of these lists, or the lists by key,
leads to every record."""
EMPTIED = "EMPTIED#"
"""The prefix of sort keys in the profile's partition. Each such item names a partition that was emptied and may fill
again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """One kind of a tenant's items: the word behind the tenant in their partition key, and how their sort keys begin.

    `name` is the name of the file that they are exported to. `shared`: other kinds lie in the same partition.
    `documents`: a long body lies among the documents that their tenant replaces. `kept_back` is why the kind is not
    exported, None if it is.
    """

    name: str
    word: str
    sk: str
    shared: bool = False
    documents: bool = False
    kept_back: str | None = None


KINDS = (
    Belonging(name="tenant", word="", sk="PROFILE", shared=True),
    Belonging(name="tokens", word="", sk="TOKEN#", shared=True),
    Belonging(name="emptied_partitions", word="", sk=EMPTIED, shared=True, kept_back="it only serves a deletion"),
    Belonging(name="answers", word="ANSWER", sk=RECORD),
    Belonging(name="solutions", word="PROBLEM", sk="SOLUTION"),
    Belonging(name="near_problems", word="NEAR", sk=""),
    Belonging(name="counters", word="COUNTS", sk=""),
    Belonging(name="suggestions", word="SUGGESTIONS", sk=""),
    Belonging(name="approaches", word="APPROACHES", sk=""),
    Belonging(name="batches", word="BATCH", sk=RECORD, shared=True),
    Belonging(name="batch_chunks", word="BATCH", sk="CHUNK#", shared=True),
    Belonging(name="provider_batches", word="PROVIDER_BATCH", sk=RECORD),
    Belonging(name="tasks", word="TASK", sk=RECORD, shared=True),
    Belonging(name="submissions", word="TASK", sk=SUBMISSIONS, shared=True),
    Belonging(name="comparisons", word="TASK", sk=COMPARISON, shared=True),
    Belonging(name="challenges", word="TASK", sk=CHALLENGES, shared=True),
    Belonging(name="submitters", word="TASK", sk="SUBMITTER#", shared=True),
    Belonging(name="events", word="TASK", sk=OUTBOX, shared=True),
    Belonging(name="measurements", word="MEASUREMENT", sk=RECORD),
    Belonging(name="quizzes", word="QUIZ", sk=RECORD),
    Belonging(name="curricula", word="CURRICULUM", sk=RECORD, documents=True),
    Belonging(name="learners", word="LEARNER", sk=RECORD, documents=True),
    Belonging(name="experiments", word="EXPERIMENT", sk=RECORD, shared=True),
    Belonging(name="experiment_pairs", word="EXPERIMENT", sk=PAIR, shared=True),
    Belonging(name="experiment_progress", word="EXPERIMENT", sk="PROGRESS", shared=True),
    Belonging(name="audits", word="AUDIT", sk=RECORD, shared=True),
    Belonging(name="audit_cases", word="AUDIT", sk=CASE, shared=True),
    Belonging(name="audit_progress", word="AUDIT", sk="PROGRESS", shared=True),
    Belonging(name="labels", word="LABEL", sk=""),
    Belonging(name="routing_choices", word="ROUTING", sk=CHOICE),
    Belonging(name="routing", word="ROUTING", sk=""),
    Belonging(name="thresholds", word="THRESHOLDS", sk=""),
    Belonging(name="spending", word="SPEND", sk="DAY#"),
    Belonging(name="ceiling", word="SPEND", sk="CEILING"),
    Belonging(name="request_keys", word="KEY", sk="KEY"),
    Belonging(name="quota_shares", word="QUOTA", sk=""),
    Belonging(name="judge_replies", word="CACHE", sk="REPLY", kept_back="it repeats what the records say"),
    Belonging(name="purges", word="PURGE", sk="PURGE", kept_back="it only serves a removal"),
    Belonging(name="sessions", word="SESSION", sk="SESSION", kept_back="it lets somebody in"),
)
"""Every kind of item that is kept for a tenant."""
OTHER = Belonging(name="others", word="", sk="", shared=True)
"""The kind of items in a tenant's partitions that match no other kind; they are exported and removed all the same."""


def kind_of(key: Key) -> Belonging:
    """The kind of an item, by its key."""
    word = _word(key["pk"])
    found = (kind for kind in KINDS if kind.word == word and key["sk"].startswith(kind.sk))
    return next(found, OTHER)


class Belongings:
    """A tenant's items in the table. Raises `StoreError` if the store fails."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def partitions(self, tenant: str) -> Iterator[str]:
        """The keys of all partitions with items of a tenant, each once; the partition of the tenant itself is left out.

        The partitions that the index lists come first, before the counters that are made of them. The index lags a
        moment behind: what was stored just now may be missing.
        """
        last = None
        labelled = set[str]()
        listings = (of_tenant(tenant, each) for each in LISTINGS)
        for scope in (*listings, *(listed_pk(tenant, shard) for shard in range(LISTED_SHARDS))):
            for item in all_of(self._table, "what a tenant has", scope=scope):
                pk = str(item["pk"])
                # Items of one partition stand side by side, except a record's labels, which are given at different
                # times.
                if pk != last and pk not in labelled:
                    yield pk
                last = pk
                if scope.endswith("#LABELS"):
                    labelled.add(pk)
        yield from (item["sk"].removeprefix(EMPTIED) for item in self.items(of_tenant(tenant), begins=EMPTIED))
        yield from (of_tenant(tenant, *parts) for parts in OWN)

    def items(self, pk: str, *, begins: str = "", only: Sequence[str] = ()) -> Iterator[Item]:
        """The items of a partition whose sort keys begin with `begins`, strongly consistent.

        `only` names the attributes to read; empty: all of them.
        """
        asked = {"ProjectionExpression": ", ".join(only)} if only else {}
        return partition(self._table, "what a tenant has", pk, begins=begins, **asked)

    def may_fill(self, tenant: str, pk: str) -> None:
        """Note that a partition is about to be emptied into which more items may still come after its record is gone.

        Without the record nothing else would lead to the partition.
        """
        with store_faults("note what is removed"):
            self._table.put_item(Item={"pk": of_tenant(tenant), "sk": f"{EMPTIED}{pk}"})


def _word(pk: str) -> str:
    """The word of a partition's kind: the word behind the tenant, or the first word if the key has no tenant."""
    first, *rest = pk.split("#")
    if first != "T":
        return first
    return rest[1] if len(rest) > 1 else ""
